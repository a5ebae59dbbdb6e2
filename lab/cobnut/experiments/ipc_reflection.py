# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/reflection`: what a program of another system's pays for a server of this kernel as its own: a system call that
is an exception, and a page fault, each with its answer, and a stop by the server, for each pair of space kinds; and
what it costs to take memory back from one of many spaces that share it.

Instructions are counted, not modelled: they are the same on every run. Only the cycles come from the machine model.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from cobnut import sheets
from cobnut.checks import Check, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import SHARES, Measurement, PingPong, measure_all
from cobnut.missing import ratio
from cobnut.plots import Bars, Mark, Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PAIRS = ("large_large", "small_small", "large_small", "small_large")
CALL, CONFINED, SYSENTER, TLS, FAULT, PAGES, STOP = "call", "confined", "sysenter", "tls", "fault", "pages", "stop"
KINDS = (CALL, CONFINED, SYSENTER, TLS, FAULT, PAGES, STOP)
MANY = 64
LIMITS = {CALL: 180, CONFINED: 190, SYSENTER: 210, TLS: 205, FAULT: 900, PAGES: 200, STOP: 1250}
# there and back, between large spaces alone; a stop leads nowhere
CR3_WRITES = {"large_large": 2, "small_small": 0, "large_small": 0, "small_large": 0}


@dataclass(frozen=True)
class Reflection(PingPong):
    """One boot of the program `reflect`, which has one case. `what` is of KINDS."""

    program: ClassVar[str] = "reflect"

    what: str = CALL

    @property
    def arguments(self) -> str:
        what = STOP if self.what == STOP else FAULT if self.faults else CALL
        return (
            f"pair={self.pair} what={what} confined={int(self.what == CONFINED)}"
            f" gate={int(self.what == SYSENTER)} tls={int(self.what == TLS)} rounds={self.rounds} warmup={self.warmup}"
            f" slot={self.slot} pages={self.pages}"
        )

    @property
    def faults(self) -> bool:
        return self.what in (FAULT, PAGES)

    @property
    def pages(self) -> int:
        """Of how many a trip's counts are."""
        return MANY if self.what == PAGES else 1

    @property
    def instruction_log2_ns(self) -> int:
        """A client runs for 2 ms before each stop, in which nothing is measured: a few instructions do."""
        return 3 if self.what == STOP else 0

    @property
    def iterations(self) -> int:
        """Between two faults there is one in which the page is taken back, between two stops one in which it runs."""
        return 2 * self.rounds - 1 if self.step == 2 else self.rounds

    @property
    def step(self) -> int:
        """Of how many iterations one counts."""
        return 2 if self.faults or self.what == STOP else 1


FEW_SHARERS = 2
UNMAP, DELETE = "unmap", "delete"
TAKING = {UNMAP: 0, DELETE: 1}  # cases
PAGES_A_MB = 256
TAKING_LIMITS = {UNMAP: 450, DELETE: 450}
GROWTH_LIMIT = 1.02


@dataclass(frozen=True)
class Sharers(PingPong):
    """One boot of the program `sharers`. They take half of the kernel's memory: 20 bytes for each page and sharer, and
    page tables.
    """

    program: ClassVar[str] = "sharers"
    memory_mb: ClassVar[int] = 512

    sharers: int = FEW_SHARERS
    megabytes: int = 4

    @property
    def arguments(self) -> str:
        return f"sharers={self.sharers} megabytes={self.megabytes}"

    @property
    def iterations(self) -> int:
        return 1

    @property
    def cases(self) -> list[int]:
        return list(TAKING.values())


@dataclass(frozen=True)
class Trip:
    """What was measured of one kind of trip to the server and back."""

    spec: Reflection
    measured: Measurement

    def count(self, counter: str) -> float | None:
        """The median trip's."""
        region = self.measured.at(0)
        return self._median(region.counters.get(counter)) if region else None

    @property
    def kernel(self) -> float | None:
        """The kernel's instructions, for each page where there are many."""
        return ratio(self.count("instructions_kernel"), self.spec.pages)

    @property
    def cycles(self) -> float | None:
        region = self.measured.at(0)
        return self._median(region.cycles) if region else None

    def _median(self, values: Sequence[float] | None) -> float | None:
        return statistics.median(values[:: self.spec.step]) if values else None


Trips = Mapping[tuple[str, str], Trip]  # by pair and kind


def run(lab: Lab) -> Result:
    """Boots the program once for each pair and each kind of trip."""
    sysenter = bool(lab.settings["sysenter"])
    kinds = [what for what in KINDS if sysenter or what != SYSENTER]
    specs = {(pair, what): Reflection.of(lab, pair, sysenter=sysenter, what=what) for what in kinds for pair in PAIRS}
    measured = measure_all(lab, specs)
    trips = {key: Trip(spec, measured[key]) for key, spec in specs.items()}
    checks = [check for pair in PAIRS for what in kinds for check in judge_trip(pair, what, trips[pair, what])]
    taking = measure_taking(lab)
    checks += [check for what in TAKING for check in judge_taking(*taking, what)]
    # of faults and stops, half of the iterations are something else
    calls = [(pair, what, one) for (pair, what), one in measured.items() if what not in (FAULT, PAGES, STOP)]
    ledger = [region.row(f"{pair}.{what}") for pair, what, one in calls for region in one.regions.values()]
    return lab.result([line for what in kinds for line in series_of(what, trips)], checks, ledger)


def measure_taking(lab: Lab) -> tuple[Measurement, Measurement]:
    """Among few sharers, and among many."""
    counts, megabytes = (FEW_SHARERS, lab.settings["sharers"]), lab.settings["shared"]
    specs = [Sharers.of(lab, "large_large", rounds=1, warmup=1, sharers=n, megabytes=megabytes) for n in counts]
    few, many = pingpong.measure(lab, specs)
    return few, many


def taken(measured: Measurement, what: str) -> float | None:
    """The kernel's instructions for each page that a space loses."""
    assert isinstance(measured.spec, Sharers)
    return ratio(measured.median(TAKING[what], "instructions_kernel"), measured.spec.megabytes * PAGES_A_MB)


def judge_taking(few: Measurement, many: Measurement, what: str) -> Iterator[Check]:
    """What it costs among many sharers, and against few: it must not include a walk over the other sharers."""
    assert isinstance(many.spec, Sharers)
    failure = " ".join(one.failure for one in (few, many) if one.failure)
    among = {"sharers": many.spec.sharers, "megabytes": many.spec.megabytes, "few": FEW_SHARERS}
    base, count = taken(few, what), taken(many, what)
    yield SHEET.judge(f"sharers.{what}.kernel", count, at_most(TAKING_LIMITS[what]), failure, **among)
    yield SHEET.judge(f"sharers.{what}.growth", ratio(count, base), at_most(GROWTH_LIMIT), failure, **among)


def judge_trip(pair: str, what: str, trip: Trip) -> Iterator[Check]:
    """How many instructions of the kernel's, and how many switches of page tables."""
    name, failure, switches = f"{pair}.{what}", trip.measured.failure, 0 if what == STOP else CR3_WRITES[pair]
    yield SHEET.judge(f"{name}.kernel", trip.kernel, at_most(LIMITS[what]), failure, many=MANY)
    yield SHEET.judge(f"{name}.cr3_writes", trip.count("cr3_writes"), exactly(switches), failure)


def series_of(what: str, trips: Trips) -> Iterator[Series]:
    """A kind's instructions and modelled cycles over the pairs."""
    row = [trips[pair, what] for pair in PAIRS]
    for share in (*SHARES, "user"):
        counts = [trip.count(f"instructions_{share}") for trip in row]
        yield Series(f"{what}.{share}", "instructions", list(PAIRS), counts)
    yield Series(f"{what}.cycles", "modelled cycles", list(PAIRS), [trip.cycles for trip in row])


def plots(result: Result) -> list[Plot]:
    """Of what was measured: the instructions of each kind, and the cycles of all."""
    measured = {line.name for line in result.series}
    there = [plot["name"] for plot in SHEET.plots if f"{plot['name']}.kernel" in measured]
    bars = []
    for what in there:
        [one] = SHEET.drawn(what, many=MANY)
        assert isinstance(one, Bars)
        limit = LIMITS[what] * (MANY if what == PAGES else 1)
        series = {f"{what}.{share}": share for share in (*SHARES, "user")}
        bars.append(replace(one, series=series, marks=(Mark(f"limit of the kernel's: {limit}", y=limit),)))
    [cycles] = SHEET.drawn("cycles")
    assert isinstance(cycles, Bars)
    return [*bars, replace(cycles, series={f"{what}.cycles": what for what in there})]


EXPERIMENT = Experiment(
    name="ipc/reflection",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(100, 20, pingpong.ROUNDS, "calls, or faults, measured"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "calls, or faults, before the measured ones"),
        **pingpong.SPACES,
        "sysenter": Setting(1, 1, range(2), "0: system calls by int, as on processors without sysenter"),
        "sharers": Setting(200, 100, range(FEW_SHARERS, 201), "spaces that share memory"),
        "shared": Setting(40, 8, range(4, 65, 4), "what they share, MB"),
    },
    run=run,
    plots=plots,
)
