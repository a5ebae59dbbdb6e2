# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig3`: what sharing TLB entries adds where processes of Linux hand a token round and read nothing.

W03's figure 3: figure 2 without data, with the standard kernel, with fast address-space switching, and with that and
shared entries (fass=share). The program and its init are the same but for the place of its code (linux/placing.py).
"""

from collections.abc import Iterator

from cobnut import published, sheets
from cobnut.checks import Check, at_most, below, drawn, reproduces
from cobnut.experiments import Experiment, Kind, Lab, linux_arm
from cobnut.experiments.linux_arm import ALL_KERNELS, PAPERS_MACHINE, SHARING
from cobnut.experiments.wiggins03_fig2 import ALONE, FLUSHES, NOT_SLOWER, SETTINGS, Kernels, Rings, measured
from cobnut.missing import ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PROCESSES = (2, 4, 6, 8, 10, 12, 13, 14, 15, 16, 18, 20, 24)
QUICK = (2, 8, 13, 16, 24)
CODE_MISSES = ("itlb_misses", "icache_misses")
MISSES = (*CODE_MISSES, "dtlb_misses", "dcache_misses")


def run(lab: Lab) -> Result:
    """One boot for each of the three."""
    sizes = QUICK if lab.quick else PROCESSES
    found = measured(lab, ALL_KERNELS, [(processes, 0) for processes in (ALONE, *sizes)])
    series = [one for kernel, rings in found.items() for one in series_of(kernel, rings, sizes)]
    checks = [*judge(found, sizes), *(as_published(found, sizes) if lab.machine_name == PAPERS_MACHINE else ())]
    rows = [one.row() for rings in found.values() for one in rings.found.values()]
    return lab.result(series, checks, rows, emulator=linux_arm.emulator(lab))


def added(found: Kernels, processes: int) -> float | None:
    """By how much of a switch's cycles one with shared entries takes less, in per cent."""
    share = ratio(found[SHARING].latency(processes, 0), found["fast"].latency(processes, 0))
    return None if share is None else 100 * (1 - share)


def judge(found: Kernels, sizes: tuple[int, ...]) -> Iterator[Check]:
    """Whole turns with shared entries and without."""
    fast, sharing = found["fast"], found[SHARING]
    for processes in sizes:
        misses = fast.turn(processes, 0, *CODE_MISSES)
        yield SHEET.judge(f"code_misses.{processes}", sharing.turn(processes, 0, *CODE_MISSES), at_most(misses))
        slower = ratio(sharing.cycles(processes, 0), fast.cycles(processes, 0))
        yield SHEET.judge(f"not_slower.{processes}", slower, at_most(NOT_SLOWER))
    whole = {rings: sum(found[rings].turn(n, 0, *CODE_MISSES) for n in sizes) for rings in ("fast", SHARING)}
    yield SHEET.judge("code_misses.all", whole[SHARING], below(whole["fast"]))


def as_published(found: Kernels, sizes: tuple[int, ...]) -> Iterator[Check]:
    """What W03 section 4.2 says about the figure; the machine is the paper's."""
    least, most = published.W03_SHARING_ADDS
    gains = [added(found, processes) for processes in sizes]
    for processes, gain in zip(sizes, gains, strict=True):
        yield SHEET.judge(f"added.{processes}", gain, drawn(least, most, "the interval that the text gives"))
    known = [gain for gain in gains if gain is not None]
    yield SHEET.judge("most", max(known, default=None), reproduces(most))


def series_of(kernel: str, rings: Rings, sizes: tuple[int, ...]) -> Iterator[Series]:
    """Over the number of processes."""
    yield Series(f"{kernel}.latency", "modelled cycles", sizes, [rings.latency(n, 0) for n in sizes])
    yield Series(f"{kernel}.cycles", "modelled cycles", sizes, [rings.cycles(n, 0) for n in sizes])
    for counter in (*MISSES, *FLUSHES, "instructions_kernel", "instructions_user"):
        yield Series(f"{kernel}.{counter}", "a turn", sizes, [rings.turn(n, 0, counter) for n in sizes])


EXPERIMENT = Experiment(
    name="wiggins03/fig3",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings=SETTINGS,
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
