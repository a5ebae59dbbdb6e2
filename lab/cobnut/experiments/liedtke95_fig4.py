# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/fig4`: a short remote procedure call and the re-establishing of the caller's working set.

L95's figure 4. An application reads one word in each page of its working set, calls a server that reads two pages, and
reads its own pages again. What that takes more than the same loop without the call is the cost of the call: segmented,
with the server in a small space, and standard, with both in large spaces.
"""

import statistics
from dataclasses import dataclass, replace

from cobnut import published
from cobnut.checks import Check, above, between, judge, named, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, Region, measure, raise_if_all_failed
from cobnut.missing import difference, known
from cobnut.plots import Causes, Ledger, Lines, Plot
from cobnut.results import LedgerRow, Result, Series

STANDARD, SEGMENTED = "standard", "segmented"
PAIRS = {STANDARD: "large_large", SEGMENTED: "large_small"}
LABELS = {STANDARD: "standard: both spaces large", SEGMENTED: "segmented: the server's space small"}
ALONE = "alone"


@dataclass(frozen=True)
class Layout:
    """Where the words lie that the application reads."""

    name: str
    title: str
    distance: int  # bytes from one to the next


LAYOUTS = (
    Layout("compact", "pages in a row", 4096 + 64),
    Layout("spread", "every other page", 8192 + 64),
    Layout("same_line", "pages in a row, the same word in each", 4096),
)


@dataclass(frozen=True)
class Graph:
    """One layout: both kinds of call, and the loop without a call."""

    layout: Layout
    boots: dict[str, Measurement]

    @property
    def sizes(self) -> list[int]:
        return self.boots[ALONE].spec.cases

    def cycles(self, kind: str) -> list[float | None]:
        """Cycles of one turn of the loop at each size."""
        return [quiet_mean(self.boots[kind].at(size), "cycles") for size in self.sizes]

    def cost(self, kind: str) -> list[float | None]:
        """What the call costs at each size: the loop with it, less the loop without it."""
        pairs = zip(self.cycles(kind), self.cycles(ALONE), strict=True)
        return [difference(*pair) for pair in pairs]

    @property
    def gain(self) -> list[float | None]:
        """By how much the segmented switch is cheaper."""
        pairs = zip(self.cost(STANDARD), self.cost(SEGMENTED), strict=True)
        return [difference(*pair) for pair in pairs]

    def misses(self, kind: str) -> list[float | None]:
        """Misses of the data TLB in one turn of the loop."""
        return [quiet_mean(self.boots[kind].at(size), "dtlb_misses") for size in self.sizes]

    def fits(self, kind: str) -> list[int]:
        """The sizes at which most turns of the loop meet no miss of the data TLB; those after an interrupt may."""
        return [size for size, region in self.boots[kind].regions.items() if region.median("dtlb_misses") == 0]


def quiet_mean(region: Region | None, counter: str) -> float | None:
    """The mean over the turns of the loop that no interrupt came into."""
    values = region.counters.get(counter) if region else None
    interrupts = region.counters.get("entries_irq") if region else None
    if not values or not interrupts:
        return None
    quiet = [value for value, count in zip(values, interrupts, strict=True) if not count]
    return statistics.fmean(quiet) if quiet else None


def run(lab: Lab) -> Result:
    """Measures both kinds of call and the loop without one, for each layout of the working set."""
    specs = {(layout.name, kind): spec for layout in LAYOUTS for kind, spec in _boots(lab, layout).items()}
    measured = dict(zip(specs, measure(lab, list(specs.values())), strict=True))
    raise_if_all_failed(list(measured.values()))
    kinds = (STANDARD, SEGMENTED, ALONE)
    graphs = {layout.name: Graph(layout, {kind: measured[layout.name, kind] for kind in kinds}) for layout in LAYOUTS}
    clock = lab.machine["processor.clock_mhz"]
    return lab.result(
        [series for graph in graphs.values() for series in series_of(graph, clock)],
        judge_all(graphs),
        [row for graph in graphs.values() for row in ledger_of(graph)],
    )


def judge_all(graphs: dict[str, Graph]) -> list[Check]:
    """The paper's statements about the figure; its curves are not in the text."""
    compact, spread, same = (graphs[layout.name] for layout in LAYOUTS)
    gain = dict(zip(compact.sizes, compact.gain, strict=True))
    standard = dict(zip(compact.sizes, compact.cost(STANDARD), strict=True))
    segmented = dict(zip(compact.sizes, compact.cost(SEGMENTED), strict=True))
    first, held = compact.sizes[0], max(compact.fits(SEGMENTED), default=None)
    checks = [
        judge(
            f"{graph.layout.name}.gain_least",
            min(known(graph.gain) or [], default=None),
            "modelled cycles",
            above(0),
            "L95 section 1: a switch to a small space is always fast, so the segmented call is cheaper at every size;"
            f" {graph.layout.title}.",
        )
        for graph in graphs.values()
    ]
    growth = _growth(segmented, first, held)
    return [
        *checks,
        judge(
            "compact.segmented_growth",
            growth,
            "modelled cycles",
            between(-published.L95_MISS, published.L95_MISS),
            f"L95: nothing is flushed, so while all fits the TLB (up to {held} pages) the call costs what it costs with"
            f" {first} pages, give or take less than one TLB miss.",
        ),
        judge(
            "compact.refill_a_page",
            _slope(standard, first, held),
            "modelled cycles",
            reproduces(published.L95_MISS, within=published.L95_TABLE1["Pentium"].miss, by="L95 table 1: a TLB miss"),
            "So the standard call gets dearer by that with each page.",
        ),
        judge(
            "compact.gain_growth",
            _growth(gain, first, held),
            "modelled cycles",
            above(0),
            f"L95: the larger the working set, the more there is to re-establish; from {first} to {held} pages.",
        ),
        judge(
            "spread.capacity",
            _share(max(spread.fits(ALONE), default=None), max(compact.fits(ALONE), default=None)),
            "of the compact working set",
            reproduces(published.L95_SPREAD_SHARE),
            "L95 section 1, note 1: where the pages are not compact, about half of the TLB's entries are used at once.",
        ),
        judge(
            "same_line.cost_alone",
            _share(same.cycles(ALONE)[-1], compact.cycles(ALONE)[-1]),
            "times the compact working set",
            above(1),
            f"L95 section 1, note 1: {same.sizes[-1]} data pages will most likely thrash the two-way cache; here,"
            " because all words share a cache set. The loop without calls, against words on different lines.",
        ),
    ]


def _growth(values: dict[int, float | None], first: int, last: int | None) -> float | None:
    return None if last is None or first == last else difference(values.get(last), values.get(first))


def _slope(values: dict[int, float | None], first: int, last: int | None) -> float | None:
    growth = _growth(values, first, last)
    return None if growth is None or last is None else growth / (last - first)


def _share(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def series_of(graph: Graph, clock_mhz: float) -> list[Series]:
    """The figure's curves in cycles and in microseconds, the gain, and the TLB misses behind them."""
    name, sizes = graph.layout.name, graph.sizes
    found = []
    for kind in (STANDARD, SEGMENTED):
        cost = graph.cost(kind)
        found.append(Series(f"{name}.{kind}", "modelled cycles", sizes, cost))
        found.append(
            Series(f"{name}.{kind}.us", "modelled us", sizes, [None if c is None else c / clock_mhz for c in cost])
        )
    found.append(Series(f"{name}.gain", "modelled cycles", sizes, graph.gain))
    found.append(Series(f"{name}.{ALONE}", "modelled cycles", sizes, graph.cycles(ALONE)))
    return found + [
        Series(f"{name}.{kind}.dtlb_misses", "a turn of the loop", sizes, graph.misses(kind)) for kind in graph.boots
    ]


def ledger_of(graph: Graph) -> list[LedgerRow]:
    return [
        region.row(f"{graph.layout.name}.{kind}", size)
        for kind, boot in graph.boots.items()
        for size, region in boot.regions.items()
    ]


def plots(result: Result) -> list[Plot]:
    pages = "application's working set, data pages"
    found = [
        Lines(
            "Call and re-established working set",
            pages,
            "modelled microseconds",
            {f"compact.{kind}.us": label for kind, label in LABELS.items()},
            caption=(
                "L95's figure 4. The paper prints its curves only as a picture: there is no published number to draw."
            ),
        )
    ]
    for layout in LAYOUTS:
        found.append(
            Lines(
                f"In cycles: {layout.title}",
                pages,
                "modelled cycles",
                {f"{layout.name}.{kind}": label for kind, label in LABELS.items()},
                caption=CAPTIONS[layout.name],
            )
        )
    return [
        *found,
        Ledger(
            "Where the cycles go: pages in a row",
            pages,
            "modelled cycles",
            {f"compact.{STANDARD}": "L", f"compact.{SEGMENTED}": "S", f"compact.{ALONE}": "–"},
            wide=True,
            caption=(
                "For each working set: the loop with the standard call (L), with the segmented call (S), and without a"
                " call (–)."
            ),
        ),
        Causes(
            "What made refills necessary: pages in a row",
            pages,
            "modelled cycles",
            {f"compact.{STANDARD}": "L", f"compact.{SEGMENTED}": "S"},
            wide=True,
            caption=(
                "Refills of TLBs and caches by what took the entry. The standard call (L) flushes twice, the segmented"
                " one (S) never."
            ),
        ),
    ]


CAPTIONS = {
    "compact": (
        "Pages in a row use all sets of the TLB alike. Where working set, server and kernel no longer fit, the "
        "segmented call too meets misses."
    ),
    "spread": (
        "Every other page uses half of the sets. Past half of the TLB's size the application misses also without a"
        " call, and what the call adds gets smaller."
    ),
    "same_line": "All words compete for one set of the two-way cache: each read misses it.",
}


def _boots(lab: Lab, layout: Layout) -> dict[str, PingPong]:
    chosen = lab.settings
    step = 2 * published.L95_PAGES_FIRST if lab.quick else published.L95_PAGES_FIRST
    spec = PingPong(
        PAIRS[STANDARD],
        chosen["rounds"],
        chosen["warmup"],
        chosen["slot"],
        chosen["small"],
        gen="reads",
        sizes=(step, published.L95_PAGES_LAST, step),
        served=chosen["served"],
        distance=layout.distance,
    )
    with_call = {kind: replace(spec, pair=pair) for kind, pair in PAIRS.items()}
    return {**with_call, ALONE: replace(spec, calls=False)}


EXPERIMENT = Experiment(
    name="liedtke95/fig4",
    title="A short call and the caller's working set, segmented against standard",
    source="Liedtke 1995, figure 4",
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings={
        "rounds": Setting(400, 40, pingpong.ROUNDS, f"calls at each size (the paper's: {published.L95_REPETITIONS})"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "calls before the measured ones"),
        "slot": Setting(16, 16, pingpong.SLOTS_MB, "size of a small space, MB"),
        "small": Setting(512, 512, pingpong.AREAS_MB, "size of the small-space area, MB"),
        "served": Setting(
            published.L95_SERVED, published.L95_SERVED, range(32), "data pages that the server reads in a call"
        ),
    },
    run=run,
    plots=plots,
    checks=(
        named([layout.name for layout in LAYOUTS], "gain_least"),
        named("compact", ("segmented_growth", "refill_a_page", "gain_growth")),
        "spread.capacity",
        "same_line.cost_alone",
    ),
    has_curves=True,
    story=(
        "An application goes over its data pages again and again; in between it calls a server that touches two pages."
        " Between large spaces each switch empties the TLBs, and the application pays for the call and once more for"
        " every page that it comes back to. With the server in a small space nothing is flushed, and the call costs"
        " what it costs, however large the working set, until application, server and kernel no longer fit the TLB"
        " together. Both curves are what the loop takes more than the same loop without the call."
    ),
    cannot_say=(
        (
            "Cycles are modelled, not measured on a processor: the emulator runs the real kernel and programs, and a"
            " model of the machine charges each event what the machine file says."
        ),
        (
            "The paper prints the curves only as a picture, and its text gives no number of them. The checks are about"
            " the shape that its text states; how long the paper's call takes is not known here."
        ),
        (
            f"The paper repeats each point {published.L95_REPETITIONS:,} times. The model is deterministic, and a turn"
            " of the loop is like the next one but for the timer's interrupts, which are left out: few repetitions"
            " give the same mean."
        ),
        (
            "Where the application's pages lie decides how many TLB entries and cache lines they can use at once (the"
            " paper's note 1 on four-way conflicts and cache thrashing); the paper does not say where they lay. Three"
            " layouts stand for the range."
        ),
        "What writes would add, and a second level cache other than the machine file's, are not shown.",
    ),
)
