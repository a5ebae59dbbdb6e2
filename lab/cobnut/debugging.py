# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest under gdb, with the commands of kernel/gdb/cobnut.py."""

import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from cobnut import backtrace, packages, paths
from cobnut.boards import ARM, Board
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.errors import CobnutError

HOST = "127.0.0.1"
END_SECONDS = 5  # for the emulator to end when it is told to
# else gdb would detach, and the guest would go on for as long as it takes to end the emulator
KILL_AT_END = """set confirm off
python gdb.events.gdb_exiting.connect(lambda event: gdb.selected_inferior().pid and gdb.execute("kill", to_string=True))
"""


def run(board: Board, boot: Boot, commands: list[str]) -> int:
    """Boots `boot` on `board`, stopped at its first instruction, and lets gdb have it: with `commands` gdb executes
    these and ends, else it is a person's on this terminal. Where there is neither, any gdb may attach, and the console
    is here. Time follows the instruction count: it stands still while the guest does.

    Returns 0, or 1 if a command of gdb's failed, which is then the last one.
    """
    on_arm = board.processor is ARM
    packages.ensure(packages.GDB_ARM if on_arm else packages.GDB)
    port = _free_port()
    stub = f"tcp:{HOST}:{port}"
    # flush: gdb and the emulator write to the same place
    print(f"gdb: attach with: {shlex.join(_gdb(board, boot, port))}", flush=True)
    if not commands and not sys.stdin.isatty():
        if on_arm:
            return 1 if qemu_arm.interact(boot, board.name, repeatable=True, stub=stub) else 0
        return 1 if qemu.interact(boot, repeatable=True, stub=stub) else 0
    paths.RUNS.mkdir(parents=True, exist_ok=True)
    console = paths.RUNS / f"gdb-console-{port}"  # another run may be under way
    console.write_text("")
    print(f"gdb: the console goes to {paths.shown(console)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        if on_arm:
            words = qemu_arm.command(boot, board.name, Path(name), repeatable=True, stub=stub)
        else:
            words = qemu.command(boot, Path(name), repeatable=True, stub=stub)
        words += ["-serial", f"file:{console}"]
        # in a session of its own: Ctrl-C is for gdb
        guest = subprocess.Popen(
            words, cwd=name, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            status = _run_gdb(_gdb(board, boot, port), Path(name), commands)
        finally:
            errors = _end(guest)
    fault = qemu.complaint(errors)
    if fault:
        raise CobnutError(fault)
    text = console.read_text(errors="replace").replace("\r", "")
    if commands and text:
        print(text if on_arm else backtrace.with_names(text, boot.kernel), end="")
    return 1 if status else 0


def _gdb(board: Board, boot: Boot, port: int) -> list[str]:
    program = "gdb-multiarch" if board.processor is ARM else "gdb"
    words = [program, "-q", "-x", str(paths.GDB_SCRIPT)]
    programs = shlex.join(["cobnut", "programs", *(str(module.path.resolve()) for module in boot.modules)])
    return [*words, "-ex", programs, "-ex", f"target remote {HOST}:{port}", str(board.kernel_executable)]


def _run_gdb(words: list[str], folder: Path, commands: list[str]) -> int:
    (folder / "kill").write_text(KILL_AT_END)
    words += ["-x", str(folder / "kill")]
    if commands:
        (folder / "ex").write_text("".join(f"{command}\n" for command in commands))
        words += ["-nx", "--batch", "-x", str(folder / "ex")]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL if commands else None) as process:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            return process.wait()
        finally:
            signal.signal(signal.SIGINT, before)


def _end(guest: subprocess.Popen[str]) -> str:
    """Ends the emulator if it still runs; returns what it complained of."""
    guest.terminate()
    try:
        return guest.communicate(timeout=END_SECONDS)[1]
    except subprocess.TimeoutExpired:
        guest.kill()
        return guest.communicate()[1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]
