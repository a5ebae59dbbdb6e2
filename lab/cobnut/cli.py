# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: what a user types, and what it means for the exit status.

0 done, 1 a check or a test failed, 2 wrong usage or something that keeps the command from working, as one line on
stderr.
"""

import errno
import sys
from pathlib import Path
from typing import Annotated

import typer

from cobnut import boards, cache, completion, experiments, foreign, machines, paths, systems
from cobnut import build as building
from cobnut.commands.guests import boot, record, trace
from cobnut.commands.images import flash, iso
from cobnut.commands.running import replay, run
from cobnut.errors import CobnutError, Skipped
from cobnut.linux.command import linux
from cobnut.options import BoardOption, BuildSetting
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
            help="lint, unit, lab, command, system or linux, all of them if left out; or long, which is none of them.",
            metavar="[PART]",
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="With long: proofs (see --list), to make no others.",
            metavar="PROOF",
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
def build(board: BoardOption = "pc", given: BuildSetting = None) -> None:
    """Builds the images and prints the paths of those that boot without a system, the kernel first; with --set
    guest=NAME those of a kernel that is not ours: linux, on pc gnumach, on ARM boards linux-fass.
    """
    guests = [pair.partition("=")[2] for pair in given or [] if pair.startswith("guest=")]
    if guests:
        if len(given or []) > 1:
            raise CobnutError(f"--set guest={guests[0]}: goes with no other setting")
        for path in foreign.made(boards.find(board), guests[0]):
            print(path)
        return
    target = boards.configured(boards.find(board), given or [])
    building.images(target)
    for path in target.images:
        print(path)


@app.command()
def new(
    words: Annotated[
        list[str],
        typer.Argument(help="Where it goes; its last part is the program's name.", metavar="[server] DIR"),
    ],
    language: Annotated[str, typer.Option("--language", help="c or c++.", metavar="LANGUAGE")] = "c",
    build: Annotated[str, typer.Option("--build", help="make or cmake.", metavar="TOOL")] = "make",
    board: BoardOption = "pc",
) -> None:
    """Writes a program of your own into a new folder, with what builds and boots it; after `server` one of a system,
    in C++ and built by make, with an interface and a test.
    """
    from cobnut import starting

    if len(words) == 2 and words[0] == "server":
        server = starting.Server(Path(words[1]))
        starting.check_server(server)
        starting.ensure_server_tools()
        for path in starting.write_server(server):
            print(paths.shown(path))
        return
    if len(words) > 1:
        raise CobnutError(f"new {words[0]}: only `server` can stand before a folder")
    program = starting.Program(Path(words[0]), language, build, boards.find(board))
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
    """Lists experiments, machines, boards and systems of servers."""
    if checks:
        print(experiments.names_of_checks(), end="")
        return
    print("experiments")
    for experiment in experiments.all_experiments().values():
        print(f"  {experiment.name:<16} {experiment.sheet.title} ({experiment.sheet.source})")
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
    print("systems")
    for name in systems.known():
        print(f"  {name:<16} {systems.load(name).description.description}")


def _machines_of(experiment: experiments.Experiment) -> list[str]:
    """The machines that fit an experiment, each with the boards that take it by default."""
    where = [boards.find(name) for name in experiment.boards]
    lines = []
    for name in experiment.machines(where[0].processor):
        default = [board.name for board in where if (board.machine or experiment.machine) == name]
        on = f" on {', '.join(default)}" if len(default) < len(where) else ""
        lines.append(f"{name} (default{on})" if default else name)
    return lines


app.command()(boot)
app.command("linux")(linux)
app.command()(iso)
app.command()(flash)
app.command()(trace)
app.command()(record)
app.command()(replay)
app.command()(run)


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
