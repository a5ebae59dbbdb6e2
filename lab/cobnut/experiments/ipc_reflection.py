# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/reflection`: what a program of another system's pays for a server of this kernel as its own: a system call that
is an exception, and a page fault, each with its answer, and a stop by the server, for each pair of space kinds; and
what it costs to take memory back from one of many spaces that share it.

Instructions are counted, not modelled: they are the same on every run. Only the cycles come from the machine model.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from cobnut.checks import Check, Rule, at_most, exactly, judge, named
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, measure, raise_if_all_failed
from cobnut.plots import Bars, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

PAIRS = ("large_large", "small_small", "large_small", "small_large")
SHARES = ("kernel", "stub", "trampoline", "user")
CALL, CONFINED, SYSENTER, TLS, FAULT, PAGES, STOP = "call", "confined", "sysenter", "tls", "fault", "pages", "stop"
KINDS = (CALL, CONFINED, SYSENTER, TLS, FAULT, PAGES, STOP)
MANY = 64
LIMITS = {CALL: 180, CONFINED: 190, SYSENTER: 210, TLS: 205, FAULT: 900, PAGES: 200, STOP: 1250}
# there and back, between large spaces alone; a stop leads nowhere
CR3_WRITES = {"large_large": 2, "small_small": 0, "large_small": 0, "small_large": 0}
ABOUT = {
    CALL: "The kernel's instructions of a reflected system call and its answer.",
    CONFINED: "Likewise of a client whose space's redirector is the server, too: it can send to nobody else.",
    SYSENTER: "Likewise of a confined client that calls by sysenter: the same for a server that controls its space.",
    TLS: "Likewise of a client that has a segment of its own in GS, which the server must not find.",
    FAULT: "The kernel's instructions of a page fault, and of the answer that maps one page.",
    PAGES: f"The same of an answer that maps {MANY} pages by one item, for each page.",
    STOP: (
        "The kernel's instructions of two ExchangeRegisters by the server, which controls the client's space: the"
        " client, which runs, is stopped, and all its registers are read; and it goes on."
    ),
}


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
ABOUT_TAKING = {
    UNMAP: "An Unmap of all that the oldest of the spaces has got of the shared memory.",
    DELETE: "The ThreadControl that deletes the oldest of the spaces.",
}


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

    measurement: Measurement

    @property
    def name(self) -> str:
        spec = self.measurement.spec
        assert isinstance(spec, Reflection)
        return f"{spec.pair}.{spec.what}"

    def count(self, counter: str) -> float | None:
        """The median trip's."""
        region = self.measurement.at(0)
        return self._median(region.counters.get(counter)) if region else None

    @property
    def kernel(self) -> float | None:
        """The kernel's instructions, for each page where there are many."""
        spec = self.measurement.spec
        assert isinstance(spec, Reflection)
        count = self.count("instructions_kernel")
        return None if count is None else count / spec.pages

    @property
    def cycles(self) -> float | None:
        region = self.measurement.at(0)
        return self._median(region.cycles) if region else None

    def _median(self, values: Sequence[float] | None) -> float | None:
        spec = self.measurement.spec
        assert isinstance(spec, Reflection)
        return statistics.median(values[:: spec.step]) if values else None


def run(lab: Lab) -> Result:
    """Boots the program once for each pair and each kind of trip."""
    chosen = lab.settings
    kinds = [what for what in KINDS if chosen["sysenter"] or what != SYSENTER]
    specs = [
        Reflection(
            pair,
            chosen["rounds"],
            chosen["warmup"],
            chosen["slot"],
            chosen["small"],
            sysenter=bool(chosen["sysenter"]),
            what=what,
        )
        for what in kinds
        for pair in PAIRS
    ]
    measurements = measure(lab, specs)
    raise_if_all_failed(measurements)
    trips = {trip.name: trip for trip in map(Trip, measurements)}
    checks = [check for pair in PAIRS for what in kinds for check in judge_trip(trips[f"{pair}.{what}"], pair, what)]
    few, many = measure(
        lab,
        [
            Sharers("large_large", 1, 1, chosen["slot"], chosen["small"], sharers=n, megabytes=chosen["shared"])
            for n in (FEW_SHARERS, chosen["sharers"])
        ],
    )
    checks += [check for what in TAKING for check in judge_taking(few, many, what)]
    return lab.result(series_of(trips), checks, ledger_of(measurements))


def taken(measurement: Measurement, what: str) -> float | None:
    """The kernel's instructions for each page that a space loses."""
    spec, region = measurement.spec, measurement.at(TAKING[what])
    assert isinstance(spec, Sharers)
    count = region.median("instructions_kernel") if region else None
    return None if count is None else count / (spec.megabytes * PAGES_A_MB)


def judge_taking(few: Measurement, many: Measurement, what: str) -> list[Check]:
    """What it costs among many sharers, and against few: nobody is to look through those that have the page, too."""
    failure = " ".join(["", *(one.failure for one in (few, many) if one.failure)])
    base, count = taken(few, what), taken(many, what)
    assert isinstance(many.spec, Sharers)
    among = f"{many.spec.sharers} spaces that share {many.spec.megabytes} MB"
    return [
        judge(
            f"sharers.{what}.kernel",
            count,
            "instructions a page",
            at_most(TAKING_LIMITS[what]),
            f"{ABOUT_TAKING[what]} The kernel's instructions among {among}." + failure,
        ),
        judge(
            f"sharers.{what}.growth",
            count / base if count is not None and base else None,
            f"times {FEW_SHARERS} spaces",
            at_most(GROWTH_LIMIT),
            f"{ABOUT_TAKING[what]} Among {among}, against {FEW_SHARERS} that do." + failure,
        ),
    ]


def judge_trip(trip: Trip, pair: str, what: str) -> list[Check]:
    """How many instructions of the kernel's, and how many switches of page tables."""
    failure = f" {trip.measurement.failure}" if trip.measurement.failure else ""
    return [
        judge(
            f"{trip.name}.kernel",
            trip.kernel,
            "instructions",
            at_most(LIMITS[what]),
            ABOUT[what] + failure,
        ),
        judge(
            f"{trip.name}.cr3_writes",
            trip.count("cr3_writes"),
            "writes",
            _switches(pair, what),
            "Page tables are switched between large spaces, and between no others." + failure,
        ),
    ]


def _switches(pair: str, what: str) -> Rule:
    return exactly(0 if what == STOP else CR3_WRITES[pair])


def series_of(trips: dict[str, Trip]) -> list[Series]:
    """Each kind's instructions and modelled cycles over the pairs."""
    series = []
    for what in KINDS:
        if f"{PAIRS[0]}.{what}" not in trips:
            continue
        row = [trips[f"{pair}.{what}"] for pair in PAIRS]
        for share in SHARES:
            counts = [trip.count(f"instructions_{share}") for trip in row]
            series.append(Series(f"{what}.{share}", "instructions", list(PAIRS), counts))
        series.append(Series(f"{what}.cycles", "modelled cycles", list(PAIRS), [trip.cycles for trip in row]))
    return series


def ledger_of(measurements: list[Measurement]) -> list[LedgerRow]:
    """Where the modelled cycles of calls went. Of faults and stops, half of the iterations are something else."""
    return [
        region.row(trip.name)
        for trip in map(Trip, measurements)
        for region in trip.measurement.regions.values()
        if not trip.name.endswith((FAULT, PAGES, STOP))
    ]


PLOTS = {  # title and caption
    CALL: (
        "Instructions of a reflected system call",
        "There and back. User code is the loop of the client and that of the server.",
    ),
    CONFINED: ("Likewise of a confined client", "The server is the redirector of the client's space as well."),
    SYSENTER: ("Likewise by sysenter", "The client is confined, and the server controls its space."),
    TLS: ("Likewise with a segment of the client's own in GS", ""),
    STOP: ("Instructions of a forced stop", "Stopped with all registers read, and let go on."),
    FAULT: ("Instructions of a page fault", "There and back, with one page of 4 KB mapped."),
    PAGES: (f"Instructions of a page fault whose answer maps {MANY} pages", "There and back, by one item."),
}


def plots(result: Result) -> list[Plot]:
    measured = {line.name for line in result.series}
    there = [what for what in PLOTS if f"{what}.kernel" in measured]
    bars = []
    for what in there:
        title, caption = PLOTS[what]
        limit = LIMITS[what] * (MANY if what == PAGES else 1)
        bars.append(
            Bars(
                title,
                "pair of spaces, the client's first",
                "instructions",
                {f"{what}.{share}": share for share in SHARES},
                caption=caption,
                marks=(Mark(f"limit of the kernel's: {limit}", y=limit),),
            )
        )
    cycles = {f"{what}.cycles": what for what in there}
    return [
        *bars,
        Bars("Modelled cycles, there and back", "pair of spaces, the client's first", "modelled cycles", cycles),
    ]


EXPERIMENT = Experiment(
    name="ipc/reflection",
    title="A server for programs of other systems",
    source="Counts of this kernel, against goals of its own",
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(100, 20, pingpong.ROUNDS, "calls, or faults, measured"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "calls, or faults, before the measured ones"),
        "slot": Setting(16, 16, pingpong.SLOTS_MB, "size of a small space, MB"),
        "small": Setting(512, 512, pingpong.AREAS_MB, "size of the small-space area, MB"),
        "sysenter": Setting(1, 1, range(2), "0: system calls by int, as on processors without sysenter"),
        "sharers": Setting(200, 100, range(FEW_SHARERS, 201), "spaces that share memory"),
        "shared": Setting(40, 8, range(4, 65, 4), "what they share, MB"),
    },
    run=run,
    plots=plots,
    checks=(named(PAIRS, KINDS, ("kernel", "cr3_writes")), named("sharers", TAKING, ("kernel", "growth"))),
    story=(
        "A client executes `int $0x80`, for which this kernel has no gate: the exception is a message of twelve words"
        " to a server in another space, and the server's answer of twelve words are the registers with which the client"
        " goes on. That is a system call of another system's. Its page fault is a message, too, and the answer maps a"
        " page, which the server takes back before the next. A server that controls the client's space stops it"
        " whatever it does, reads its registers, and lets it go on. Counted for four pairs of address spaces, the"
        " client's first. Programs share what they execute, so it is counted, too, what it costs to take memory from"
        " the oldest of many spaces that have it."
    ),
    cannot_say=(
        "The counts are exact for this kernel on QEMU's instruction set; they are not a prediction of time.",
        (
            "The server does nothing but answer: what the server of a real system adds is not in them. Nor are faults"
            " past a segment's limit, which QEMU does not raise: a client's segment that a small space turns costs more"
            " on a processor."
        ),
    ),
)
