# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: what a user types, and what it means for the exit status.

0 done, 1 a check or a test failed, 2 wrong usage or something that keeps the command from working, as one line on
stderr.
"""

import errno
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from cobnut import boards, booting, cache, completion, emulators, experiments, machines, modules, paths, writable
from cobnut import build as building
from cobnut.booting import DEFAULT_MEMORY_MB, DEFAULT_ROOT, DEFAULT_SIGMA0, LEAST_MEMORY_MB
from cobnut.emulators import Boot
from cobnut.errors import CobnutError, Skipped
from cobnut.linux.command import linux
from cobnut.modules import Module
from cobnut.options import (
    AppendOption,
    BoardOption,
    CpuOption,
    ImageOption,
    KernelSetting,
    MemoryOption,
    Payload,
    RootOption,
    SecondsOption,
    Sigma0Option,
)
from cobnut.process import end_on_signals

app = typer.Typer(
    name="cobnut",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from cobnut import results

        print(f"cobnut {results.revision()}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Prints the revision and ends.")
    ] = False,
) -> None:
    """Cobnut: an L4 X.2 microkernel for processors without address-space tags, and its laboratory."""


@app.command()
def demo() -> None:
    """Builds, boots and measures small spaces against large ones; ends with a table and a report."""
    from cobnut import demonstration

    raise typer.Exit(demonstration.run())


@app.command()
def test(
    part: Annotated[
        str | None,
        typer.Argument(
            help="lint, unit, lab, command or system, all of them if left out; or long, which is none of them.",
            metavar="[PART]",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="With long: experiments, to run no others in full.",
            metavar="EXPERIMENT",
            autocompletion=completion.proofs_,
        ),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            "--board", help="With long: on this board only.", metavar="BOARD", autocompletion=completion.boards_
        ),
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="With long: says what would be run, and ends.")] = False,
) -> None:
    """Runs the tests; the last line is 'N passed, N failed'."""
    from cobnut import testing

    raise typer.Exit(testing.run(part, names or [], board, only_list=only_list))


@app.command()
def build(board: BoardOption = "pc", given: KernelSetting = None) -> None:
    """Builds the images and prints their paths, the kernel first."""
    target = boards.settled(boards.find(board), given or [])
    building.images(target)
    for path in target.images:
        print(path)


@app.command()
def new(
    folder: Annotated[Path, typer.Argument(help="Where it goes; its last part is the program's name.", metavar="DIR")],
    language: Annotated[str, typer.Option("--language", help="c or c++.", metavar="LANGUAGE")] = "c",
    build: Annotated[str, typer.Option("--build", help="make or cmake.", metavar="TOOL")] = "make",
    board: BoardOption = "pc",
) -> None:
    """Writes a program of your own into a new folder, with what builds and boots it."""
    from cobnut import starting

    program = starting.Program(folder, language, build, boards.find(board))
    starting.check(program)
    starting.ensure_tools(program)
    for path in starting.write(program):
        print(paths.shown(path))


@app.command("cache")
def cache_(clear: Annotated[bool, typer.Option("--clear", help="Throws all of it away.")] = False) -> None:
    """Says what is kept outside the checkout, so that another one need not fetch and compile it again."""
    for line in cache.described():
        print(line)
    if clear:
        cache.clear()


@app.command("list")
def list_(*, checks: Annotated[bool, typer.Option("--checks", help="Prints docs/checks.md instead.")] = False) -> None:
    """Lists experiments, machines and boards."""
    if checks:
        print(experiments.names_of_checks(), end="")
        return
    print("experiments")
    for experiment in experiments.all_experiments().values():
        print(f"  {experiment.name:<16} {experiment.title} ({experiment.source})")
        print(f"      {experiment.kind.value}{', in full a long proof' if experiment.long_proof else ''}")
        for one in (experiment, *experiment.elsewhere):
            on = f"machines: {', '.join(_machines_of(one))}" if one.machine else "on no machine, nothing is modelled"
            print(f"      on {', '.join(one.boards)}; {on}")
            for name, setting in one.settings.items():
                print(f"      --set {f'{name}={setting.value}':<11} {setting.help}")
            if one.checkable:
                print(f"      --set {'checked=off':<11} on: with the checked kernel")
    print("machines")
    for name, path in machines.known().items():
        print(f"  {name:<16} {machines.describe(path)}")
    print("boards")
    for board in boards.BOARDS.values():
        print(f"  {board.name:<16} {board.description}; programs: {', '.join(board.programs)}")


def _machines_of(experiment: experiments.Experiment) -> list[str]:
    """The machines that fit an experiment, each with the boards that take it by default."""
    where = [boards.find(name) for name in experiment.boards]
    lines = []
    for name in experiment.machines(where[0].processor):
        default = [board.name for board in where if (board.machine or experiment.machine) == name]
        on = f" on {', '.join(default)}" if len(default) < len(where) else ""
        lines.append(f"{name} (default{on})" if default else name)
    return lines


@app.command()
def boot(
    module: Payload = None,
    board: BoardOption = "pc",
    emulator: Annotated[str, typer.Option(help="qemu or bochs.", metavar="NAME")] = "qemu",
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    cpu: CpuOption = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Looks for forgotten invalidations; status 1 if there are any.")
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            help="Measures the run on this machine.",
            metavar="MACHINE",
            autocompletion=completion.machines_,
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="With --machine: also writes everything measured here.", metavar="FILE"),
    ] = None,
    image: ImageOption = None,
    seconds: SecondsOption = None,
    given: KernelSetting = None,
    gdb: Annotated[
        bool,
        typer.Option("--gdb", help="Stops at the first instruction and starts gdb; without a terminal, waits for one."),
    ] = False,
    ex: Annotated[
        list[str] | None,
        typer.Option(
            "--ex",
            help="With --gdb: a command of gdb's to be executed; after the last, the run ends.",
            metavar="COMMAND",
        ),
    ] = None,
) -> None:
    """Boots modules with the serial console on this terminal; Ctrl-A x leaves."""
    target = boards.settled(boards.find(board), given or [])
    emulators.check_name(emulator)
    booting.check_seconds(seconds)
    booting.check_debugging(gdb, ex or [], emulator, sanitize, image or [])
    if gdb and seconds is not None:
        raise CobnutError("--gdb: does not go with --seconds")
    booting.check_measuring(machine, json, emulator, sanitize, gdb, image or [])
    if image:
        ours = module or root != DEFAULT_ROOT or sigma0 != DEFAULT_SIGMA0 or given
        if ours or emulator != "qemu" or target.processor is boards.ARM:
            raise CobnutError("--image: brings its own kernel and modules, for a PC on qemu")
        raise typer.Exit(
            booting.given_images(image, append, Boot.cpu if cpu is None else cpu, memory, sanitize, seconds)
        )
    if sanitize and emulator != "qemu":
        raise CobnutError(f"--sanitize: works on qemu, not on {emulator}")
    if machine:
        machines.check_architecture(machine, target)
    booting.check_payload("boot", module, root)
    if target.processor is boards.ARM:
        refused = (("--cpu", cpu), ("--emulator bochs", emulator == "bochs"))
        for option, asked in refused:
            if asked:
                raise CobnutError(f"{option}: not on board {board}")
        texts = (sigma0, root, *(module or []))
        raise typer.Exit(
            booting.arm(target, texts, append, memory, sanitize, machine, json, seconds, ex or [] if gdb else None)
        )
    from cobnut.emulators import bochs, qemu

    on_bochs = emulator == "bochs"
    least_memory_mb = bochs.LEAST_MEMORY_MB if on_bochs else LEAST_MEMORY_MB
    default_cpu = bochs.DEFAULT_CPU if on_bochs else Boot.cpu
    booting.check_memory(memory, least_memory_mb, emulator)
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    (bochs if on_bochs else qemu).ensure()
    what = Boot(target.kernel, chosen, append, default_cpu if cpu is None else cpu, memory)
    if sanitize:
        raise typer.Exit(booting.sanitized(what, seconds=seconds))
    if machine:
        raise typer.Exit(booting.measured(target, what, machine, json, seconds))
    if gdb:
        from cobnut import debugging

        raise typer.Exit(debugging.run(target, what, ex or []))
    raise typer.Exit((bochs if on_bochs else qemu).interact(what, seconds=seconds))


app.command("linux")(linux)


@app.command()
def iso(
    file: Annotated[Path, typer.Argument(help="The image to be written; an old one is replaced.", metavar="FILE")],
    module: Payload = None,
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    given: KernelSetting = None,
) -> None:
    """Writes a CD image that boots modules on a PC with a BIOS, from CD or stick; the console is the first serial
    port.
    """
    from cobnut import cd

    target = boards.settled(boards.find("pc"), given or [])
    writable.check(str(file), file, writable.try_file)
    booting.check_payload("iso", module, root)
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    cd.ensure()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        cd.write(Boot(target.kernel, chosen, append), file.resolve(), Path(folder))
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB; to a stick: dd if={file} of=/dev/STICK bs=1M conv=fsync")


@app.command()
def flash(
    file: Annotated[Path, typer.Argument(help="The image to be written; an old one is replaced.", metavar="FILE")],
    module: Payload = None,
    board: BoardOption = "versatilepb",
    format: Annotated[
        str, typer.Option("--format", help="raw, or uboot: with a header for bootm.", metavar="FORMAT")
    ] = "raw",
    address: Annotated[
        str | None,
        typer.Option("--address", help="Where a loader puts it; by default 8 MB above the start.", metavar="ADDRESS"),
    ] = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
    root: RootOption = "root",
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    given: KernelSetting = None,
) -> None:
    """Writes one image of kernel and modules for a board with an ARM processor, for its boot loader or its flash."""
    from cobnut import flash as flashing

    target = boards.settled(boards.find(board), given or [])
    wanted = flashing.target(target, memory, address, format)
    writable.check(str(file), file, writable.try_file)
    if not module and root == "root":
        raise CobnutError(f"name at least one module, for example: ./cobnut flash {file} hello")
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    file.write_bytes(flashing.image(Boot(target.kernel, chosen), wanted))
    print(f"{file}: {file.stat().st_size:,} bytes; {flashing.advice(file, wanted)}")


@app.command()
def trace(
    module: Payload = None,
    output: Annotated[
        Path, typer.Option("--output", help="Where the JSON goes.", metavar="FILE", show_default="build/trace.json")
    ] = paths.BUILD / "trace.json",
    ring: Annotated[
        int, typer.Option("--ring", help="KB of kernel memory for events, 32 bytes each.", metavar="KB")
    ] = 1024,
    seconds: SecondsOption = None,
    board: BoardOption = "pc",
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    cpu: CpuOption = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
) -> None:
    """Boots modules like boot, and writes what the kernel did as a trace for Perfetto."""
    from cobnut import tracing
    from cobnut.emulators import qemu

    target = booting.board_for("trace", board)
    booting.check_payload("trace", module, root)
    booting.check_memory(memory, LEAST_MEMORY_MB, "qemu")
    tracing.check_ring(ring)
    booting.check_seconds(seconds)
    writable.check(f"--output {output}", output, writable.try_file)
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    qemu.ensure()
    options = f"{append} trace={ring}".strip()
    done = tracing.run(Boot(target.kernel, chosen, options, Boot.cpu if cpu is None else cpu, memory), output, seconds)
    print(f"trace: {done.trace.say()}")
    print(f"written: {paths.shown(output)} (open it at https://ui.perfetto.dev)")
    if done.failure:
        raise done.failure
    raise typer.Exit(done.code)


@app.command()
def record(
    out: Annotated[Path, typer.Option("--out", help="Where the record goes.", metavar="FILE")],
    module: Payload = None,
    board: BoardOption = "pc",
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    cpu: CpuOption = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
) -> None:
    """Boots modules like boot, and records the run for machines to come."""
    from cobnut import recording
    from cobnut.emulators import qemu, qemu_arm

    target = boards.find(board)
    arm = target.processor is boards.ARM
    if arm and cpu is not None:
        raise CobnutError(f"--cpu: not on board {board}")
    booting.check_payload("record --out x.record", module, root)
    booting.check_memory(memory, LEAST_MEMORY_MB, "qemu", target)
    writable.check(f"--out {out}", out, writable.try_file)
    version = qemu_arm.ensure() if arm else qemu.ensure()
    building.everything(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    what = Boot(target.kernel, chosen, append, Boot.cpu if cpu is None else cpu, target.memory_mb or memory)
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        note = Path(folder) / "note"
        recording.write_note(what, target, f"QEMU {version}", note)
        plugin = recording.plugin(target.kernel_executable, out, [("note", str(note))])
        code = qemu_arm.interact(what, board, plugin=plugin) if arm else qemu.interact(what, plugin=plugin)
    print(f"recorded: {paths.shown(out)}, {out.stat().st_size:,} bytes")
    raise typer.Exit(code)


@app.command()
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
    json: Annotated[Path | None, typer.Option(help="Also writes everything measured here.", metavar="FILE")] = None,
) -> None:
    """Measures a recorded run on machines and prints where the cycles of each case go."""
    from cobnut import recording, tables

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
    building.lab()
    origin = recording.header(record)
    wanted = machine or list(machines.known(origin["architecture"]))
    described = [machines.load(name) for name in wanted]
    for one in described:
        machines.check(one.path, changes)
    sets = [f"{name}:{value}" for name, value in changes.items()]
    replays = [recording.replay(record, one, sets, without_flush=without == "flush") for one in described]
    for replayed in replays:
        tables.show_replay(replayed)
        for doubt in [*replayed.measured["warnings"], recording.doubts(origin, replayed.machine)]:
            if doubt:
                print(f"note: {doubt}")
    if json:
        json.write_text(recording.to_json(record, replays))


@app.command()
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
    given_images = _images(experiment, image or [], append)
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
            images=given_images,
            append=append,
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


def _images(experiment: str, texts: list[str], append: str) -> tuple[Module, ...]:
    """The kernel and its modules that --image gives to an experiment that takes them."""
    from cobnut import images

    if append and not texts:
        raise CobnutError("--append: gives options to the kernel of --image, and there is none")
    if texts and (experiment == "all" or not experiments.find(experiment).takes_images):
        takers = " or ".join(name for name, one in experiments.all_experiments().items() if one.takes_images)
        raise CobnutError(f"--image: {experiment} does not run on kernels that are given to it; {takers} does")
    return images.parse(texts)


def main() -> None:
    """Runs the command line and ends the process with its status."""
    end_on_signals()
    cache.used(paths.BUILD / "venv")
    try:
        status = app(sys.argv[1:] or ["--help"], prog_name="cobnut", standalone_mode=False)
    except Skipped as reason:
        print(f"skipped: {reason}")
        status = 0
    except CobnutError as error:
        _fail(str(error))
    except typer.TyperException as error:
        _fail(error.format_message().replace("Possible options:", "did you mean one of these?"))
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and _is_built(error.filename):
            _fail(f"{paths.BUILD}: cannot be written ({error.strerror}), and all that is built or measured goes there")
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    sys.exit(status if isinstance(status, int) else 0)


def _is_built(name: object) -> bool:
    """Whether a file is one of those that are made here."""
    return isinstance(name, str) and (paths.BUILD == Path(name) or Path(name).is_relative_to(paths.BUILD))


def _fail(message: str) -> None:
    line = " ".join(message.split())
    print(f"cobnut: {line}", file=sys.stderr)
    sys.exit(2)
