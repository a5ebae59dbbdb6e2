# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/table1`: a byte that two processes of Linux send to and fro, with the standard kernel and with fast
address-space switching; two threads that do the same, which is the floor without any switch of spaces; 64 KB from one
process to another; and processes that come and go.

W03's table 1. The kernels are the same but for the series in linux/arm-fass.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cobnut import published, sheets, tables
from cobnut.checks import Check, at_least, at_most, exactly, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_arm
from cobnut.experiments.crowd import CACHE_FLUSHES
from cobnut.experiments.linux_arm import KERNELS, PAPERS_MACHINE, Measured, Peer
from cobnut.missing import ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

FLOORS = {"pipe": "threads", "fifo": "threads", "unix": "unix_threads", "fcntl": "fcntl_threads"}  # of each potato
STREAMS, CREATIONS = ("pipe_stream", "unix_stream"), ("fork", "exec", "shell")
KINDS = (*FLOORS, *dict.fromkeys(FLOORS.values()), *STREAMS, *CREATIONS)
FLUSHES = ("tlb_flushes", *CACHE_FLUSHES)
OVER_THREADS, FEWER_CYCLES, NOT_SLOWER = 1.3, 15, 1  # goals of ours


@dataclass(frozen=True)
class Potato(Measured):
    """Round trips, blocks or processes."""

    @property
    def cycles(self) -> float:
        """Of a median round trip or process. Blocks differ in how often the two sides alternate: their mean."""
        region = self.region
        return region["cycles_total"] / region["iterations"] if self.kind in STREAMS else self.count("cycles")


Potatoes = Mapping[tuple[str, str], Potato]  # by kernel and kind


def run(lab: Lab) -> Result:
    """One boot of each kernel."""
    measured = linux_arm.measure(lab, map(Peer, KERNELS), KINDS)
    found = {(peer.kernel, one.kind): Potato(**vars(one)) for peer, some in measured.items() for one in some}
    series = [
        Series(f"{kernel}.cycles", "modelled cycles", KINDS, [found[kernel, kind].cycles for kind in KINDS])
        for kernel in KERNELS
    ]
    counters = ("instructions_kernel", "instructions_user", "itlb_misses", "dtlb_misses", *FLUSHES)
    for kernel in KERNELS:
        rows = [found[kernel, kind] for kind in KINDS]
        series += [Series(f"{kernel}.{name}", "times", KINDS, [one.count(name) for one in rows]) for name in counters]
    checks = [*judge(found), *(as_published(found) if lab.machine_name == PAPERS_MACHINE else ())]
    return lab.result(series, checks, [one.row() for one in found.values()], emulator=linux_arm.emulator(lab))


def judge(found: Potatoes) -> Iterator[Check]:
    """Fast against standard, and both against the floor."""
    for kind in FLOORS:
        standard, fast = found["standard", kind], found["fast", kind]
        floors = {kernel: found[kernel, FLOORS[kind]].cycles for kernel in KERNELS}
        yield _gain(found, kind)
        yield SHEET.judge(f"fast.flushes.{kind}", fast.count(*FLUSHES), exactly(0))
        yield SHEET.judge(f"over_threads.{kind}", ratio(fast.cycles, floors["fast"]), at_most(OVER_THREADS))
        spent, theirs = fast.cycles - floors["fast"], standard.cycles - floors["standard"]
        rule = at_most(theirs / FEWER_CYCLES)
        yield SHEET.judge(f"switching.{kind}", spent, rule, standard=theirs, fewer=FEWER_CYCLES)
    for kind in (*STREAMS, *CREATIONS):
        yield _gain(found, kind)
        faster = ratio(found["standard", kind].cycles, found["fast", kind].cycles)
        yield SHEET.judge(f"not_slower.{kind}", faster, at_least(NOT_SLOWER))


def as_published(found: Potatoes) -> Iterator[Check]:
    """The cycles that a round trip saves, on the machine where the paper's microseconds are cycles."""
    for kind in FLOORS:
        standard, fast = published.W03_TABLE_1[kind]
        rule = reproduces(round((standard - fast) * published.W03_CLOCK_MHZ))
        saved = found["standard", kind].cycles - found["fast", kind].cycles
        yield SHEET.judge(f"saved.{kind}", saved, rule)


def _gain(found: Potatoes, kind: str) -> Check:
    standard, fast = published.W03_TABLE_1[kind]
    wanted = fast / standard if kind in STREAMS else standard / fast  # bandwidths: more is better
    cycles = found["standard", kind].cycles
    gain = ratio(cycles, found["fast", kind].cycles)
    return SHEET.judge(f"gain.{kind}", gain, reproduces(round(wanted, 2)), standard=cycles)


def show(result: Result) -> None:
    tables.show_rows(
        result, "modelled cycles of a round trip, of 64 KB or of a process", [f"{kernel}.cycles" for kernel in KERNELS]
    )


EXPERIMENT = Experiment(
    name="wiggins03/table1",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings={
        "rounds": Setting(200, 40, range(10, 10_001), "round trips, blocks and processes measured of each kind"),
        "warmup": Setting(20, 10, range(1_001), "as many before the measured ones"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
