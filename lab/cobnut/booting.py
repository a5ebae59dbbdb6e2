# SPDX-License-Identifier: GPL-2.0-or-later
"""What `boot` and the commands that record and trace do once their words are read: what goes with what, and a boot with
the console on this terminal, plain, measured or under the sanitizer.
"""

import tempfile
from pathlib import Path

from cobnut import boards, machines, modules, writable
from cobnut import build as building
from cobnut.emulators import Boot
from cobnut.errors import CobnutError

DEFAULT_ROOT = "root off=1"  # ends the run when every payload program has finished
DEFAULT_SIGMA0 = "sigma0"
MOST_SECONDS = 1_000_000
DEFAULT_MEMORY_MB = 64
LEAST_MEMORY_MB, MOST_MEMORY_MB = 2, 3072  # below 2 MB a loader has nowhere to put the kernel


def check_debugging(gdb: bool, ex: list[str], emulator: str, sanitize: bool, image: list[str]) -> None:
    if ex and not gdb:
        raise CobnutError("--ex: is for --gdb")
    if gdb and emulator != "qemu":
        raise CobnutError(f"--gdb: works on qemu, not on {emulator}")
    if gdb and (sanitize or image):
        raise CobnutError(f"--gdb: does not go with {'--sanitize' if sanitize else '--image'}")


def check_measuring(
    machine: str | None, json: Path | None, emulator: str, sanitize: bool, gdb: bool, image: list[str]
) -> None:
    if json and not machine:
        raise CobnutError("--json: is for --machine")
    if machine and emulator != "qemu":
        raise CobnutError(f"--machine: works on qemu, not on {emulator}")
    for option, given in (("--sanitize", sanitize), ("--gdb", gdb), ("--image", image)):
        if machine and given:
            raise CobnutError(f"--machine: does not go with {option}")
    if machine:
        machines.locate(machine)
    writable.check(f"--json {json}", json, writable.try_file)


def arm(
    target: boards.Board,
    texts: tuple[str, ...],
    append: str,
    memory: int,
    sanitize: bool,
    machine: str | None,
    json: Path | None,
    seconds: float | None,
    debugged: list[str] | None = None,
) -> int:
    """Boots modules on a board with an ARM processor, sanitized or measured on `machine` if wanted, or under gdb, which
    executes the commands `debugged`; returns the exit status.
    """
    from cobnut.emulators import qemu_arm

    check_memory(memory, LEAST_MEMORY_MB, "qemu", target)
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in texts)
    qemu_arm.ensure()
    what = Boot(target.kernel, chosen, append, memory_mb=target.memory_mb or memory)
    if machine:
        return measured(target, what, machine, json, seconds)
    if sanitize:
        return sanitized(what, target, seconds)
    if debugged is not None:
        from cobnut import debugging

        return debugging.run(target, what, debugged)
    return qemu_arm.interact(what, target.name, seconds=seconds)


def measured(target: boards.Board, what: Boot, machine: str, json: Path | None, seconds: float | None) -> int:
    """Boots `what`, prints where the modelled cycles of each case go, and returns the exit status."""
    from cobnut import measuring, tables

    building.lab()
    described = machines.load(machine)
    code, text = measuring.boot(target, what, described, seconds)
    for doubt in tables.show_measured(described.name, text)["warnings"]:
        print(f"note: {doubt}")
    if json:
        json.write_text(text)
    return code


def given_images(image: list[str], append: str, cpu: str, memory: int, sanitize: bool, seconds: float | None) -> int:
    """Boots the kernel and its modules that --image gives; returns the exit status."""
    from cobnut import images
    from cobnut.emulators import qemu

    kernel, *rest = images.parse(image)
    check_memory(memory, LEAST_MEMORY_MB, "qemu")
    qemu.ensure()
    what = Boot(kernel.path, tuple(rest), f"{kernel.arguments} {append}".strip(), cpu, memory)
    if sanitize:
        return sanitized(what, seconds=seconds)
    return qemu.interact(what, seconds=seconds)


def board_for(command: str, name: str) -> boards.Board:
    """The board `name`, for a command that looks into the guest, which so far is known how for IA-32."""
    board = boards.find(name)
    if board.processor is not boards.IA32:
        raise CobnutError(f"{command}: not on board {name}")
    return board


def check_payload(command: str, module: list[str] | None, root: str) -> None:
    if not module and root == DEFAULT_ROOT:
        raise CobnutError(f"name at least one module, for example: ./cobnut {command} hello")


def check_seconds(seconds: float | None) -> None:
    if seconds is not None and not 0 < seconds < MOST_SECONDS:
        raise CobnutError(f"--seconds {seconds:g}: must be more than 0 and less than {MOST_SECONDS:,}")


def check_memory(memory: int, least: int, emulator: str, board: boards.Board | None = None) -> None:
    if not least <= memory <= MOST_MEMORY_MB:
        raise CobnutError(f"--memory {memory}: must be from {least} to {MOST_MEMORY_MB} on {emulator}")
    if board and board.memory_mb and memory not in (DEFAULT_MEMORY_MB, board.memory_mb):
        raise CobnutError(f"--memory {memory}: {emulator}'s {board.name} has {board.memory_mb}")


def sanitized(what: Boot, board: boards.Board | None = None, seconds: float | None = None) -> int:
    """Boots `what` under the sanitizer and prints its reports; 0 if there are none and the guest ended well.

    `board` is needed if it is not a PC.
    """
    from cobnut import findings, sanitizing
    from cobnut.emulators import qemu, qemu_arm

    building.lab()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "reports.json"
        if board and board.processor is boards.ARM:
            plugin = sanitizing.plugin(board.kernel_executable, out)
            code = qemu_arm.interact(what, board.name, plugin=plugin, seconds=seconds)
        else:
            code = qemu.interact(what, plugin=sanitizing.plugin(what.kernel, out), seconds=seconds)
        found = findings.read(out)
    print(sanitizing.say(found))
    return 1 if found.reports or code else 0
