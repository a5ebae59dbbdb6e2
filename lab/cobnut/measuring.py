# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot that is measured on a machine."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from cobnut import boards, paths
from cobnut.boards import Board
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.emulators.qemu import Plugin
from cobnut.errors import CobnutError
from cobnut.machines import Machine


def plugin(
    board: Board, machine: Machine, out: Path, changes: Iterable[str] = (), *, more: Iterable[tuple[str, str]] = ()
) -> Plugin:
    """The plugin as a model of `machine` that writes what it measures of `board`'s kernel to `out` (docs/plugin.md).

    `changes` of the machine are PARAMETER:VALUE each; `more` are further arguments of the plugin's.
    """
    arguments = (("machine", str(machine.path)), ("kernel", str(board.kernel_executable)), ("out", str(out)))
    return Plugin(paths.PLUGIN, (*arguments, *(("set", change) for change in changes), *more))


def boot(board: Board, what: Boot, machine: Machine, seconds: float | None = None) -> tuple[int, str]:
    """Boots with the console on this terminal, for so many seconds at most; returns the guest's number and the plugin's
    JSON (docs/plugin.md).
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "measured.json"
        if board.processor is boards.ARM:
            code = qemu_arm.interact(what, board.name, plugin=plugin(board, machine, out), seconds=seconds)
        else:
            code = qemu.interact(what, plugin=plugin(board, machine, out), seconds=seconds)
        if not out.exists():
            raise CobnutError("the plugin wrote nothing")
        return code, out.read_text()
