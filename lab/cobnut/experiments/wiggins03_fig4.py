# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig4`: what sharing TLB entries is worth at most.

W03's figure 4, its benchmark "extreme": 2, 4 or 16 processes of one program read a byte from each of the same number of
pages, and yield to the next. The pages are each one's own, or the same for all at the same address, where they have a
domain of their own.
"""

from dataclasses import dataclass

from cobnut import published
from cobnut.checks import Check, KnownMiss, Rule, judge, named, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import Counted, Crowd, measure
from cobnut.experiments.pingpong import Region, raise_if_all_failed
from cobnut.missing import known
from cobnut.plots import Ledger, Lines, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

READERS = (2, 4, 16)
PAGES, QUICK = (1, 40, 1), (1, 40, 3)
KINDS = {"private": False, "shared": True}
MISSES = ("itlb_misses", "dtlb_misses", "dcache_misses", "icache_misses")
SLOWER = 1.5  # times the cycles of a turn with the fewest pages: that is no longer flat
PAPERS_MACHINE = "sa1100-200"

OUT_OF_DOMAINS = (
    "Sixteen processes and the region that they share want 17 domains of 15, so in each round two or three processes"
    " find none, and the TLB is flushed for them: that is a fifth of a turn with some 20 shared pages. Another fifth"
    " are misses in that set of the data cache in which all pages begin, where the shared ones leave little room for"
    " control blocks and the kernel's own data. Most of both is the same with private pages. Where code and data happen"
    " to lie moves this by a few percent."
)
HOW_FULL = (
    "A TLB of 32 entries holds four of the kernel and of the yielding code here, and 28 pages of data; the paper's ten"
    " private pages of each of two processes and twenty shared ones both say that its Linux took twelve."
)
FLAT_PRIVATE = " With n processes that is 28/n private pages of each"
COLD_TURN = (
    "A private page costs a TLB miss of 45, a line of 70 and the read, and 28 of them come on top of a turn of some 600"
    " cycles: (600 + 28 x 120) / 600 is 6.6. The paper's 9 would take 170 for each page: its turns miss more than their"
    " pages, or it read more of each."
)
KNOWN_MISSES = {
    "private.flat_until.2": KnownMiss(
        13, 14, HOW_FULL + FLAT_PRIVATE + ". Where every third number of pages is tried, the last one before is 13."
    ),
    "private.flat_until.4": KnownMiss(7, 7, HOW_FULL + FLAT_PRIVATE + "."),
    "private.flat_until.16": KnownMiss(
        1,
        5,
        HOW_FULL + FLAT_PRIVATE + ", less than two: from the first page on each costs a miss, and it is only a"
        " matter of how many make a turn half as long again. The paper does not say of how many processes it speaks.",
    ),
    **{f"shared.flat_until.{n}": KnownMiss(24, 28, HOW_FULL) for n in READERS},
    "gain.2": KnownMiss(6, 7, COLD_TURN),
    "gain.16": KnownMiss(2.8, 3, OUT_OF_DOMAINS),
}


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
    title="What sharing TLB entries is worth at most",
    source="Wiggins, Tuch, Uhlig, Heiser 2003, figure 4",
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
    checks=(named(("private.flat_until", "shared.flat_until", "same_beyond", "gain"), "PROCESSES"),),
    story=(
        "Up to sixteen processes of one program, all at the same address below 32 MB, read the first byte of each of a"
        " number of pages and yield. Private pages are at addresses of their own in each process, as mmap() gives them"
        " in the paper's kernel; shared ones are the same frames at the same address for all, so that one TLB entry can"
        " serve all. The paper ran this on Linux, where sharing was added last; the kernel here is L4's, and the yield"
        " its ThreadSwitch."
    ),
    cannot_say=(
        "Cycles are modelled, those of the loop itself included.",
        (
            "The paper's Linux has a longer way through its scheduler, and library code that the processes do not"
            " share: both make its ratios smaller, the more the more processes there are."
        ),
        (
            "Of each page the first byte is read, and all of these lie in one of the data cache's eight sets, which has"
            " room for 32 lines: with private pages it runs out together with the TLB. Which bytes the paper read is"
            " not said."
        ),
        "The curves of the paper are known here by what its text says about them.",
    ),
    has_curves=True,
    known_misses=KNOWN_MISSES,
)
