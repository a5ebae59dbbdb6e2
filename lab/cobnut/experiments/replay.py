# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/replay`: is a replay what the run itself would have measured, and how much less does it take?

Each guest is run twice under the machine model, recorded twice, and replayed a few times. What is compared is processor
time of the whole process, user and system together: QEMU with the plugin on one side, the replayer on the other. The
least of several counts, for whatever else the computer does only adds to it.
"""

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cobnut import linux_guest, paths, process, recording, sheets
from cobnut.checks import Check, at_least, exactly, judge
from cobnut.emulators import Boot, Outcome, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, given, runner
from cobnut.experiments.pingpong import TIMEOUT_SECONDS, PingPong, boot_of, guest_failure
from cobnut.modules import alone
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

LEAST_RATIO = 5  # the bound that this project has set itself
RUNS, REPLAYS = 2, 5
SLOT_MB, AREA_MB = 16, 512
SWEEP = (0, 80, 8)  # pages that are read: below and above what the Pentium 4's data TLB holds
SWEEP_ROUNDS = 100
RANDOM, LINUX = "stress", "linux"
# too slow, and why; docs/trace.md says it at length
SLOW = {
    RANDOM: (
        "Random system calls: hardly anything is repeated at once, and two thirds of what comes later is new or misses"
        " something, so that it is modelled access by access, as in the run."
    ),
}
T = TypeVar("T")


@dataclass(frozen=True)
class Guest:
    """What is run, why it did not come to its end (or None), and the names of its kernel's code, for the plugin."""

    boot: Boot
    failure: Callable[[Outcome], str | None]
    timeout: float
    names: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cost:
    """What one guest took, in seconds of processor time, and whether all outputs were the same."""

    live: float
    record: float
    replay: float
    record_bytes: int
    same_as_live: bool
    same_again: bool
    same_records: bool

    @property
    def ratio(self) -> float:
        return self.live / self.replay


def run(lab: Lab) -> Result:
    """Measures every guest in each of the three ways."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        guests = guests_of(lab, Path(folder))
        costs = runner.mapped(lab, guests, lambda name: _measure(lab, guests[name]), at_once=1)
    checks = [check for name, cost in costs.items() for check in judge_guest(name, cost)]
    return lab.result(series_of(costs), checks)


def guests_of(lab: Lab, folder: Path) -> dict[str, Guest]:
    """The guests by name, or the one that was given; what they need besides is written to `folder`."""
    if lab.guest:
        given.check_repeatable(lab, lab.guest)
        boot = given.boot_of(lab, lab.guest)
        return {given.IMAGE: Guest(boot, given.failure, given.TIMEOUT_SECONDS, lab.guest.names)}

    def ours(boot: Boot, program: str) -> Guest:
        return Guest(
            boot, lambda outcome: guest_failure(outcome, program), TIMEOUT_SECONDS, (("kernel", str(boot.kernel)),)
        )

    chosen, found = lab.settings, {}
    for pair in ("small_small", "large_large"):
        spec = PingPong(pair, rounds=1, warmup=chosen["rounds"], slot=SLOT_MB, small=AREA_MB)
        found[pair] = ours(boot_of(lab, spec), spec.program)
        sweep = PingPong(
            pair, rounds=SWEEP_ROUNDS, warmup=chosen["sweep"], slot=SLOT_MB, small=AREA_MB, gen="reads", sizes=SWEEP
        )
        found[f"reads.{pair}"] = ours(boot_of(lab, sweep), sweep.program)
    modules = alone(lab.board, RANDOM, f"seed=1 operations={chosen['operations']}")
    cpu = lab.cpu
    found[RANDOM] = ours(Boot(lab.board.kernel, modules, options=f"small={AREA_MB}", cpu=cpu), RANDOM)
    if chosen["linux"]:
        boot = linux_guest.boot(linux_guest.ensure(), folder, "")
        found[LINUX] = Guest(boot, linux_guest.failure, linux_guest.BOOT_SECONDS, ())
    return found


def judge_guest(name: str, cost: Cost) -> list[Check]:
    """The verdict on one guest."""
    took = f"Processor time of QEMU and plugin, {cost.live:.2f} s, over that of a replay, {cost.replay:.2f} s."
    return [
        judge(
            f"{name}.same_as_live",
            int(cost.same_as_live),
            "",
            exactly(1),
            "The replay prints the bytes that the plugin has written in the run itself.",
        ),
        judge(f"{name}.same_again", int(cost.same_again), "", exactly(1), "Each replay prints the same bytes."),
        judge(
            f"{name}.same_records",
            int(cost.same_records),
            "",
            exactly(1),
            "Two records of the guest are the same bytes.",
        ),
        judge(
            f"{name}.ratio",
            round(cost.ratio, 1),
            "times",
            at_least(LEAST_RATIO),
            " ".join([took, *([SLOW[name]] if name in SLOW else [])]),
        ),
    ]


def series_of(costs: dict[str, Cost]) -> list[Series]:
    """Processor times, sizes and ratios over the guests' names."""
    names = list(costs)

    def series(name: str, unit: str, of: Callable[[Cost], float]) -> Series:
        return Series(name, unit, names, [of(cost) for cost in costs.values()])

    return [
        series("live", "s of processor time", lambda cost: cost.live),
        series("record", "s of processor time", lambda cost: cost.record),
        series("replay", "s of processor time", lambda cost: cost.replay),
        series("ratio", "times", lambda cost: cost.ratio),
        series("bytes", "bytes", lambda cost: cost.record_bytes),
    ]


def show(result: Result) -> None:
    """Prints what each guest took."""
    live, record, replay, ratio = (result.find(name) for name in ("live", "record", "replay", "ratio"))
    assert live and record and replay and ratio
    print(f"{'processor time, s':22}{'modelled run':>14}{'recording':>11}{'replay':>9}{'times':>8}")
    for name, *numbers in zip(live.x, live.y, record.y, replay.y, ratio.y, strict=True):
        modelled, recorded, replayed, times = numbers
        print(f"{name:22}{modelled:14.2f}{recorded:11.2f}{replayed:9.3f}{times:8.1f}")


def _measure(lab: Lab, guest: Guest) -> Cost:
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out, record = Path(folder) / "live.json", Path(folder) / "record"
        changes = lab.changes
        machine = ("machine", str(lab.machine.path))
        model = qemu.Plugin(
            paths.PLUGIN, (machine, *guest.names, ("out", str(out)), *(("set", change) for change in changes))
        )
        recorder = qemu.Plugin(paths.PLUGIN, (("mode", "record"), *guest.names, ("out", str(record))))
        live, outputs = _least(RUNS, lambda: _boot(guest, model, out).read_bytes())
        recorded, digests = _least(RUNS, lambda: _digest(_boot(guest, recorder, record)))
        replay, replays = _least(REPLAYS, lambda: recording.replay(record, lab.machine, changes).text.encode())
    return Cost(
        live,
        recorded,
        replay,
        digests[0][0],
        same_as_live=outputs[0].rstrip() == replays[0],
        same_again=len(set(replays)) == 1,
        same_records=len(set(digests)) == 1,
    )


def _digest(file: Path) -> tuple[int, str]:
    """Its length, and its SHA-256: a record can be too large to be kept."""
    with file.open("rb") as stream:
        return file.stat().st_size, hashlib.file_digest(stream, "sha256").hexdigest()


def _boot(guest: Guest, plugin: qemu.Plugin, out: Path) -> Path:
    """Runs the guest; returns `out`, to which the plugin has written."""
    failure = guest.failure(qemu.run(guest.boot, timeout=guest.timeout, plugin=plugin))
    if failure:
        raise CobnutError(failure)
    return out


def _least(times: int, one: Callable[[], T]) -> tuple[float, list[T]]:
    """The least processor time that `one` takes in so many times, and what it returned each time."""
    seconds, answers = [], []
    for _ in range(times):
        before = process.children_seconds()
        answers.append(one())
        seconds.append(process.children_seconds() - before)
    return min(seconds), answers


EXPERIMENT = Experiment(
    name="lab/replay",
    sheet=SHEET,
    kind=Kind.TOOL,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(200_000, 100_000, range(1_000, 1_000_001), "round trips of the ping-pong"),
        "sweep": Setting(
            1_000, 1_000, range(1, 1_000_001), f"round trips before the {SWEEP_ROUNDS} that are measured at each size"
        ),
        "operations": Setting(4_000, 1_000, range(100, 1_000_001), "system calls of the random guest"),
        "linux": Setting(1, 0, range(2), "1 runs Debian's kernel to a shell as well, which takes minutes"),
        "memory": given.MEMORY,
    },
    run=run,
    takes_images=True,
    plots=SHEET.all_plots,
    show=show,
)
