# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/fig4`: a short remote procedure call and the re-establishing of the caller's working set.

L95's figure 4. An application reads one word in each page of its working set, calls a server that reads two pages, and
reads its own pages again. What that takes more than the same loop without the call is the cost of the call: segmented,
with the server in a small space, and standard, with both in large spaces.
"""

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from cobnut import published, sheets, systems
from cobnut.boards import Board
from cobnut.checks import Check, above, between, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, Region, measure_all
from cobnut.missing import difference, known, ratio
from cobnut.modules import Module
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

STANDARD, SEGMENTED = "standard", "segmented"
PAIRS = {STANDARD: "large_large", SEGMENTED: "large_small"}
ALONE = "alone"
PARTNERS = ("pingpong", "adder", "console")  # the program's own server, or one of the system `partner`
SYSTEM, CALLER = "partner", "caller"


@dataclass(frozen=True)
class Layout:
    """Where the words lie that the application reads."""

    name: str
    title: str
    distance: int  # bytes from one to the next


@dataclass(frozen=True)
class Served(PingPong):
    """The same loop as a program of a system, which calls a server of that by a stub."""

    program: ClassVar[str] = CALLER

    partner: str = "adder"

    @property
    def arguments(self) -> str:
        first, last, step = self.sizes
        return (
            f"server={self.partner} first={first} last={last} step={step} rounds={self.rounds} warmup={self.warmup}"
            f" distance={self.distance} calls={int(self.calls)}"
        )

    def modules(self, board: Board) -> tuple[Module, ...]:
        small = self.pair == PAIRS[SEGMENTED]
        space = systems.Slot.model_validate({"mb": self.slot}) if small else "large"
        changes: dict[str, dict[str, Any]] = {CALLER: {"arguments": self.arguments}, self.partner: {"space": space}}
        system = systems.load(SYSTEM).changed(**changes)
        return Module(board.program("sigma0")), *system.modules(board, self.memory_mb)


LAYOUTS = (
    Layout("compact", "pages in a row", 4096 + 64),
    Layout("spread", "every other page", 8192 + 64),
    Layout("same_line", "pages in a row, the same word in each", 4096),
)


Curve = dict[int, float | None]  # by working-set size


@dataclass(frozen=True)
class Graph:
    """One layout: both kinds of call, and the loop without a call."""

    layout: Layout
    boots: dict[str, Measurement]

    @property
    def sizes(self) -> list[int]:
        return self.boots[ALONE].spec.cases

    def quiet(self, kind: str, counter: str) -> Curve:
        """The mean over the turns of the loop that no interrupt came into."""
        return {size: quiet_mean(self.boots[kind].at(size), counter) for size in self.sizes}

    def cost(self, kind: str) -> Curve:
        """What the call costs at each size: the loop with it, less the loop without it."""
        return _less(self.quiet(kind, "cycles"), self.quiet(ALONE, "cycles"))

    @property
    def gain(self) -> Curve:
        """By how much the segmented switch is cheaper."""
        return _less(self.cost(STANDARD), self.cost(SEGMENTED))

    def fits(self, kind: str) -> int | None:
        """The largest size at which most turns meet no miss of the data TLB; those after an interrupt may."""
        regions = self.boots[kind].regions
        return max((size for size, region in regions.items() if region.median("dtlb_misses") == 0), default=None)


def _less(curve: Curve, other: Curve) -> Curve:
    return {size: difference(value, other[size]) for size, value in curve.items()}


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
    measured = measure_all(lab, specs)
    graphs = [Graph(layout, {kind: measured[layout.name, kind] for kind in (*PAIRS, ALONE)}) for layout in LAYOUTS]
    clock = lab.machine["processor.clock_mhz"]
    checks = judge_all(*graphs) if lab.settings["partner"] == 0 else judge_gains(*graphs)
    return lab.result(
        [series for graph in graphs for series in series_of(graph, clock)],
        checks,
        [row for (layout, kind), boot in measured.items() for row in boot.rows(f"{layout}.{kind}")],
    )


def judge_gains(*graphs: Graph) -> Iterator[Check]:
    """With every server, and not with the paper's alone."""
    for graph in graphs:
        least = min(known(graph.gain.values()) or [], default=None)
        yield SHEET.judge(f"{graph.layout.name}.gain_least", least, above(0), title=graph.layout.title)


def judge_all(compact: Graph, spread: Graph, same: Graph) -> Iterator[Check]:
    """The paper's statements about the figure; its curves are not in the text."""
    yield from judge_gains(compact, spread, same)
    first, held = compact.sizes[0], compact.fits(SEGMENTED)

    def growth(curve: Curve) -> float | None:
        """While all fits the TLB."""
        return None if held is None or first == held else difference(curve.get(held), curve.get(first))

    steady = between(-published.L95_MISS, published.L95_MISS)
    yield SHEET.judge("compact.segmented_growth", growth(compact.cost(SEGMENTED)), steady, held=held, first=first)
    a_miss = reproduces(published.L95_MISS, within=published.L95_TABLE1["Pentium"].miss, by="L95 table 1: a TLB miss")
    yield SHEET.judge("compact.refill_a_page", ratio(growth(compact.cost(STANDARD)), (held or 0) - first), a_miss)
    yield SHEET.judge("compact.gain_growth", growth(compact.gain), above(0), held=held, first=first)
    half = reproduces(published.L95_SPREAD_SHARE)
    yield SHEET.judge("spread.capacity", ratio(spread.fits(ALONE), compact.fits(ALONE)), half)
    last = same.sizes[-1]
    dearer = ratio(same.quiet(ALONE, "cycles")[last], compact.quiet(ALONE, "cycles")[last])
    yield SHEET.judge("same_line.cost_alone", dearer, above(1), last=last)


def series_of(graph: Graph, clock_mhz: float) -> Iterator[Series]:
    """The figure's curves in cycles and in microseconds, the gain, and the TLB misses behind them."""

    def line(name: str, unit: str, values: Iterable[float | None]) -> Series:
        return Series(f"{graph.layout.name}.{name}", unit, graph.sizes, list(values))

    for kind in PAIRS:
        cost = graph.cost(kind).values()
        yield line(kind, "modelled cycles", cost)
        yield line(f"{kind}.us", "modelled us", (ratio(cycles, clock_mhz) for cycles in cost))
    yield line("gain", "modelled cycles", graph.gain.values())
    yield line(ALONE, "modelled cycles", graph.quiet(ALONE, "cycles").values())
    for kind in graph.boots:
        yield line(f"{kind}.dtlb_misses", "a turn of the loop", graph.quiet(kind, "dtlb_misses").values())


def _boots(lab: Lab, layout: Layout) -> dict[str, PingPong]:
    step = 2 * published.L95_PAGES_FIRST if lab.quick else published.L95_PAGES_FIRST
    sizes, partner = (step, published.L95_PAGES_LAST, step), PARTNERS[lab.settings["partner"]]
    if partner == PARTNERS[0]:
        served = lab.settings["served"]
        spec = PingPong.of(lab, PAIRS[STANDARD], gen="reads", sizes=sizes, served=served, distance=layout.distance)
    else:
        spec = Served.of(lab, PAIRS[STANDARD], gen="reads", sizes=sizes, partner=partner, distance=layout.distance)
    with_call = {kind: replace(spec, pair=pair) for kind, pair in PAIRS.items()}
    return {**with_call, ALONE: replace(spec, calls=False)}


EXPERIMENT = Experiment(
    name="liedtke95/fig4",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings={
        "rounds": Setting(400, 40, pingpong.ROUNDS, f"calls at each size (the paper's: {published.L95_REPETITIONS})"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "calls before the measured ones"),
        **pingpong.SPACES,
        "served": Setting(
            published.L95_SERVED, published.L95_SERVED, range(32), "data pages that the server reads in a call"
        ),
        "partner": Setting(0, 0, range(len(PARTNERS)), f"the server: {', '.join(PARTNERS)}", names=PARTNERS),
    },
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
