# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig4`: what sharing TLB entries is worth at most.

W03's figure 4, its benchmark "extreme": 2, 4 or 16 processes of one program read a byte from each of the same number of
pages, and yield to the next. The pages are each one's own, or the same for all at the same address, where they have a
domain of their own.
"""

from dataclasses import dataclass

from cobnut import published, sheets
from cobnut.checks import Check, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import Counted, Crowd, measure_all
from cobnut.missing import known, ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

READERS = (2, 4, 16)
PAGES, QUICK = (1, 40, 1), (1, 40, 3)
KINDS = {"private": False, "shared": True}
MISSES = ("itlb_misses", "dtlb_misses", "dcache_misses", "icache_misses")
SLOWER = 1.5  # times the cycles of a turn with the fewest pages: that is no longer flat
BEYOND = 40  # pages, more than the TLB has entries
PAPERS_MACHINE = "sa1100-200"


@dataclass(frozen=True)
class Graph:
    """The two curves of one number of processes."""

    readers: int
    counted: dict[str, Counted]

    @property
    def sizes(self) -> list[int]:
        return self.counted["private"].spec.cases

    def cycles(self, kind: str, pages: int) -> float | None:
        """Of a turn of one process: an iteration is a turn of each."""
        return ratio(self.counted[kind].cycles(pages), self.readers)

    def misses(self, kind: str, pages: int, counter: str) -> float | None:
        whole = self.counted[kind].mean(pages, counter)
        return None if whole is None else whole / self.readers

    def gain(self, pages: int) -> float | None:
        """How many times as long a turn takes with private pages."""
        return ratio(self.cycles("private", pages), self.cycles("shared", pages))

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
    counted = measure_all(lab, specs)
    graphs = [Graph(readers, {kind: counted[readers, kind] for kind in KINDS}) for readers in READERS]
    return lab.result(
        [series for graph in graphs for series in series_of(graph)],
        [check for graph in graphs for check in judge_graph(graph)],
        [row for (readers, kind), one in counted.items() for row in one.rows(f"{readers}.{kind}")],
    )


def judge_graph(graph: Graph) -> list[Check]:
    """What W03 section 4.2 says about the figure."""
    n = graph.readers
    found: dict[str, tuple[float | None, float]] = {
        "private.flat_until": (graph.flat_until("private"), published.W03_PRIVATE_PAGES),
        "shared.flat_until": (graph.flat_until("shared"), published.W03_SHARED_PAGES),
        "same_beyond": (graph.gain(BEYOND), 1),
    }
    if n in published.W03_EXTREME_GAIN:
        found["gain"] = (graph.best, published.W03_EXTREME_GAIN[n])
    return [
        SHEET.judge(f"{name}.{n}", measured, reproduces(theirs), graph.failure, entries=published.W03_TLB_ENTRIES)
        for name, (measured, theirs) in found.items()
    ]


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
    plots=SHEET.all_plots,
    has_curves=True,
)
