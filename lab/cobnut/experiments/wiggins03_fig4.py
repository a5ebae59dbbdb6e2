# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig4`: what sharing TLB entries is worth at most.

W03's figure 4, its benchmark "extreme": 2, 4 or 16 processes of one program read a byte from each of the same number of
pages, and yield to the next. The pages are each one's own, or the same for all at the same address, where they have a
domain of their own.
"""

from dataclasses import dataclass

from cobnut import published, sheets
from cobnut.checks import Check, Rule, judge, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import Counted, Crowd, measure
from cobnut.experiments.pingpong import Region, raise_if_all_failed
from cobnut.missing import known
from cobnut.plots import Ledger, Lines, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

READERS = (2, 4, 16)
PAGES, QUICK = (1, 40, 1), (1, 40, 3)
KINDS = {"private": False, "shared": True}
MISSES = ("itlb_misses", "dtlb_misses", "dcache_misses", "icache_misses")
SLOWER = 1.5  # times the cycles of a turn with the fewest pages: that is no longer flat
PAPERS_MACHINE = "sa1100-200"


@dataclass(frozen=True)
class Graph:
    """The two curves of one number of processes."""

    readers: int
    counted: dict[str, Counted]

    @property
    def sizes(self) -> list[int]:
        return self.counted["private"].spec.cases

    def region(self, kind: str, pages: int) -> Region | None:
        return self.counted[kind].at(pages)

    def cycles(self, kind: str, pages: int) -> float | None:
        """Of a turn of one process: an iteration is a turn of each."""
        cycles = crowd.cycles(self.region(kind, pages))
        return None if cycles is None else cycles / self.readers

    def misses(self, kind: str, pages: int, counter: str) -> float | None:
        return crowd.each(self.region(kind, pages), (counter,), self.readers)

    def gain(self, pages: int) -> float | None:
        """How many times as long a turn takes with private pages."""
        private, shared = self.cycles("private", pages), self.cycles("shared", pages)
        return private / shared if private and shared else None

    @property
    def best(self) -> float | None:
        return max((gain for gain in map(self.gain, self.sizes) if gain is not None), default=None)

    def flat_until(self, kind: str) -> float | None:
        """The last number of pages up to which a turn does not slow down markedly."""
        cycles = known(self.cycles(kind, pages) for pages in self.sizes)
        if cycles is None:
            return None
        slow = [now > SLOWER * cycles[0] for now in cycles]
        return float(self.sizes[slow.index(True) - 1 if True in slow else -1])

    @property
    def failure(self) -> str:
        return "; ".join(sorted({one.failure for one in self.counted.values() if one.failure}))


def run(lab: Lab) -> Result:
    """Both kinds of pages for each number of processes."""
    chosen, pages = lab.settings, QUICK if lab.quick else PAGES
    specs = {
        (readers, kind): Crowd(
            "reads", "alike", readers, chosen["rounds"], chosen["warmup"], shared=shared, pages=pages
        )
        for readers in READERS
        for kind, shared in KINDS.items()
    }
    counted = dict(zip(specs, measure(lab, list(specs.values())), strict=True))
    raise_if_all_failed(list(counted.values()))
    graphs = [Graph(readers, {kind: counted[readers, kind] for kind in KINDS}) for readers in READERS]
    return lab.result(
        [series for graph in graphs for series in series_of(graph)],
        [check for graph in graphs for check in judge_graph(graph)],
        [row for graph in graphs for row in ledger_of(graph)],
    )


def judge_graph(graph: Graph) -> list[Check]:
    """What W03 section 4.2 says about the figure."""
    n, entries = graph.readers, published.W03_TLB_ENTRIES

    def line(name: str, measured: float | None, unit: str, rule: Rule, why: str) -> Check:
        return judge(f"{name}.{n}", measured, unit, rule, f"{why} {graph.failure}".rstrip())

    checks = [
        line(
            "private.flat_until",
            graph.flat_until("private"),
            "pages",
            reproduces(published.W03_PRIVATE_PAGES),
            f"{n} processes, private pages; W03: execution slows markedly as soon as more than about ten pages are"
            " touched.",
        ),
        line(
            "shared.flat_until",
            graph.flat_until("shared"),
            "pages",
            reproduces(published.W03_SHARED_PAGES),
            f"{n} processes, shared pages; W03: essentially constant until about 20 pages are touched.",
        ),
        line(
            "same_beyond",
            graph.gain(40),
            "times",
            reproduces(1),
            f"{n} processes, 40 pages, private over shared; W03: the same once the number of pages reaches {entries},"
            " the TLB's capacity.",
        ),
    ]
    if n in published.W03_EXTREME_GAIN:
        checks.append(
            line(
                "gain",
                graph.best,
                "times",
                reproduces(published.W03_EXTREME_GAIN[n]),
                f"{n} processes: how many times as long a turn takes with private pages, at the number of pages where"
                " that is most.",
            )
        )
    return checks


def series_of(graph: Graph) -> list[Series]:
    """Both kinds of pages over their number, and what is behind them; all for one turn of one process."""
    n, sizes = graph.readers, graph.sizes
    lines = [
        Series(f"{n}.{kind}", "modelled cycles", sizes, [graph.cycles(kind, pages) for pages in sizes])
        for kind in KINDS
    ]
    lines.append(Series(f"{n}.gain", "times", sizes, [graph.gain(pages) for pages in sizes]))
    return lines + [
        Series(f"{n}.{kind}.{counter}", "a turn", sizes, [graph.misses(kind, pages, counter) for pages in sizes])
        for kind in KINDS
        for counter in MISSES
    ]


def ledger_of(graph: Graph) -> list[LedgerRow]:
    """Where the modelled cycles go; a round is a turn of each process."""
    return [
        region.row(f"{graph.readers}.{kind}", pages)
        for kind, counted in graph.counted.items()
        for pages, region in counted.regions.items()
    ]


def plots(result: Result) -> list[Plot]:
    curves = {f"{n}.{kind}": f"{n} processes, {kind}" for n in READERS for kind in KINDS}
    return [
        Lines(
            "A turn: a byte from each page, and a yield",
            "pages",
            "modelled cycles",
            curves,
            marks=(Mark(f"the data TLB's {published.W03_TLB_ENTRIES} entries", x=published.W03_TLB_ENTRIES),),
            wide=True,
        ),
        Lines(
            "Private over shared pages",
            "pages",
            "times",
            {f"{n}.gain": f"{n} processes" for n in READERS},
            marks=tuple(
                Mark(f"W03: up to {gain:g}, {n} processes", y=gain) for n, gain in published.W03_EXTREME_GAIN.items()
            ),
        ),
        Lines(
            "Data TLB misses of a turn",
            "pages",
            "misses",
            {f"{name}.dtlb_misses": title for name, title in curves.items()},
        ),
        Ledger(
            "Where the modelled cycles go, 2 processes",
            "pages",
            "modelled cycles",
            {"2.private": "P", "2.shared": "S"},
            caption="P: private pages, S: shared ones; a turn of each process.",
            wide=True,
        ),
    ]


EXPERIMENT = Experiment(
    name="wiggins03/fig4",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine=PAPERS_MACHINE,
    boards=("collie",),
    settings={
        "rounds": Setting(50, 20, crowd.ROUNDS, "turns of each process measured, for each number of pages"),
        "warmup": Setting(10, 5, crowd.ROUNDS, "turns before the measured ones"),
    },
    long_proof=True,
    run=run,
    plots=plots,
    has_curves=True,
)
