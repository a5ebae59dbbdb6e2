# SPDX-License-Identifier: GPL-2.0-or-later
"""What modelling costs: processor time of a ping-pong under the machine model, on plain QEMU, and of a replay.

It depends on the machine that this runs on, so it is said and not checked.
"""

import statistics
import tempfile
from dataclasses import replace
from pathlib import Path

from cobnut import paths, recording
from cobnut.emulators import qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Lab
from cobnut.experiments.pingpong import (
    TIMEOUT_SECONDS,
    PingPong,
    boot_of,
    changes_of,
    guest_failure,
    plugin_of,
    recorder_of,
)
from cobnut.process import children_seconds

ROUNDS = 200_000
BOOTS = 5
MOST_SPREAD = 2  # the difference of boots has to be so many times what boots alike differ by


def of_modelling(lab: Lab) -> str:
    """How much more processor time a ping-pong takes under the machine model than on plain QEMU; said, not checked."""
    chosen = lab.settings
    idle = PingPong("small_small", rounds=1, warmup=1, slot=chosen["slot"], small=chosen["small"])
    busy = replace(idle, warmup=ROUNDS)
    plain = round_trips(_seconds(lab, idle, modelled=False), _seconds(lab, busy, modelled=False))
    live = _seconds(lab, busy, modelled=True)
    modelled = round_trips(_seconds(lab, idle, modelled=True), live)
    if plain is None or modelled is None:
        return "what modelling costs is not said: boots alike took too different times"
    return (
        f"modelling cost {modelled / plain:.1f} times the processor time of plain QEMU ({ROUNDS:,} round trips"
        f" between small spaces, medians of {BOOTS} boots); a replay of the recorded run takes"
        f" {statistics.median(live) / _replay_seconds(lab, busy):.1f} times less than the modelled run"
    )


def round_trips(idle: list[float], busy: list[float]) -> float | None:
    """What the round trips took, from boots without and with them; None where boots alike differ by as much."""
    least, most = (sorted(times)[1:-1] for times in (idle, busy))  # the first of a cold machine takes longer
    took = statistics.median(busy) - statistics.median(idle)
    spread = max(least[-1] - least[0], most[-1] - most[0])
    return took if took > MOST_SPREAD * spread and took > 0 else None


def _replay_seconds(lab: Lab, spec: PingPong) -> float:
    """The median processor time of replays of `spec`."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        record = Path(folder) / "record"
        qemu.run(boot_of(lab, spec), timeout=TIMEOUT_SECONDS, plugin=recorder_of(lab, spec, record))
        times = []
        for _ in range(BOOTS):
            before = children_seconds()
            recording.replay(record, lab.machine, changes_of(lab, spec))
            times.append(children_seconds() - before)
    return statistics.median(times)


def _seconds(lab: Lab, spec: PingPong, *, modelled: bool) -> list[float]:
    """The processor time of each of a few boots of `spec`."""
    out = paths.RUNS / "cost.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    plugin = plugin_of(lab, spec, out) if modelled else None
    times = []
    for _ in range(BOOTS):
        before = children_seconds()
        outcome = qemu.run(boot_of(lab, spec), timeout=TIMEOUT_SECONDS, plugin=plugin, repeatable=True)
        failure = guest_failure(outcome)
        if failure:
            raise CobnutError(f"the cost of modelling could not be measured: {failure}")
        times.append(children_seconds() - before)
    return times
