# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig3`: what sharing TLB entries adds where processes of Linux hand a token round and read nothing.

W03's figure 3: figure 2 without data, with the standard kernel, with fast address-space switching, and with that and
shared entries (fass=share). Which sets of the caches init's code and data fall on decides as much as sharing does, so
both are measured with init in the same places, one after the other (linux/placing.py), and the median place is judged.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from cobnut import published, sheets, tables
from cobnut.checks import Check, at_most, below, drawn, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_arm
from cobnut.experiments.linux_arm import PAPERS_MACHINE, SHARING, Peer
from cobnut.experiments.wiggins03_fig2 import ALONE, FLUSHES, NOT_SLOWER, Rings, measured
from cobnut.experiments.wiggins03_fig2 import SETTINGS as OF_RINGS
from cobnut.missing import known, least, most, ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PROCESSES = (2, 4, 6, 8, 10, 12, 13, 14, 15, 16, 18, 20, 24)
QUICK = (2, 8, 13, 16, 24)
CODE_MISSES = ("itlb_misses", "icache_misses")
MISSES = (*CODE_MISSES, "dtlb_misses", "dcache_misses")
COMPARED = ("fast", SHARING)
SETTINGS = {
    # no fewer rounds with --quick: what is left in the caches, and which domains are taken, differs from one to another
    **{name: replace(one, quick=one.value) for name, one in OF_RINGS.items()},
    # 16: the code begins once in each set of the SA-1110's cache for it
    "places": Setting(16, 5, range(1, 129), "of init's code and data in the caches, with a boot of each kernel"),
}

ByPlace = Mapping[str, Sequence[Rings]]  # what each kernel gave, in each place


def run(lab: Lab) -> Result:
    """A boot in each place of the two that are compared, and one of the standard kernel."""
    sizes = QUICK if lab.quick else PROCESSES
    peers = [Peer(kernel, place) for place in range(lab.settings["places"]) for kernel in COMPARED]
    rings = measured(lab, [Peer("standard", 0), *peers], [(processes, 0) for processes in (ALONE, *sizes)])
    found = {
        kernel: [one for peer, one in rings.items() if peer.kernel == kernel] for kernel in ("standard", *COMPARED)
    }
    series = [one for kernel, some in found.items() for one in series_of(kernel, some, sizes)]
    checks = [*judge(found, sizes), *(as_published(found, sizes) if lab.machine_name == PAPERS_MACHINE else ())]
    rows = [
        linux_arm.joined([one.found[case] for one in some]).row() for some in found.values() for case in some[0].found
    ]
    return lab.result([*series, *gains(found, sizes)], checks, rows, emulator=linux_arm.emulator(lab))


def median(values: Sequence[float | None]) -> float | None:
    """The median place's, if there is something of every one."""
    numbers = known(values)
    return statistics.median(numbers) if numbers else None


def added(found: ByPlace, processes: int) -> list[float | None]:
    """By how much of a switch's cycles one with shared entries takes less, in per cent, in each place."""
    shares = of_each(found, Rings.latency, processes)
    return [None if share is None else 100 * (1 - share) for share in shares]


def of_each(found: ByPlace, cost: Callable[[Rings, int, int], float], processes: int) -> list[float | None]:
    """The cost with shared entries over that without, in each place."""
    fast, sharing = ([cost(rings, processes, 0) for rings in found[kernel]] for kernel in COMPARED)
    return [ratio(after, before) for before, after in zip(fast, sharing, strict=True)]


def spread(values: Sequence[float | None]) -> str:
    """What the places give."""
    low, high = least(values), most(values)
    return "" if low is None or high is None else f"From {low:.4g} to {high:.4g} in {len(values)} places."


def judge(found: ByPlace, sizes: tuple[int, ...]) -> Iterator[Check]:
    """Whole turns with shared entries and without, in the median place."""
    whole = dict.fromkeys(COMPARED, 0.0)
    for processes in sizes:
        missed = {one: [rings.turn(processes, 0, *CODE_MISSES) for rings in found[one]] for one in COMPARED}
        fast, sharing = (statistics.median(missed[one]) for one in COMPARED)
        yield SHEET.judge(f"code_misses.{processes}", sharing, at_most(fast), spread(missed[SHARING]))
        slower = of_each(found, Rings.cycles, processes)
        yield SHEET.judge(f"not_slower.{processes}", median(slower), at_most(NOT_SLOWER), spread(slower))
        whole = {"fast": whole["fast"] + fast, SHARING: whole[SHARING] + sharing}
    yield SHEET.judge("code_misses.all", whole[SHARING], below(whole["fast"]))


def as_published(found: ByPlace, sizes: tuple[int, ...]) -> Iterator[Check]:
    """What W03 section 4.2 says about the figure; the machine is the paper's."""
    low, high = published.W03_SHARING_ADDS
    gains = {processes: added(found, processes) for processes in sizes}
    for processes, gain in gains.items():
        rule = drawn(low, high, "the interval that the text gives")
        yield SHEET.judge(f"added.{processes}", median(gain), rule, spread(gain))
    yield SHEET.judge("most", most(map(median, gains.values())), reproduces(high))


def series_of(kernel: str, places: Sequence[Rings], sizes: tuple[int, ...]) -> Iterator[Series]:
    """Over the number of processes, of the median place."""
    for name, cost in (("latency", Rings.latency), ("cycles", Rings.cycles)):
        costs = [statistics.median(cost(rings, n, 0) for rings in places) for n in sizes]
        yield Series(f"{kernel}.{name}", "modelled cycles", sizes, costs)
    for counter in (*MISSES, *FLUSHES, "instructions_kernel", "instructions_user"):
        counts = [statistics.median(rings.turn(n, 0, counter) for rings in places) for n in sizes]
        yield Series(f"{kernel}.{counter}", "a turn", sizes, counts)


def gains(found: ByPlace, sizes: tuple[int, ...]) -> Iterator[Series]:
    """What is added over the number of processes: of all places, and in each."""
    by_size = [added(found, processes) for processes in sizes]
    for name, of in (("median", median), ("least", least), ("most", most)):
        yield Series(f"added.{name}", "%", sizes, [of(gain) for gain in by_size])
    for place in range(len(found[SHARING])):
        yield Series(f"added.place_{place}", "%", sizes, [gain[place] for gain in by_size])


def show(result: Result) -> None:
    rows = [one.name for one in result.series if one.name.startswith("added.")]
    tables.show_rows(result, "what sharing adds, in per cent, by the number of processes", rows)


EXPERIMENT = Experiment(
    name="wiggins03/fig3",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings=SETTINGS,
    run=run,
    plots=SHEET.all_plots,
    show=show,
    has_curves=True,
)
