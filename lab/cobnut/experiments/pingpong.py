# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the ping-pong program under the laboratory's plugin, and reading what the plugin measured.

A boot is independent of every other, so boots run two at a time. Each is recorded; its measurements are replays, so
that what differs in numbers of the machine only is booted once. What comes back is checked for completeness here: a
measurement that lacks a size or whose ledger does not add up is a failure, never a number.
"""

import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

from cobnut import causes, measuring, published, recording
from cobnut.boards import Board
from cobnut.causes import Charge
from cobnut.emulators import Boot, Outcome, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Lab, Setting, runner
from cobnut.experiments.records import Recorded
from cobnut.measured import Measured
from cobnut.missing import total
from cobnut.modules import Module, alone
from cobnut.results import LedgerRow

TIMEOUT_SECONDS = 600
# what its settings may be: more round trips than this tell nothing new, the rest are the program's and the kernel's
# limits
ROUNDS, WARMUP = range(1, 1_000_001), range(1, 1_000_001)
SLOTS_MB, AREAS_MB = (16, 32, 64, 128, 256), range(64, 2049, 64)
WORDS = range(64)
# whose instructions an IPC's are
SHARES = ("kernel", "stub", "trampoline")
Key = TypeVar("Key", bound=Hashable)


# an experiment's settings that say what its two spaces are
SPACES = {
    "slot": Setting(16, 16, SLOTS_MB, "size of a small space, MB"),
    "small": Setting(512, 512, AREAS_MB, "size of the small-space area, MB"),
}


@dataclass(frozen=True)
class WorkingSets:
    """One kind of working set of the active side: its generator, what it is about, its sizes (start, stop, step)."""

    letter: str  # of U02's figure 4
    gen: str
    title: str
    x_title: str
    sizes: tuple[int, int, int]
    quick: tuple[int, int, int]


@dataclass(frozen=True)
class PingPong:
    """One boot of the ping-pong: the kinds of its two spaces and the active side's working sets. `slot` is in MB."""

    program: ClassVar[str] = "pingpong"
    memory_mb: ClassVar[int] = 64

    pair: str
    rounds: int
    warmup: int
    slot: int
    small: int
    gen: str = "none"
    sizes: tuple[int, int, int] = (0, 0, 1)  # start, stop (inclusive), step
    also: int = 0  # one more size between them; 0: none
    words: int = 0
    sysenter: bool = True  # False: system calls by `int`, as on processors without it
    overrides: tuple[tuple[str, str], ...] = ()
    servers: int = 1  # two are called in turn
    calls: bool = True  # without, the active side only touches its working set
    halves: bool = False  # the way there and the way back are measured by themselves
    distance: int = published.U02_READ_DISTANCE  # bytes between two reads
    reads: int = 0  # that follow nops or jumps
    served: int = 0  # reads of the server in each call
    without_flush: bool = False  # on the machine that it would be if switches flushed nothing
    parts: tuple[tuple[str, str, str], ...] = ()  # of the kernel's code to count: name, first symbol, symbol after it

    @classmethod
    def of(cls, lab: Lab, pair: str, **more: Any) -> Self:
        """One as the laboratory's settings have it, of which `slot` and `small` need not be there."""
        given = {name: lab.settings[name] for name in ("rounds", "warmup")}
        spaces = {name: lab.settings.get(name, setting.value) for name, setting in SPACES.items()}
        return cls(pair, **{**given, **spaces, **more})

    @property
    def arguments(self) -> str:
        start, stop, step = self.sizes
        more = {
            "servers": self.servers,
            "calls": int(self.calls),
            "halves": int(self.halves),
            "distance": self.distance,
            "reads": self.reads,
            "served": self.served,
        }
        return (
            f"pair={self.pair} gen={self.gen} sizes={start}:{stop}:{step} rounds={self.rounds} "
            f"warmup={self.warmup} slot={self.slot} words={self.words} "
            + " ".join(f"{name}={value}" for name, value in more.items())
            + (f" also={self.also}" if self.also else "")
        )

    def modules(self, board: Board) -> tuple[Module, ...]:
        """What boots."""
        return alone(board, self.program, self.arguments)

    @property
    def options(self) -> str:
        """The kernel's."""
        return f"small={self.small} sysenter={'on' if self.sysenter else 'off'}"

    @property
    def instruction_log2_ns(self) -> int:
        """How long an instruction takes in the guest's time."""
        return 0

    @property
    def iterations(self) -> int:
        """Measured ones, for each size."""
        return self.rounds * (2 if self.halves else 1)

    @property
    def cases(self) -> list[int]:
        start, stop, step = self.sizes
        return sorted({*range(start, stop + 1, step), *([self.also] if self.also else [])})


@dataclass(frozen=True)
class Region:
    """What was measured at one size. Counters and cycles are a number for each round trip, footprints those of the
    last.

    `parts` holds instructions and cycles of the parts of the kernel that were asked for, in the same form.
    """

    size: int
    counters: dict[str, list[float]]
    footprint: dict[str, int]
    ledger: dict[str, float]
    cycles: list[float]
    cycles_total: float
    space: str
    causes: list[Charge]
    parts: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        return len(self.cycles)

    @property
    def mean_cycles(self) -> float:
        return statistics.fmean(self.cycles)

    def row(self, name: str, x: float | None = None) -> LedgerRow:
        """The ledger of the case, called `name`, of size `x` if that has a meaning."""
        return LedgerRow(
            name, x, self.rounds, "cycles", self.ledger, self.cycles_total, space=self.space, causes=self.causes
        )

    def one_way(self, counter: str) -> float | None:
        """Half of the median round trip's count."""
        values = self.counters.get(counter)
        return statistics.median(values) / 2 if values else None

    def median(self, counter: str) -> float | None:
        values = self.counters.get(counter)
        return statistics.median(values) if values else None

    def mean(self, counter: str) -> float | None:
        values = self.counters.get(counter)
        return statistics.fmean(values) if values else None


class Cases:
    """What one boot gave: its regions by case, or the reason why there are none. What is missing is None."""

    regions: dict[int, Region]
    failure: str | None

    def at(self, case: int) -> Region | None:
        return self.regions.get(case)

    def cycles(self, case: int) -> float | None:
        """Modelled, of the mean iteration."""
        region = self.at(case)
        return region.mean_cycles if region else None

    def mean(self, case: int, *counters: str) -> float | None:
        """The sum of the counters' means for an iteration."""
        region = self.at(case)
        return total(region.mean(counter) for counter in counters) if region else None

    def median(self, case: int, *counters: str) -> float | None:
        """The same of their medians: interrupts are in few iterations."""
        region = self.at(case)
        return total(region.median(counter) for counter in counters) if region else None

    def one_way(self, case: int, *counters: str) -> float | None:
        """Half of the sum of their medians."""
        both = self.median(case, *counters)
        return None if both is None else both / 2

    def rows(self, name: str) -> list[LedgerRow]:
        """The ledger over the cases."""
        return [region.row(name, case) for case, region in self.regions.items()]


@dataclass(frozen=True)
class Measurement(Cases):
    """A boot of the ping-pong, by working-set sizes; and what the guest printed."""

    spec: PingPong
    regions: dict[int, Region]
    failure: str | None
    seconds: float
    console: str = ""


def measure_all(lab: Lab, specs: Mapping[Key, PingPong]) -> dict[Key, Measurement]:
    """Measures `specs`, of which at least one has to give something."""
    return keyed(specs, measure(lab, list(specs.values())))


def measure(lab: Lab, specs: Sequence[PingPong]) -> list[Measurement]:
    """Measures `specs` and returns their measurements in the same order."""
    return runner.each(lab, specs, lambda spec: _measure(lab, spec), lambda spec: f"{spec.pair} {spec.gen}")


def boot_of(lab: Lab, spec: PingPong, cpu: str | None = None) -> Boot:
    """What is booted for `spec`, on the emulator's processor `cpu` or else the machine's."""
    return Boot(
        kernel=lab.board.kernel,
        modules=spec.modules(lab.board),
        options=spec.options,
        cpu=cpu or lab.cpu,
        memory_mb=spec.memory_mb,
        instruction_log2_ns=spec.instruction_log2_ns,
    )


def plugin_of(lab: Lab, spec: PingPong, out: Path) -> qemu.Plugin:
    """The plugin with the machine's model, writing to `out`."""
    more = (*_ranges(spec), *((("without", "flush"),) if spec.without_flush else ()))
    return measuring.plugin(lab.board, lab.machine, out, changes_of(lab, spec), more=more)


def recorder_of(lab: Lab, spec: PingPong, out: Path) -> qemu.Plugin:
    """The plugin as a recorder, writing to `out`."""
    return recording.plugin(lab.board.kernel, out, _ranges(spec))


def changes_of(lab: Lab, spec: PingPong) -> list[str]:
    """What is changed of the machine, each PARAMETER:VALUE."""
    return [f"{key}:{value}" for key, value in {**lab.overrides, **dict(spec.overrides)}.items()]


def _ranges(spec: PingPong) -> list[tuple[str, str]]:
    return [("range", f"{name}:{first}..{end}") for name, first, end in spec.parts]


def _measure(lab: Lab, spec: PingPong) -> Measurement:
    booted = replace(spec, overrides=(), without_flush=False)
    key = (booted, boot_of(lab, booted).cpu)  # machines may be emulated as different processors
    recorded = lab.records.of(key, lambda path: _record(lab, booted, path))
    failure = recorded.failure
    regions: dict[int, Region] = {}
    if failure is None:
        changes, without_flush = changes_of(lab, spec), spec.without_flush
        measured = recording.replay(recorded.path, lab.machine, changes, without_flush=without_flush).measured
        try:
            regions = read(spec, measured)
        except (KeyError, ValueError, TypeError) as error:
            failure = f"the measurements cannot be used: {error}"
    return Measurement(spec, regions, failure, recorded.seconds, recorded.console)


def _record(lab: Lab, spec: PingPong, path: Path) -> Recorded:
    outcome = qemu.run(boot_of(lab, spec), timeout=TIMEOUT_SECONDS, plugin=recorder_of(lab, spec, path))
    failure = guest_failure(outcome, spec.program)
    if failure is None and not path.exists():
        failure = "the plugin wrote no record"
    return Recorded(path, failure, outcome.seconds, outcome.console)


def guest_failure(outcome: Outcome, program: str = PingPong.program) -> str | None:
    """Why a ping-pong, or another program that is measured, did not come to its end, or None."""
    if outcome.timed_out:
        return f"no end after {TIMEOUT_SECONDS} s"
    if outcome.kernel_message and outcome.code != 0:
        return f"the kernel stopped: {outcome.kernel_message}"
    for line in outcome.console.splitlines():
        if line.startswith(f"{program}: FAIL"):
            return line
    if outcome.code != 0 or f"{program}: done" not in outcome.console:
        return f"the guest ended with {outcome.code} and without '{program}: done'"
    return None


def read(spec: PingPong, measured: Measured) -> dict[int, Region]:
    """The regions in the plugin's output `measured`, complete and consistent, or a ValueError that says what is not."""
    regions: dict[int, Region] = {}
    parts = {found["case"]: found["per_iteration"] for found in measured.get("ranges", [])}
    for found in measured["regions"]:
        size = spec.cases[found["case"]]
        cycles = found["cycles_per_iteration"]
        if found["iterations"] != spec.iterations or len(cycles) != spec.iterations:
            raise ValueError(f"{found['iterations']} round trips at size {size} where {spec.iterations} were run")
        region = Region(
            size,
            found["per_iteration"],
            found["footprint"],
            found["ledger"],
            cycles,
            found["cycles_total"],
            found["space"],
            causes.read(found, measured["switches"]),
            parts.get(found["case"], {}),
        )
        missing_parts = {name for name, _, _ in spec.parts} - set(region.parts)
        if missing_parts:
            raise ValueError(f"part {min(missing_parts)} of the kernel was not counted at size {size}")
        if round(1000 * sum(region.ledger.values())) != round(1000 * region.cycles_total):
            raise ValueError(f"the ledger at size {size} does not add up to its total")
        regions[size] = region
    missing = [size for size in spec.cases if size not in regions]
    if missing:
        raise ValueError(f"nothing measured at size {missing[0]}")
    return regions


class Failing(Protocol):
    """What came of a boot; `failure` says why nothing was measured."""

    @property
    def failure(self) -> str | None: ...


Boots = TypeVar("Boots", bound=Failing)


def keyed(wanted: Iterable[Key], found: Sequence[Boots]) -> dict[Key, Boots]:
    """What was found by what was wanted, unless all of it failed."""
    raise_if_all_failed(found)
    return dict(zip(wanted, found, strict=True))


def raise_if_all_failed(measurements: Sequence[Failing]) -> None:
    """Reports a set-up that cannot measure anything as the error it is, instead of as a page of missing checks."""
    if measurements and all(measurement.failure for measurement in measurements):
        raise CobnutError(f"nothing could be measured: {measurements[0].failure}")
