# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/scale`: what a call costs among many threads and spaces, and what these take of the kernel's memory.

The program `scale` makes them, four threads to a space, in a machine of 64 MB. One of them calls another in a loop,
then others at random, while all the rest wait in a receive phase. Instructions and pages are counted; only the cycles
are modelled.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from cobnut import sheets
from cobnut.checks import Check, at_most, between, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import SHARES, Measurement, PingPong, measure_all
from cobnut.missing import ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PAIRS = ("large_large", "small_small")
THREADS = (2, 16, 64, 256, 1000, 2000, 4000)
QUICK = (2, 256, 4000)
FIXED, RANDOM, MIXED = range(3)  # cases: calls of one partner, of random ones of the same kind, of random ones of any
CASES = {"pingpong": FIXED, "random": RANDOM, "mixed": MIXED}
JUDGED = ("pingpong", "random")

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


def population(measured: Measurement) -> Population | None:
    """What the guest of `measured` printed, or None without the whole of it."""
    found = [pattern.search(measured.console) for pattern in (ALIVE, PAGES, MAPPINGS)]
    if measured.failure or None in found:
        return None
    return Population(*(int(number) for match in found if match for number in match.groups()))


def instructions(measured: Measurement, case: int) -> float | None:
    """Of the kernel, stub and trampoline together, in the mean round trip."""
    return measured.mean(case, *(f"instructions_{share}" for share in SHARES))


def run(lab: Lab) -> Result:
    """Boots the program for each pair and each number of threads."""
    sizes = QUICK if lab.quick else THREADS
    measured = measure_all(lab, {(pair, n): Scale.of(lab, pair, threads=n) for pair in PAIRS for n in sizes})
    by_pair = {pair: {n: measured[pair, n] for n in sizes} for pair in PAIRS}
    checks = [
        check for pair, found in by_pair.items() for check in (*judge_calls(pair, found), *judge_memory(pair, found))
    ]
    series = [line for pair, found in by_pair.items() for line in series_of(pair, found)]
    ledger = [
        one.regions[case].row(f"{pair}.{name}", n)
        for (pair, n), one in measured.items()
        for name, case in cases_of(pair).items()
        if case in one.regions
    ]
    return lab.result(series, checks, ledger)


def judge_calls(pair: str, found: Mapping[int, Measurement]) -> Iterator[Check]:
    """A round trip among many against one among the fewest."""
    fewest, *more = found
    for name in JUDGED:
        base = instructions(found[fewest], CASES[name])
        for n in more:
            share = ratio(instructions(found[n], CASES[name]), base)
            rule = between(1 - TOLERANCE, 1 + TOLERANCE)
            yield SHEET.judge(f"{pair}.{name}.{n}", share, rule, found[n].failure)


def judge_memory(pair: str, found: Mapping[int, Measurement]) -> Iterator[Check]:
    """With the most threads: all are alive, and what they take."""
    n, most = list(found.items())[-1]
    here = population(most)
    spaces = f" in {here.spaces} spaces" if here else ""
    answers = here.answers + 1 if here else None
    yield SHEET.judge(f"{pair}.answers", answers, exactly(n), most.failure, spaces=spaces, memory=MEMORY_MB)
    a_thread, a_space = (here.thread_bytes, here.space_bytes) if here else (None, None)
    yield SHEET.judge(f"{pair}.thread_bytes", a_thread, at_most(THREAD_LIMIT), most.failure)
    yield SHEET.judge(f"{pair}.space_bytes", a_space, at_most(SPACE_LIMIT), most.failure)


def series_of(pair: str, found: Mapping[int, Measurement]) -> list[Series]:
    """Everything over the number of threads."""
    sizes, populations = list(found), [population(one) for one in found.values()]

    def of_guest(name: str, unit: str, value: Callable[[Population], float]) -> Series:
        return Series(f"{pair}.{name}", unit, sizes, [value(here) if here else None for here in populations])

    lines = []
    for name, case in cases_of(pair).items():
        lines += [
            Series(f"{pair}.{name}", "instructions", sizes, [instructions(one, case) for one in found.values()]),
            Series(f"{pair}.{name}.cycles", "modelled cycles", sizes, [one.cycles(case) for one in found.values()]),
        ]
    return [
        *lines,
        of_guest("spaces", "spaces", lambda here: here.spaces),
        of_guest("answers", "threads", lambda here: here.answers + 1),
        of_guest("thread_bytes", "bytes", lambda here: here.thread_bytes),
        of_guest("space_bytes", "bytes", lambda here: here.space_bytes),
        of_guest("table_bytes", "bytes", lambda here: here.table_bytes),
        of_guest("kernel_mb", "MB", lambda here: here.kernel_mb),
    ]


EXPERIMENT = Experiment(
    name="ipc/scale",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(1000, 1000, range(1, 4097), "round trips measured, to one partner and to partners at random"),
        "warmup": Setting(10, 10, range(4097), "round trips before the measured ones"),
        "slot": Setting(16, 16, pingpong.SLOTS_MB[:1], "size of a small space, MB"),
        "small": Setting(512, 512, (512,), "size of the small-space area, MB"),
    },
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
