# SPDX-License-Identifier: GPL-2.0-or-later
"""The words of `run`, and of `replay`, which measures again what was recorded."""

from pathlib import Path
from typing import Annotated

import typer

from cobnut import build as building
from cobnut import completion, experiments, guests, machines, paths, writable
from cobnut import windows as in_windows
from cobnut.errors import CobnutError
from cobnut.guests import Asked, Guest
from cobnut.options import (
    AppendOption,
    ImageOption,
    PiecesOption,
    ProcessesOption,
    ProgramOption,
    QemuArgsOption,
    RegionOption,
    SecondsOption,
    SymbolsOption,
    UntilOption,
    WindowsOption,
)


def replay(
    record: Annotated[Path, typer.Argument(help="What record wrote.", metavar="RECORD")],
    machine: Annotated[
        list[str] | None,
        typer.Option(
            "--machine",
            help="A machine's name, or a machine file; all machines with the guest's processor if left out.",
            metavar="MACHINE",
            autocompletion=completion.machines_,
        ),
    ] = None,
    given: Annotated[
        list[str] | None, typer.Option("--set", help="Changes a number of every machine.", metavar="K=V")
    ] = None,
    without: Annotated[str | None, typer.Option(help="flush: as if switches flushed nothing.", metavar="WHAT")] = None,
    windows: WindowsOption = None,
    pieces: PiecesOption = None,
    json: Annotated[Path | None, typer.Option(help="Also writes everything measured here.", metavar="FILE")] = None,
) -> None:
    """Measures a recorded run on machines and prints where the cycles of each case go."""
    from cobnut import recording, sampled, tables

    if not record.is_file():
        raise CobnutError(f"record {record}: {'is not a file' if record.exists() else 'no such file'}")
    if without not in (None, "flush"):
        raise CobnutError(f"--without {without}: only flush can be left out")
    changes = dict(machines.change(pair) for pair in given or [])
    for name in machine or []:
        machines.locate(name)
    possible = [machines.read(name) for name in machine or machines.known()]
    for name in changes:
        if not any(name in one.parameters for one in possible):
            raise CobnutError(f"--set {name}: unknown parameter {name}")
    writable.check(f"--json {json}", json, writable.try_file)
    wish = in_windows.wish(windows, pieces)
    if pieces and len(machine or []) != 1:
        raise CobnutError("--pieces: is for one --machine")
    building.lab()
    origin = recording.header(record)
    wanted = machine or list(machines.known(origin["architecture"]))
    described = [machines.load(name) for name in wanted]
    for one in described:
        machines.check(one.path, changes)
    sets = [f"{name}:{value}" for name, value in changes.items()]
    flushless = without == "flush"
    replays = [recording.replay(record, one, sets, without_flush=flushless, windows=wish) for one in described]
    for replayed in replays:
        warnings = sampled.show(replayed.text)["warnings"] if wish else tables.show_replay(replayed)["warnings"]
        for doubt in [*warnings, recording.doubts(origin, replayed.machine)]:
            if doubt:
                print(f"note: {doubt}")
    if json:
        json.write_text(recording.to_json(record, replays))


def run(
    experiment: Annotated[
        str, typer.Argument(help="Its name, or all.", metavar="EXPERIMENT", autocompletion=completion.experiments)
    ],
    board: Annotated[
        str | None,
        typer.Option(
            "--board",
            help="The board; by default the experiment's first.",
            metavar="BOARD",
            autocompletion=completion.boards_,
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            help="A machine's name, or a machine file.", metavar="MACHINE", autocompletion=completion.machines_
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="Changes a setting of the experiment or a number of the machine.", metavar="K=V"),
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            help="Also measures with this number of the machine at both ends: PARAM, PARAM=LO:HI, or all.",
            metavar="PARAM[=LO:HI]",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and rounds.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Status 1 for known misses, too.")] = False,
    image: ImageOption = None,
    append: AppendOption = "",
    symbols: SymbolsOption = None,
    qemu_args: QemuArgsOption = None,
    seconds: SecondsOption = None,
    until: UntilOption = None,
    region: RegionOption = None,
    program: ProgramOption = None,
    processes: ProcessesOption = None,
    json: Annotated[Path | None, typer.Option(help="Also writes the result here.", metavar="FILE")] = None,
    report: Annotated[Path | None, typer.Option(help="Folder for the HTML report.", metavar="DIR")] = None,
    picture: Annotated[Path | None, typer.Option(help="Also draws the curves as a PNG.", metavar="FILE")] = None,
) -> None:
    """Runs an experiment, prints its checks and writes its report; status 1 if a check fails that is no known miss."""
    from cobnut import running, tables
    from cobnut.report import picture as draw_picture

    names, left_out = running.chosen(experiment, board)
    if picture and experiment == "all":
        raise CobnutError("--picture: holds one experiment's curves, not those of all")
    if picture and not experiments.find(experiment).has_curves:
        raise CobnutError(f"--picture: {experiment} has no curves to draw")
    asked = Asked(
        command="run",
        board=board or "pc",
        image=image or [],
        append=append,
        symbols=symbols,
        qemu_args=qemu_args or [],
        seconds=seconds,
        until=until,
        region=region or [],
        program=program or [],
        processes=processes,
    )
    guest = _guest(experiment, asked)
    writable.check_all(json, report, picture)
    for name in names:
        running.planned(name, board=board, machine=machine, given=given or [], quick=quick, sweep=sweep or [])
    if left_out:
        print(f"left out, because they do not run on {board}: {', '.join(left_out)}")
    finished = []
    for name in names:
        one = running.run(
            name,
            board=board,
            machine=machine,
            given=given or [],
            quick=quick,
            sweep=sweep or [],
            report_folder=report or paths.REPORTS,
            guest=guest,
        )
        if one.experiment.show:
            one.experiment.show(one.result)
        tables.show_checks(one.result)
        tables.show_sweep(one.result)
        for note in one.notes:
            print(note)
        print(f"report: {paths.shown(one.page)}")
        finished.append(one)
    print(f"all reports: {paths.shown(finished[-1].page.with_name('index.html'))}")
    if json:
        running.write_json(finished, json, several=experiment == "all")
    if picture:
        draw_picture.write(finished[0].result, finished[0].experiment, picture)
    bad = any(not one.result.ok if strict else one.result.failed for one in finished)
    raise typer.Exit(1 if bad else 0)


def _guest(experiment: str, asked: Asked) -> Guest | None:
    """The guest that --image gives to an experiment that takes one."""
    if not asked.image:
        if asked.words:
            raise CobnutError(f"{asked.words[0]}: is for the kernel of --image, and there is none")
        return None
    if experiment == "all" or not experiments.find(experiment).takes_images:
        takers = ", ".join(name for name, one in experiments.all_experiments().items() if one.takes_images)
        raise CobnutError(f"--image: {experiment} does not run on kernels that are given to it; these do: {takers}")
    return guests.resolve(asked)
