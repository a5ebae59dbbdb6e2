# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig4`: the cost of an IPC round trip over the caller's working set, small spaces against large ones.

U02's figure 4. The active side of a ping-pong fills its working set, calls, and touches the working set again; what a
switch of page tables flushed is paid for there. Part a fills the trace cache, b the instruction TLB, c the data TLB.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cobnut import published, sheets, tables
from cobnut.checks import Check, drawn, no_less_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, cost, pingpong, sensitivity
from cobnut.experiments.pingpong import Measurement, PingPong, WorkingSets, measure_all
from cobnut.experiments.sensitivity import Ratios
from cobnut.missing import ratio
from cobnut.plots import Lines, Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

LARGE, SMALL = "large_large", "small_small"
MISSES = ("itlb_misses", "dtlb_misses", "trace_misses")
ITLB_ENTRIES = "itlb.entries"
POINTS = {
    "a.full": "8 K bytes of nops",
    "a.exhausted": "15,000 bytes of nops",
    "b.full": "as many pages as the ITLB holds",
    "c.most": "where small spaces gain most",
}


@dataclass(frozen=True)
class Part(WorkingSets):
    """One of the figure's three graphs, and which open numbers of the machine it is about."""

    sections: tuple[str, ...]  # of the machine file
    top: int  # where the figure's axis of cycles ends
    tick: int  # the distance of its numbers
    also: int = 0  # a size that the text names and that is no multiple


PARTS = (
    Part(
        "a",
        "nops",
        "Trace cache",
        "working set: bytes of nops",
        (0, 15_000, 500),
        (0, 15_000, 1_000),
        ("trace_cache", "segments"),
        top=20_000,
        tick=2_500,
        also=published.U02_NOPS_AT_CAPACITY,
    ),
    Part(
        "b",
        "jumps",
        "Instruction TLB",
        f"working set: pages, a jump of {published.U02_JUMP_DISTANCE} bytes each",
        (0, 200, 4),
        (0, 200, 8),
        ("itlb", "segments"),
        top=12_000,
        tick=2_000,
    ),
    Part(
        "c",
        "reads",
        "Data TLB",
        f"working set: pages, a read every {published.U02_READ_DISTANCE} bytes",
        (0, 120, 4),
        (0, 120, 8),
        ("dtlb", "segments"),
        top=8_000,
        tick=1_000,
    ),
)


@dataclass(frozen=True)
class Graph:
    """The measured graph of one part, large spaces against small ones."""

    part: Part
    large: Measurement
    small: Measurement

    @property
    def sizes(self) -> list[int]:
        return self.large.spec.cases

    @property
    def ratios(self) -> Ratios:
        return ratios(self.large, self.small)

    @property
    def pairs(self) -> dict[str, Measurement]:
        return {f"{self.part.letter}.{LARGE}": self.large, f"{self.part.letter}.{SMALL}": self.small}

    def series(self) -> Iterator[Series]:
        """The curves, their ratio, and the misses behind them."""
        sizes, found = self.sizes, self.ratios
        for name, boot in self.pairs.items():
            yield Series(name, "modelled cycles", sizes, [boot.cycles(size) for size in sizes])
        yield Series(f"{self.part.letter}.ratio", "ratio", sizes, [found.get(size) for size in sizes])
        for name, boot in self.pairs.items():
            for misses in MISSES:
                values = [boot.mean(size, misses) for size in sizes]
                yield Series(f"{name}.{misses}", "per round trip", sizes, values)

    def points(self, itlb_entries: float) -> dict[str, int]:
        """The points whose hinges are shown, and their sizes: those that the checks are about."""
        found, last = self.ratios, self.sizes[-1]
        return {
            "a": {"a.full": published.U02_NOPS_AT_CAPACITY, "a.exhausted": last},
            "b": {"b.full": self.full(itlb_entries)},
            "c": {"c.most": max(found, key=lambda size: found[size], default=last)},
        }[self.part.letter]

    def full(self, itlb_entries: float) -> int:
        """Where the ITLB is exhausted: as many pages as it has entries, or the last measured number below that."""
        return max((size for size in self.sizes if size <= itlb_entries), default=self.sizes[0])


def ratios(large: Measurement, small: Measurement) -> Ratios:
    """How many times slower large spaces are, at each size that both have."""
    both = {size: ratio(large.cycles(size), small.cycles(size)) for size in large.spec.cases}
    return {size: times for size, times in both.items() if times is not None}


def run(lab: Lab) -> Result:
    """Measures all three graphs, judges them, and measures again what hinges on open parameters."""
    curves = {
        part.letter: sensitivity.Curve(_spec(lab, part, LARGE), _spec(lab, part, SMALL), part.sections)
        for part in PARTS
    }
    specs = {(letter, spec.pair): spec for letter, curve in curves.items() for spec in (curve.large, curve.small)}
    lab.meter.total(len(specs) + sensitivity.boots(lab, curves.values()))
    measured = measure_all(lab, specs)
    graphs = [Graph(part, measured[part.letter, LARGE], measured[part.letter, SMALL]) for part in PARTS]
    hinges = sensitivity.measure_ratios(lab, curves, ratios)
    series: list[Series] = []
    for graph in graphs:
        moved = hinges[graph.part.letter]
        series += [*graph.series(), *sensitivity.band(graph.part.letter, graph.ratios, moved)]
        for point, size in graph.points(lab.machine[ITLB_ENTRIES]).items():
            series += sensitivity.series_at(point, size, graph.ratios.get(size), moved)
    checks = judge_all(itlb_readings(lab, graphs[1], hinges["b"]), *graphs)
    return lab.result(
        series, checks, [row for graph in graphs for name, boot in graph.pairs.items() for row in boot.rows(name)]
    )


def _spec(lab: Lab, part: Part, pair: str) -> PingPong:
    sizes = part.quick if lab.quick else part.sizes
    return PingPong.of(lab, pair, words=lab.settings["words"], gen=part.gen, sizes=sizes, also=part.also)


def itlb_readings(lab: Lab, graph: Graph, hinges: Mapping[str, Mapping[str, Ratios]]) -> dict[int, Ratios]:
    """The ratios by how many entries the ITLB may have: as the machine file says, and at each end of its range."""
    found = {int(lab.machine[ITLB_ENTRIES]): graph.ratios}
    for end, by_name in hinges.items():
        if ITLB_ENTRIES in by_name:
            found.setdefault(int(lab.machine.parameters[ITLB_ENTRIES].text(end)), by_name[ITLB_ENTRIES])
    return found


def judge_all(readings: Mapping[int, Ratios], a: Graph, b: Graph, c: Graph) -> Iterator[Check]:
    """Each reading of the ITLB's size is held to the paper at its own capacity."""
    full, last = published.U02_NOPS_AT_CAPACITY, a.sizes[-1]
    yield SHEET.judge(f"a.ratio_at_{full}", a.ratios.get(full), reproduces(published.U02_NOPS_RATIO_AT_CAPACITY))
    yield SHEET.judge(f"a.ratio_at_{last}", a.ratios.get(last), reproduces(published.U02_NOPS_RATIO_EXHAUSTED))
    for entries, found in sorted(readings.items()):
        rule, size = reproduces(published.U02_JUMPS_RATIO_AT_CAPACITY), b.full(entries)
        yield SHEET.judge(f"b.ratio_at_itlb_capacity.{entries}", found.get(size), rule, pages=size)
    last = b.sizes[-1]
    yield SHEET.judge(f"b.ratio_at_{last}", b.ratios.get(last), no_less_than(1))
    most = max(c.ratios.values(), default=None)
    least = min((c.ratios[size] for size in c.sizes), default=None) if len(c.ratios) == len(c.sizes) else None
    yield SHEET.judge("c.ratio_most", most, reproduces(published.U02_READS_RATIO_MOST))
    yield SHEET.judge("c.ratio_least", least, no_less_than(1))
    for graph in (a, b, c):
        # the large side at the right edge, where it is highest: the axis ends at the first tick above it
        part, last = graph.part, graph.sizes[-1]
        rule = drawn(part.top - part.tick, part.top, by="the last step of the figure's axis")
        cycles = graph.large.cycles(last)
        yield SHEET.judge(f"{part.letter}.large_at_{last}", cycles, rule, top=part.top, tick=part.tick)


def plots(result: Result) -> list[Plot]:
    """Of each part its curves and ledgers, the ratio with what it hinges on, if that was measured."""
    found: list[Plot] = []
    for part in PARTS:
        names = ("cycles", f"ratio {part.letter}", "ledger", "causes")
        for plot in SHEET.drawn(*names, letter=part.letter, title=part.title, x_title=part.x_title):
            bare = isinstance(plot, Lines) and plot.band and not result.find(plot.band[1])
            found.append(replace(plot, caption="") if bare else plot)
    hinges = [(point, f"({point[0]}) {text}: what the ratio hinges on") for point, text in POINTS.items()]
    return found + sensitivity.plots(result, hinges)


EXPERIMENT = Experiment(
    name="uhlig02/fig4",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    needs=(ITLB_ENTRIES,),
    settings={
        "rounds": Setting(100, 50, pingpong.ROUNDS, "round trips measured at each size"),
        "warmup": Setting(10, 4, pingpong.WARMUP, "round trips before the measured ones"),
        "slot": Setting(256, 256, pingpong.SLOTS_MB, "size of a small space, MB"),
        "small": pingpong.SPACES["small"],
        "words": Setting(0, 0, pingpong.WORDS, "untyped words in a message"),
        "hinges": Setting(
            2,
            1,
            range(sensitivity.ALL + 1),
            "measure again with open numbers at their ends: 0 none, 1 what a part is about, 2 all",
            swept=0,
        ),
    },
    run=run,
    plots=plots,
    has_curves=True,
    show=tables.show_causes,
    afterwards=cost.of_modelling,
)
