# SPDX-License-Identifier: GPL-2.0-or-later
"""Running an experiment from its name to its report: what `run`, `demo` and the tests share."""

import shlex
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from cobnut import boards, build, checks, experiments, machines, progress, report, sweeping
from cobnut.boards import Board
from cobnut.checks import with_known_misses
from cobnut.emulators import qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab
from cobnut.guests import Guest
from cobnut.process import children_seconds
from cobnut.results import Result
from cobnut.sweeping import Sweep


@dataclass(frozen=True)
class Finished:
    """A run that came to its end, ok or not."""

    experiment: Experiment
    result: Result
    page: Path
    notes: list[str]


@dataclass(frozen=True)
class Plan:
    """What a command line asks for, found to fit together: `given` is what --set changes but of the kernel."""

    experiment: Experiment
    board: Board
    machine: str | None
    given: list[str]


ALL = "all"


def chosen(name: str, board: str | None) -> tuple[list[str], list[str]]:
    """The experiments that `name` means, and those of `all` that are left out because they do not run on `board`."""
    if name != ALL:
        return [experiments.find(name).name], []
    every = experiments.reproductions()
    if board is None:
        return list(every), []
    fitting = [one for one in every if boards.find(board).name in every[one].all_boards]
    return fitting, [one for one in every if one not in fitting]


def planned(
    name: str, *, board: str | None, machine: str | None, given: list[str], quick: bool, sweep: Sequence[str] = ()
) -> Plan:
    """Checks a command line before anything is built or run; refuses what does not fit together."""
    experiment = experiments.find(name)
    target = boards.find(board or experiment.boards[0])
    experiment = experiment.on(target.name)
    if sweep and experiment.kind is not Kind.REPRODUCTION:
        raise CobnutError(f"--sweep: {name} does not record its guests, so it cannot be measured again")
    of_kernel = [pair for pair in given if pair.partition("=")[0] == "checked"]
    if of_kernel and not experiment.checkable:
        raise CobnutError(f"--set {of_kernel[0]}: {name} measures the ordinary kernel")
    target = boards.configured(target, of_kernel)
    own = [pair for pair in given if pair not in of_kernel]
    if experiment.machine is None:
        if machine is not None:
            raise CobnutError(f"--machine {machine}: {name} is measured on no machine")
        experiments.split_settings(experiment, None, quick, own)
        return Plan(experiment, target, None, own)
    chosen = target.machine or experiment.machine if machine is None else machine
    machines.locate(chosen)
    check_fit(experiment, target, chosen)
    try:
        described = machines.read(chosen)
    except (OSError, ValueError, AttributeError):
        return Plan(
            experiment, target, chosen, own
        )  # what is wrong with the file is said by the model, once it is built
    experiments.split_settings(experiment, described, quick, own)
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
    sweep: Sequence[str] = (),
    guest: Guest | None = None,
) -> Finished:
    """Builds what is needed, runs the experiment `name` and writes its report; `sweep` holds what --sweep asks for,
    `guest` what --image does.

    Without a board it is the experiment's first one, and without a machine the board's or the experiment's own.
    """
    plan = planned(name, board=board, machine=machine, given=given, quick=quick, sweep=sweep)
    experiment, target, machine = plan.experiment, plan.board, plan.machine
    version = qemu_arm.ensure() if target.processor is boards.ARM else qemu.ensure()
    build.everything(target)
    described = None if machine is None else machines.load(machine)
    settings, overrides = experiments.split_settings(experiment, described, quick, plan.given)
    sweeps = []
    if described:
        machines.check(described.path, overrides)
        sweeps = sweeping.parse(sweep, described)
    emulator = f"QEMU {version}"
    with nullcontext(progress.Silent()) if guest else progress.meter(name) as meter:  # its console is on the terminal
        lab = Lab(name, target, described, emulator, quick, settings, overrides, meter, guest=guest)
        result = experiment.run(lab)
    words = ["./cobnut", "run", name, "--board", target.name, *(("--machine", machine) if machine else ())]
    words += ["--quick"] * quick + [word for pair in given for word in ("--set", pair)]
    words += [word for wish in sweep for word in ("--sweep", wish)]
    words += guest.words if guest else ()
    origin = replace(
        result.provenance,
        board=target.name,
        quick=quick,
        settings={**settings, **({"checked": "on"} if target.checked else {})},
        machine_changes=overrides,
        command=shlex.join(words),
    )
    result = replace(result, provenance=origin, checks=with_known_misses(result.checks, experiment.sheet.known_misses))
    notes = (
        [experiment.afterwards(replace(lab, meter=progress.Silent()))] if experiment.afterwards and not quick else []
    )
    if sweeps:
        result, note = _swept(experiment, lab, result, sweeps)
        notes += [note, *filter(None, [sweeping.idle(result, sweeps)])]
        own_plots = experiment.plots
        experiment = replace(experiment, plots=lambda result: [*own_plots(result), *sweeping.plots(result)])
    page = report.write(result, experiment, described, report_folder, notes=notes)
    if others := checks.undeclared(result.checks, experiment.sheet.names):
        raise CobnutError(f"{name} does not declare its checks {', '.join(others)}; report: {page}")
    return Finished(experiment, result, page, notes)


def _swept(experiment: Experiment, lab: Lab, result: Result, sweeps: Sequence[Sweep]) -> tuple[Result, str]:
    """The result with the sweeps in it, and what they took."""
    boots, start, before = lab.records.count, time.monotonic(), children_seconds()
    with progress.meter(f"{experiment.name} --sweep") as meter:
        meter.total(2 * len(sweeps))
        swept = sweeping.run(experiment, replace(lab, meter=progress.Silent()), result, sweeps, meter)
    took = f"{time.monotonic() - start:.0f} s, {children_seconds() - before:.0f} s of processor time"
    booted = lab.records.count - boots
    return swept, f"sweep: {2 * len(sweeps)} changed machines, guests booted for them: {booted}; {took}"


def write_json(finished: list[Finished], path: Path, *, several: bool) -> None:
    """Writes the JSON of a run; of several runs, as a list."""
    texts = [one.result.to_json().rstrip() for one in finished]
    path.write_text(("[\n" + ",\n".join(texts) + "\n]" if several else texts[0]) + "\n")
