# SPDX-License-Identifier: GPL-2.0-or-later
"""Running an experiment from its name to its report: what `run`, `demo` and the tests share."""

import shlex
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cobnut import boards, build, experiments, machines, paths, progress, recording, report, sweeping
from cobnut.boards import Board
from cobnut.checks import with_known_misses
from cobnut.emulators import qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Lab
from cobnut.experiments.pingpong import (
    TIMEOUT_SECONDS,
    PingPong,
    boot_of,
    changes_of,
    guest_failure,
    plugin_of,
    recorder_of,
)
from cobnut.machines import Machine
from cobnut.modules import Module
from cobnut.process import children_seconds
from cobnut.results import Result
from cobnut.sweeping import Sweep

COST_ROUNDS = 200_000
COST_BOOTS = 5
MOST_SPREAD = 2  # the difference of boots has to be so many times what boots alike differ by


@dataclass(frozen=True)
class Finished:
    """A run that came to its end, ok or not."""

    experiment: Experiment
    machine: Machine
    result: Result
    page: Path
    notes: list[str]


@dataclass(frozen=True)
class Plan:
    """What a command line asks for, found to fit together: `given` is what --set changes but of the kernel."""

    experiment: Experiment
    board: Board
    machine: str
    given: list[str]


def planned(
    name: str, *, board: str | None, machine: str | None, given: list[str], quick: bool, sweep: Sequence[str] = ()
) -> Plan:
    """Holds a command line against what there is, before anything is built or run; refuses what does not fit."""
    experiment = experiments.find(name)
    target = boards.find(board or experiment.boards[0])
    if sweep and (name not in experiments.reproductions() or target.processor is boards.ARM):
        raise CobnutError(
            f"--sweep: {name} does not record its guests on {target.name}, so it cannot be measured again"
        )
    experiment = experiment.on(target.name)
    of_kernel = [pair for pair in given if pair.partition("=")[0] == "checked"]
    if of_kernel and not experiment.checkable:
        raise CobnutError(f"--set {of_kernel[0]}: {name} measures the ordinary kernel")
    target = boards.settled(target, of_kernel)
    chosen = target.machine or experiment.machine if machine is None else machine
    own = [pair for pair in given if pair not in of_kernel]
    machines.locate(chosen)
    check_fit(experiment, target, chosen)
    try:
        described = machines.read(chosen)
    except (OSError, ValueError, AttributeError):
        return Plan(
            experiment, target, chosen, own
        )  # what is wrong with the file is said by the model, once it is built
    experiments.settle(experiment, described, quick, own)
    return Plan(experiment, target, chosen, own)


def check_fit(experiment: Experiment, board: Board, machine: str) -> None:
    """Refuses a machine on which the experiment cannot be measured. What cannot be read is left to the model."""
    try:
        described = machines.read(machine)
    except (OSError, ValueError, AttributeError):
        return
    fitting = ", ".join(experiment.machines(board.processor))
    if described.architecture != board.processor.architecture:
        raise CobnutError(
            f"--machine {machine}: {experiment.name} runs on {board.name}, an {board.processor.name} board, and that is"
            f" a machine of another kind (there are {fitting})"
        )
    missing = experiment.missing(described)
    if missing:
        raise CobnutError(
            f"--machine {machine}: has no {', '.join(missing)}, which {experiment.name} is about (there are {fitting})"
        )


def run(
    name: str,
    *,
    board: str | None,
    machine: str | None,
    given: list[str],
    quick: bool,
    report_folder: Path,
    show_cost: bool = False,
    sweep: Sequence[str] = (),
    images: tuple[Module, ...] = (),
    append: str = "",
) -> Finished:
    """Builds what is needed, runs the experiment `name` and writes its report; `sweep` holds what --sweep asks for.

    Without a board it is the experiment's first one, and without a machine the board's or the experiment's own.
    """
    plan = planned(name, board=board, machine=machine, given=given, quick=quick, sweep=sweep)
    experiment, target, machine = plan.experiment, plan.board, plan.machine
    version = qemu_arm.ensure() if target.processor is boards.ARM else qemu.ensure()
    build.everything(target)
    described = machines.load(machine)
    settings, overrides = experiments.settle(experiment, described, quick, plan.given)
    machines.check(described.path, overrides)
    sweeps = sweeping.parse(sweep, described)
    with progress.meter(name) as meter:
        lab = Lab(target, described, f"QEMU {version}", quick, settings, overrides, meter, images=images, append=append)
        result = experiment.run(lab)
    words = ["./cobnut", "run", name, "--board", target.name, "--machine", machine]
    words += ["--quick"] * quick + [word for pair in given for word in ("--set", pair)]
    words += [word for wish in sweep for word in ("--sweep", wish)]
    words += [word for image in images for word in ("--image", f"{image.path} {image.arguments}".strip())]
    words += ["--append", append] if append else []
    origin = replace(
        result.provenance,
        board=target.name,
        quick=quick,
        settings={**settings, **({"checked": "on"} if target.checked else {})},
        machine_changes=overrides,
        command=shlex.join(words),
    )
    result = replace(result, provenance=origin, checks=with_known_misses(result.checks, experiment.known_misses))
    notes = [cost_of_modelling(replace(lab, meter=progress.Silent()))] if show_cost else []
    if sweeps:
        result, note = _swept(experiment, lab, result, sweeps)
        notes += [note, *filter(None, [sweeping.idle(result, sweeps)])]
        own_plots = experiment.plots
        experiment = replace(experiment, plots=lambda result: [*own_plots(result), *sweeping.plots(result)])
    page = report.write(result, experiment, described, report_folder, notes=notes)
    return Finished(experiment, described, result, page, notes)


def _swept(experiment: Experiment, lab: Lab, result: Result, sweeps: Sequence[Sweep]) -> tuple[Result, str]:
    """The result with the sweeps in it, and what they took."""
    boots, start, before = lab.records.count, time.monotonic(), children_seconds()
    with progress.meter(f"{experiment.name} --sweep") as meter:
        meter.total(2 * len(sweeps))
        swept = sweeping.run(experiment, replace(lab, meter=progress.Silent()), result, sweeps, meter)
    took = f"{time.monotonic() - start:.0f} s, {children_seconds() - before:.0f} s of processor time"
    booted = lab.records.count - boots
    return swept, f"sweep: {2 * len(sweeps)} changed machines, guests booted for them: {booted}; {took}"


def cost_of_modelling(lab: Lab) -> str:
    """How much more processor time a ping-pong takes under the machine model than on plain QEMU; said, not checked."""
    chosen = lab.settings
    idle = PingPong("small_small", rounds=1, warmup=1, slot=chosen["slot"], small=chosen["small"])
    busy = replace(idle, warmup=COST_ROUNDS)
    plain = round_trips(_seconds(lab, idle, modelled=False), _seconds(lab, busy, modelled=False))
    live = _seconds(lab, busy, modelled=True)
    modelled = round_trips(_seconds(lab, idle, modelled=True), live)
    if plain is None or modelled is None:
        return "what modelling costs is not said: boots alike took too different times"
    return (
        f"modelling cost {modelled / plain:.1f} times the processor time of plain QEMU ({COST_ROUNDS:,} round trips"
        f" between small spaces, medians of {COST_BOOTS} boots); a replay of the recorded run takes"
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
        for _ in range(COST_BOOTS):
            before = children_seconds()
            recording.replay(record, lab.machine, changes_of(lab, spec))
            times.append(children_seconds() - before)
    return statistics.median(times)


def write_json(finished: list[Finished], path: Path, *, several: bool) -> None:
    """Writes the JSON of a run; of several runs, as a list."""
    texts = [one.result.to_json().rstrip() for one in finished]
    path.write_text(("[\n" + ",\n".join(texts) + "\n]" if several else texts[0]) + "\n")


def _seconds(lab: Lab, spec: PingPong, *, modelled: bool) -> list[float]:
    """The processor time of each of a few boots of `spec`."""
    out = paths.RUNS / "cost.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    plugin = plugin_of(lab, spec, out) if modelled else None
    times = []
    for _ in range(COST_BOOTS):
        before = children_seconds()
        outcome = qemu.run(boot_of(lab, spec), timeout=TIMEOUT_SECONDS, plugin=plugin, repeatable=True)
        failure = guest_failure(outcome)
        if failure:
            raise CobnutError(f"the cost of modelling could not be measured: {failure}")
        times.append(children_seconds() - before)
    return times
