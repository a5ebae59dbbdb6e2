# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/scale`: what a call costs among many threads and spaces, and what these take of the kernel's memory.

The program `scale` makes them, four threads to a space, in a machine of 64 MB. One of them calls another in a loop,
then others at random, while all the rest wait in a receive phase. Instructions and pages are counted; only the cycles
are modelled.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from cobnut.checks import Check, at_most, between, exactly, judge, named
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, measure, raise_if_all_failed
from cobnut.missing import total
from cobnut.plots import Lines, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

PAIRS = ("large_large", "small_small")
THREADS = (2, 16, 64, 256, 1000, 2000, 4000)
QUICK = (2, 256, 4000)
FIXED, RANDOM, MIXED = range(3)  # cases: calls of one partner, of random ones of the same kind, of random ones of any
CASES = {"pingpong": FIXED, "random": RANDOM, "mixed": MIXED}
JUDGED = ("pingpong", "random")
SHARES = ("kernel", "stub", "trampoline")

MEMORY_MB = 64
KERNEL_KB = 24 << 10  # what the kernel gets of it
PAGE = 4096
THREAD_LIMIT, SPACE_LIMIT = 2048, 8192  # bytes
TOLERANCE = 0.05

PAGES = re.compile(r"^scale: pages spaces (\d+) tables (\d+) utcbs (\d+) threads (\d+)$", re.MULTILINE)
MAPPINGS = re.compile(r"^scale: pages mappings (\d+)$", re.MULTILINE)
ALIVE = re.compile(r"^scale: (\d+) spaces, (\d+) threads, (\d+) answers$", re.MULTILINE)


def cases_of(pair: str) -> dict[str, int]:
    """Where all spaces are large, there is nothing to mix."""
    return {name: case for name, case in CASES.items() if pair == "small_small" or case != MIXED}


@dataclass(frozen=True)
class Scale(PingPong):
    """One boot of the program `scale`, with the cases of its pair."""

    program: ClassVar[str] = "scale"

    threads: int = 2

    @property
    def arguments(self) -> str:
        return f"pair={self.pair} threads={self.threads} rounds={self.rounds} warmup={self.warmup} slot={self.slot}"

    @property
    def options(self) -> str:
        return f"small={self.small} kmem={KERNEL_KB}"

    @property
    def cases(self) -> list[int]:
        return list(cases_of(self.pair).values())


@dataclass(frozen=True)
class Population:
    """What the guest printed of itself: how many there are, who answered, and what they take of the kernel's pages.

    `utcb_pages` and `thread_pages` (control blocks and the thread table) are the threads'; each space has
    `table_pages`, for interface page, UTCBs and image, beside its `space_pages`. `mapping_pages` hold who mapped what
    to whom.
    """

    spaces: int
    threads: int
    answers: int
    space_pages: int
    table_pages: int
    utcb_pages: int
    thread_pages: int
    mapping_pages: int

    @property
    def space_bytes(self) -> float:
        return self.space_pages * PAGE / self.spaces

    @property
    def table_bytes(self) -> float:
        """Of page tables, for each space."""
        return self.table_pages * PAGE / self.spaces

    @property
    def thread_bytes(self) -> float:
        return (self.utcb_pages + self.thread_pages) * PAGE / self.threads

    @property
    def kernel_mb(self) -> float:
        """Kernel memory that all of it takes."""
        pages = (self.space_pages, self.table_pages, self.utcb_pages, self.thread_pages, self.mapping_pages)
        return sum(pages) * PAGE / (1 << 20)


def population(measurement: Measurement) -> Population | None:
    """What the guest of `measurement` printed, or None without the whole of it."""
    found = [pattern.search(measurement.console) for pattern in (ALIVE, PAGES, MAPPINGS)]
    if measurement.failure or None in found:
        return None
    return Population(*(int(number) for match in found if match for number in match.groups()))


def instructions(measurement: Measurement | None, case: int) -> float | None:
    """Of the kernel, stub and trampoline together, in the mean round trip."""
    region = measurement.at(case) if measurement else None
    shares = [region.mean(f"instructions_{share}") for share in SHARES] if region else [None]
    return total(shares)


def cycles(measurement: Measurement | None, case: int) -> float | None:
    region = measurement.at(case) if measurement else None
    return region.mean_cycles if region else None


def run(lab: Lab) -> Result:
    """Boots the program for each pair and each number of threads."""
    chosen, sizes = lab.settings, QUICK if lab.quick else THREADS
    specs = [
        Scale(pair, chosen["rounds"], chosen["warmup"], chosen["slot"], chosen["small"], threads=n)
        for pair in PAIRS
        for n in sizes
    ]
    measurements = measure(lab, specs)
    raise_if_all_failed(measurements)
    by_pair = {pair: [one for one in measurements if one.spec.pair == pair] for pair in PAIRS}
    checks = [
        check for pair, found in by_pair.items() for check in (*judge_calls(pair, found), *judge_memory(pair, found))
    ]
    series = [line for pair, found in by_pair.items() for line in series_of(pair, found)]
    return lab.result(series, checks, ledger_of(measurements))


def threads(measurement: Measurement) -> int:
    assert isinstance(measurement.spec, Scale)
    return measurement.spec.threads


def judge_calls(pair: str, found: list[Measurement]) -> list[Check]:
    """A round trip among many against one among the fewest."""
    checks = []
    for name in JUDGED:
        case = CASES[name]
        counts = [instructions(one, case) for one in found]
        base = counts[0]
        for one, count in list(zip(found, counts, strict=True))[1:]:
            checks.append(
                judge(
                    f"{pair}.{name}.{threads(one)}",
                    count / base if count is not None and base else None,
                    f"times {threads(found[0])} threads",
                    between(1 - TOLERANCE, 1 + TOLERANCE),
                    _why(one, f"Instructions of a round trip in kernel, stub and trampoline, {_partners(case)}."),
                )
            )
    return checks


def _partners(case: int) -> str:
    return (
        "always to the same partner"
        if case == FIXED
        else "to partners at random in other spaces of the same kind, on average"
    )


def judge_memory(pair: str, found: list[Measurement]) -> list[Check]:
    """With the most threads: all are alive, and what they take."""
    most = found[-1]
    here = population(most)
    spaces = f" in {here.spaces} spaces" if here else ""
    return [
        judge(
            f"{pair}.answers",
            here.answers + 1 if here else None,
            "threads",
            exactly(threads(most)),
            _why(
                most,
                f"Threads{spaces} that have waited in a receive phase and answered a call, and the one that called"
                f" them, in {MEMORY_MB} MB.",
            ),
        ),
        judge(
            f"{pair}.thread_bytes",
            here.thread_bytes if here else None,
            "bytes",
            at_most(THREAD_LIMIT),
            _why(
                most,
                "Kernel memory of a thread: its control block, its part of the thread table, and of the page of UTCBs"
                " that it shares with three others.",
            ),
        ),
        judge(
            f"{pair}.space_bytes",
            here.space_bytes if here else None,
            "bytes",
            at_most(SPACE_LIMIT),
            _why(most, "Kernel memory of a space, without its page tables."),
        ),
    ]


def _why(measurement: Measurement, text: str) -> str:
    return f"{text} {measurement.failure or ''}".rstrip()


def series_of(pair: str, found: list[Measurement]) -> list[Series]:
    """Everything over the number of threads."""
    sizes = [threads(one) for one in found]
    populations = [population(one) for one in found]

    def of_guest(name: str, unit: str, value: Callable[[Population], float]) -> Series:
        return Series(f"{pair}.{name}", unit, sizes, [value(here) if here else None for here in populations])

    lines = []
    for name, case in cases_of(pair).items():
        lines.append(Series(f"{pair}.{name}", "instructions", sizes, [instructions(one, case) for one in found]))
        lines.append(Series(f"{pair}.{name}.cycles", "modelled cycles", sizes, [cycles(one, case) for one in found]))
    return [
        *lines,
        of_guest("spaces", "spaces", lambda here: here.spaces),
        of_guest("answers", "threads", lambda here: here.answers + 1),
        of_guest("thread_bytes", "bytes", lambda here: here.thread_bytes),
        of_guest("space_bytes", "bytes", lambda here: here.space_bytes),
        of_guest("table_bytes", "bytes", lambda here: here.table_bytes),
        of_guest("kernel_mb", "MB", lambda here: here.kernel_mb),
    ]


def ledger_of(measurements: list[Measurement]) -> list[LedgerRow]:
    """Where the modelled cycles of the calls go."""
    return [
        one.regions[case].row(f"{one.spec.pair}.{name}", threads(one))
        for one in measurements
        for name, case in cases_of(one.spec.pair).items()
        if case in one.regions
    ]


def plots(result: Result) -> list[Plot]:
    labels = {f"{pair}.{name}": f"{pair.replace('_', ' to ')}, {name}" for pair in PAIRS for name in cases_of(pair)}
    return [
        Lines(
            "A round trip among many threads",
            "threads",
            "instructions",
            labels,
            caption=(
                "Of the kernel, stub and trampoline together. The others wait. Random partners are in other spaces of"
                " the same kind, mixed ones of both."
            ),
        ),
        Lines(
            "Modelled cycles of it",
            "threads",
            "modelled cycles",
            {f"{name}.cycles": label for name, label in labels.items()},
            caption="Each random partner has a working set of its own, which caches and TLBs have to hold.",
        ),
        Lines(
            "Kernel memory of a thread",
            "threads",
            "bytes",
            {f"{PAIRS[0]}.thread_bytes": "a thread"},
            caption="Few threads fill the pages that they take badly.",
            marks=(Mark(f"limit: {THREAD_LIMIT}", y=THREAD_LIMIT),),
        ),
    ]


EXPERIMENT = Experiment(
    name="ipc/scale",
    title="A call among thousands of threads",
    source="Counts of this kernel, with 4,000 threads in 1,000 spaces against two",
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(1000, 1000, range(1, 4097), "round trips measured, to one partner and to partners at random"),
        "warmup": Setting(10, 10, range(4097), "round trips before the measured ones"),
        "slot": Setting(16, 16, pingpong.SLOTS_MB[:1], "size of a small space, MB"),
        "small": Setting(512, 512, (512,), "size of the small-space area, MB"),
    },
    run=run,
    plots=plots,
    checks=(named(PAIRS, JUDGED, "THREADS"), named(PAIRS, ("answers", "thread_bytes", "space_bytes"))),
    story=(
        f"Up to 4,000 threads, four to a space, live at once in a machine of {MEMORY_MB} MB, of which the kernel has"
        f" {KERNEL_KB >> 10} MB. Each has been started, waits in a receive phase, and has answered a call by saying who"
        " it is. One of them then calls a partner in a loop, and partners at random. Of the spaces, all are large, or"
        " the first 32 are small, the caller's and the fixed partner's among them."
    ),
    cannot_say=(
        (
            "`small_small.mixed` has no limit: its partners are in small and large spaces alike. A small space that"
            " runs on a large one's page directory for the first time has a directory entry copied there by a page"
            " fault, once for each such pair, and thousands of random calls hardly meet one twice."
        ),
        (
            "Modelled cycles of random partners grow with the working set: caches and TLBs are the machine's, and no"
            " limit is set for that."
        ),
        (
            "A thread's UTCB counts with four threads to a page of UTCBs; a space with one thread has a page for it"
            " alone, and one with eight or more half of that for each."
        ),
        (
            "Page tables are beside a space's own pages: two pages for each 4 MB that it uses, one of them for"
            " who mapped what."
        ),
    ),
    has_curves=True,
)
