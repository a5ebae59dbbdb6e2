# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig2`: processes of Linux that hand a token round and read memory of their own each time, with the
standard kernel and with fast address-space switching.

W03's figure 2, which lmbench's lat_ctx measured. As there, what a turn costs without a switch is subtracted: that of
one process which writes to itself (lab/guests/ring_arm.c).
"""

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cobnut import published, sheets
from cobnut.checks import Check, at_least, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_arm
from cobnut.experiments.crowd import CACHE_FLUSHES
from cobnut.experiments.linux_arm import KERNELS, PAPERS_MACHINE, Measured, Peer
from cobnut.missing import ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

ALONE = 1
PROCESSES = (2, 4, 6, 8, 10, 12, 13, 14, 15, 16, 18, 20, 24, 32, 40)
QUICK = (2, 13, 15, 16, 24, 40)
SIZES = (0, 4, 16, 32)  # KB that each process reads
DOMAINS = 15  # processes that have one here
FLUSHES = ("tlb_flushes", *CACHE_FLUSHES)
NOT_SLOWER = 1  # a goal of ours
SETTINGS = {
    "rounds": Setting(30, 10, range(10, 1001), "times that the token goes round, measured for each ring"),
    "warmup": Setting(10, 5, range(1001), "times that it does before"),
}


@dataclass(frozen=True)
class Rings:
    """What one kernel gave, by processes and KB."""

    found: Mapping[tuple[int, int], Measured]

    def turn(self, processes: int, kb: int, *counters: str) -> float:
        """The counters of the mean turn of one process."""
        rows = [self.found[processes, kb].region["per_iteration"].get(counter, [0]) for counter in counters]
        return sum(statistics.fmean(row) for row in rows) / processes

    def cycles(self, processes: int, kb: int) -> float:
        """Of a turn."""
        return self.turn(processes, kb, "cycles")

    def latency(self, processes: int, kb: int) -> float:
        """What a turn costs beyond that of one process alone."""
        return self.cycles(processes, kb) - self.cycles(ALONE, kb)


Kernels = Mapping[str, Rings]


def run(lab: Lab) -> Result:
    """One boot of each kernel."""
    sizes = QUICK if lab.quick else PROCESSES
    cases = [(processes, kb) for kb in SIZES for processes in (ALONE, *sizes)]
    found = {peer.kernel: rings for peer, rings in measured(lab, map(Peer, KERNELS), cases).items()}
    series = [one for kernel, rings in found.items() for one in series_of(kernel, rings, sizes)]
    checks = [*judge(found, sizes), *(as_published(found, sizes) if lab.machine_name == PAPERS_MACHINE else ())]
    rows = [one.row() for rings in found.values() for one in rings.found.values()]
    return lab.result(series, checks, rows, emulator=linux_arm.emulator(lab))


def measured(lab: Lab, peers: Iterable[Peer], cases: Sequence[tuple[int, int]]) -> dict[Peer, Rings]:
    """What each gives, in one boot, for rings of so many processes and KB."""
    kinds = [f"ring-{processes}-{kb}" for processes, kb in cases]
    found = linux_arm.measure(lab, peers, kinds)
    return {peer: Rings(dict(zip(cases, some, strict=True))) for peer, some in found.items()}


def judge(found: Kernels, sizes: tuple[int, ...]) -> Iterator[Check]:
    """Whole turns of both kernels."""
    for processes in sizes:
        for kb in SIZES:
            faster = ratio(found["standard"].cycles(processes, kb), found["fast"].cycles(processes, kb))
            yield SHEET.judge(f"not_slower.{processes}.{kb}", faster, at_least(NOT_SLOWER))


def as_published(found: Kernels, sizes: tuple[int, ...]) -> Iterator[Check]:
    """What W03 section 4.2 says about the figure; the machine is the paper's."""
    standard, fast = found["standard"], found["fast"]
    for processes, gain in published.W03_CTX_GAIN.items():
        measured = ratio(standard.latency(processes, 0), fast.latency(processes, 0))
        yield SHEET.judge(f"gain.{processes}", measured, reproduces(gain))
    for processes in sizes:
        if processes > published.W03_CTX_DOMAINS:
            share = ratio(fast.latency(processes, 0), standard.latency(processes, 0))
            yield SHEET.judge(f"share.{processes}", share, no_more_than(published.W03_CTX_SHARE))
    least = min(sizes)
    saved = {kb: standard.latency(least, kb) - fast.latency(least, kb) for kb in SIZES}
    for kb in SIZES[1:]:
        yield SHEET.judge(f"saved.{kb}", ratio(saved[kb], saved[0]), reproduces(1))


def series_of(kernel: str, rings: Rings, sizes: tuple[int, ...]) -> Iterator[Series]:
    """Over the number of processes, for each size."""
    for kb in SIZES:
        name = f"{kernel}.{kb}"
        yield Series(f"{name}.latency", "modelled cycles", sizes, [rings.latency(n, kb) for n in sizes])
        yield Series(f"{name}.cycles", "modelled cycles", sizes, [rings.cycles(n, kb) for n in sizes])
        for counter in FLUSHES:
            yield Series(f"{name}.{counter}", "a turn", sizes, [rings.turn(n, kb, counter) for n in sizes])


EXPERIMENT = Experiment(
    name="wiggins03/fig2",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings=SETTINGS,
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
