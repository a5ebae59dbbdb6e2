# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/replay`: is a replay what the run itself would have measured, and how much less does it take?

Each guest is run twice under the machine model, recorded twice, and replayed a few times. What is compared is processor time of
the whole process, user and system together: QEMU with the plugin on one side, the replayer on the other. The least of several
counts, for whatever else the computer does only adds to it.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from cobnut import measuring, process, recording, results
from cobnut.checks import Check, at_least, exactly, judge
from cobnut.emulators import Boot, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Lab, Plot, Setting
from cobnut.experiments.pingpong import TIMEOUT_SECONDS, PingPong, boot_of, guest_failure
from cobnut.modules import Module
from cobnut.results import Result, Series

LEAST_RATIO = 5  # the bound that this project has set itself
RUNS, REPLAYS = 2, 5
SLOT_MB, AREA_MB = 16, 512
SWEEP = (0, 80, 8)  # pages that are read: below and above what the Pentium 4's data TLB holds
SWEEP_ROUNDS = 100
RANDOM = "stress"
T = TypeVar("T")


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
    origin = results.provenance(lab.emulator, lab.machine.sha256)
    guests = guests_of(lab)
    lab.meter.total(len(guests))
    costs: dict[str, Cost] = {}
    for name, (boot, program) in guests.items():
        costs[name] = _measure(lab, boot, program)
        lab.meter.advance(note=name)
    checks = [check for name, cost in costs.items() for check in judge_guest(name, cost)]
    return Result("lab/replay", lab.machine_name, origin, series_of(costs), checks, [])


def guests_of(lab: Lab) -> dict[str, tuple[Boot, str]]:
    """The guests by name, each with the name of the program that has to come to its end."""
    chosen, found = lab.settings, {}
    for pair in ("small_small", "large_large"):
        spec = PingPong(pair, rounds=1, warmup=chosen["rounds"], slot=SLOT_MB, small=AREA_MB)
        found[pair] = (boot_of(lab, spec), spec.program)
        sweep = PingPong(
            pair, rounds=SWEEP_ROUNDS, warmup=chosen["sweep"], slot=SLOT_MB, small=AREA_MB, gen="reads", sizes=SWEEP
        )
        found[f"reads.{pair}"] = (boot_of(lab, sweep), sweep.program)
    modules = (
        Module(lab.board.program("sigma0")),
        Module(lab.board.program(RANDOM), f"seed=1 operations={chosen['operations']}"),
    )
    cpu = str(lab.machine.parameters["processor.emulated_as"].value)
    found[RANDOM] = (Boot(lab.board.kernel, modules, options=f"small={AREA_MB}", cpu=cpu), RANDOM)
    return found


def judge_guest(name: str, cost: Cost) -> list[Check]:
    """The verdict on one guest. How often the random one's replay is faster is measured and not judged."""
    checks = [
        judge(
            f"{name}.same_as_live",
            int(cost.same_as_live),
            "",
            exactly(1),
            "The replay prints the bytes that the plugin has written in the run itself.",
        ),
        judge(f"{name}.same_again", int(cost.same_again), "", exactly(1), "Each replay prints the same bytes."),
        judge(f"{name}.same_records", int(cost.same_records), "", exactly(1), "Two records of the guest are the same bytes."),
    ]
    if name != RANDOM:
        text = f"Processor time of QEMU and plugin, {cost.live:.2f} s, over that of a replay, {cost.replay:.2f} s."
        checks.append(judge(f"{name}.ratio", round(cost.ratio, 1), "times", at_least(LEAST_RATIO), text))
    return checks


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


def plots(_result: Result) -> list[Plot]:
    columns = {"live": "modelled run, s", "record": "recording, s", "replay": "replay, s", "ratio": "times", "bytes": "record, bytes"}
    return [Plot("table", "Processor time", "guest", "", columns)]


def show(result: Result) -> None:
    """Prints what each guest took."""
    live, record, replay, ratio = (result.find(name) for name in ("live", "record", "replay", "ratio"))
    assert live and record and replay and ratio
    print(f"{'processor time, s':22}{'modelled run':>14}{'recording':>11}{'replay':>9}{'times':>8}")
    for name, *numbers in zip(live.x, live.y, record.y, replay.y, ratio.y, strict=True):
        modelled, recorded, replayed, times = numbers
        print(f"{name:22}{modelled:14.2f}{recorded:11.2f}{replayed:9.3f}{times:8.1f}")


def _measure(lab: Lab, boot: Boot, program: str) -> Cost:
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out, record = Path(folder) / "live.json", Path(folder) / "record"
        changes = [f"{key}:{value}" for key, value in lab.overrides.items()]
        model = measuring.plugin(lab.board, lab.machine, out, changes)
        recorder = recording.plugin(lab.board.kernel, record)
        live, outputs = _least(RUNS, lambda: _boot(boot, program, model, out))
        recorded, records = _least(RUNS, lambda: _boot(boot, program, recorder, record))
        replay, replays = _least(REPLAYS, lambda: recording.replay(record, lab.machine, changes).text.encode())
    return Cost(
        live,
        recorded,
        replay,
        len(records[0]),
        same_as_live=outputs[0].rstrip() == replays[0],
        same_again=len(set(replays)) == 1,
        same_records=len(set(records)) == 1,
    )


def _boot(boot: Boot, program: str, plugin: qemu.Plugin, out: Path) -> bytes:
    """Runs the guest; returns what the plugin has written to `out`."""
    failure = guest_failure(qemu.run(boot, timeout=TIMEOUT_SECONDS, plugin=plugin), program)
    if failure:
        raise CobnutError(f"{program}: {failure}")
    return out.read_bytes()


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
    title="Replaying a record: the same bytes, in how much less time",
    source="the laboratory itself",
    machine="pentium4-1400",
    settings={
        "rounds": Setting(200_000, 100_000, range(1_000, 1_000_001), "round trips of the ping-pong"),
        "sweep": Setting(1_000, 1_000, range(1, 1_000_001), f"round trips before the {SWEEP_ROUNDS} that are measured at each size"),
        "operations": Setting(4_000, 1_000, range(100, 1_000_001), "system calls of the random guest"),
    },
    run=run,
    plots=plots,
    show=show,
    story=(
        "A guest is recorded once and measured on any machine afterwards. Here the same guests are measured both ways: under the machine "
        "model while they run, and from a record. The ping-pong does the same again and again, and a replay models what repeats itself only until "
        "the machine's state does so, too. The random system calls of the stress program are the other extreme: hardly anything repeats itself."
    ),
    cannot_say=(
        "Processor time depends on the computer; a ratio of two depends on it less.",
        "A guest whose events do not repeat themselves gains what QEMU takes, and no more: the random guest's ratio is measured and not judged.",
    ),
)
