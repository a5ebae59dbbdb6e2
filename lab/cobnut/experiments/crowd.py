# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the program `crowd` on a board with an ARM processor under the laboratory's plugin, and reading what that
measured.

As for the ping-pong (pingpong.py), boots run two at a time, each is recorded and its measurements are replays, and a
measurement that is not complete is a failure. Nothing before the first case is modelled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cobnut import build, causes, recording
from cobnut.boards import Board
from cobnut.emulators import Boot
from cobnut.experiments import Lab, runner
from cobnut.experiments.pingpong import TIMEOUT_SECONDS, Cases, Key, Region, guest_failure, keyed
from cobnut.experiments.records import Recorded
from cobnut.measured import Measured
from cobnut.modules import alone

PROGRAM = "crowd"
MEMORY_MB = 64
ROUNDS = range(1, 100_001)

# What a switch writes, and what it flushes: counters of the plugin (docs/plugin.md).
SWITCH_WRITES = ("table_base_writes", "domain_writes", "pid_writes")
CACHE_FLUSHES = ("dcache_flushes", "icache_flushes")
FLUSHES = ("tlb_flushes", "tlb_entry_flushes", *CACHE_FLUSHES, "line_operations")
SHARES = ("kernel", "stub")
WAYS = 2  # that a round trip goes


@dataclass(frozen=True)
class Crowd:
    """One boot of `crowd` (user/crowd/main.cc says what it does). Without `tags` the kernel is the standard one."""

    pattern: str  # calls or reads
    place: str  # apart, alike, collide, slots or within
    members: int
    rounds: int
    warmup: int
    tags: bool = True
    shared: bool = False
    large: bool = False  # private pages are mapped as one of 1 MB
    pages: tuple[int, int, int] = (1, 1, 1)  # start, stop (inclusive), step

    @property
    def arguments(self) -> str:
        wish = (
            f"pattern={self.pattern} place={self.place} members={self.members} rounds={self.rounds}"
            f" warmup={self.warmup}"
        )
        if self.pattern == "calls":
            return wish
        kind = "large=1" if self.large else f"shared={int(self.shared)}"
        return f"{wish} {kind} pages={':'.join(map(str, self.pages))}"

    @property
    def cases(self) -> list[int]:
        """What the program's cases are about: the number of clients, or of pages."""
        start, stop, step = self.pages
        return [self.members] if self.pattern == "calls" else list(range(start, stop + 1, step))


@dataclass(frozen=True)
class Counted(Cases):
    """What one boot gave. `functions` are the cycles of an iteration by function of the kernel, by case."""

    spec: Crowd
    regions: dict[int, Region]
    failure: str | None
    functions: dict[int, dict[str, float]] = field(default_factory=dict)

    @property
    def instructions(self) -> float | None:
        """Of an IPC one way among the most members, in the kernel and the system-call stub: the mean."""
        return self.each(*(f"instructions_{share}" for share in SHARES))

    def each(self, *counters: str, ways: int = WAYS) -> float | None:
        """The counters' sum, for each of the `ways` that a mean iteration goes."""
        whole = self.mean(self.spec.cases[-1], *counters)
        return None if whole is None else whole / ways


def measure_all(lab: Lab, specs: Mapping[Key, Crowd]) -> dict[Key, Counted]:
    """Measures `specs`, of which at least one has to give something."""
    return keyed(specs, measure(lab, list(specs.values())))


def measure(lab: Lab, specs: Sequence[Crowd]) -> list[Counted]:
    """Measures `specs` and returns what was counted in the same order."""
    if not all(spec.tags for spec in specs):
        build.images(lab.board.standard)
    return runner.each(lab, specs, lambda spec: _measure(lab, spec), lambda spec: f"{spec.pattern} {spec.members}")


def board_of(lab: Lab, spec: Crowd) -> Board:
    return lab.board if spec.tags else lab.board.standard


def boot_of(lab: Lab, spec: Crowd) -> Boot:
    """What is booted for `spec`."""
    board = board_of(lab, spec)
    modules = alone(board, PROGRAM, spec.arguments)
    return Boot(board.kernel, modules, memory_mb=board.memory_mb or MEMORY_MB)


def _measure(lab: Lab, spec: Crowd) -> Counted:
    recorded = lab.records.of((spec, lab.board.name), lambda path: _record(lab, spec, path))
    if recorded.failure:
        return Counted(spec, {}, recorded.failure)
    measured = recording.replay(recorded.path, lab.machine, lab.changes, from_begin=True).measured
    try:
        return Counted(spec, read(spec, measured), None, functions_of(spec, measured))
    except (ValueError, KeyError) as wrong:
        return Counted(spec, {}, f"what was measured is not complete: {wrong}")


def _record(lab: Lab, spec: Crowd, path: Path) -> Recorded:
    board = board_of(lab, spec)
    plugin = recording.plugin(board.kernel_executable, path)
    outcome = runner.run(board, boot_of(lab, spec), TIMEOUT_SECONDS, plugin)
    failure = guest_failure(outcome, PROGRAM) or (None if path.exists() else "the plugin wrote no record")
    return Recorded(path, failure, outcome.seconds, outcome.console)


def read(spec: Crowd, measured: Measured) -> dict[int, Region]:
    """The regions in the plugin's output `measured`, complete and consistent, or a ValueError that says what is not."""
    regions: dict[int, Region] = {}
    for found in measured["regions"]:
        case = spec.cases[found["case"]]
        cycles = found["cycles_per_iteration"]
        if found["iterations"] != spec.rounds or len(cycles) != spec.rounds:
            raise ValueError(f"{found['iterations']} rounds of case {case} where {spec.rounds} were run")
        if round(1000 * sum(found["ledger"].values())) != round(1000 * found["cycles_total"]):
            raise ValueError(f"the ledger of case {case} does not add up to its total")
        regions[case] = Region(
            case,
            found["per_iteration"],
            found.get("footprint", {}),
            found["ledger"],
            cycles,
            found["cycles_total"],
            found["space"],
            causes.read(found, measured["switches"]),
        )
    missing = [case for case in spec.cases if case not in regions]
    if missing:
        raise ValueError(f"nothing measured of case {missing[0]}")
    return regions


def functions_of(spec: Crowd, measured: Measured) -> dict[int, dict[str, float]]:
    """What each of the kernel's functions costs in an iteration, with all of its refills; `user` is all user code."""
    return {
        spec.cases[found["case"]]: {
            one["symbol"]: one["cycles"] / found["iterations"] for one in found.get("functions", [])
        }
        for found in measured["regions"]
    }
