# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot that is measured on a machine."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from cobnut import paths, recording
from cobnut.boards import Board
from cobnut.emulators.qemu import Plugin
from cobnut.errors import CobnutError
from cobnut.guests import Guest
from cobnut.machines import Machine
from cobnut.windows import Wish

NO_SYMBOL = "no symbol "  # begins warnings about symbols of ours, which no other kernel has


def plugin(
    board: Board, machine: Machine, out: Path, changes: Iterable[str] = (), *, more: Iterable[tuple[str, str]] = ()
) -> Plugin:
    """The plugin as a model of `machine` that writes what it measures of `board`'s kernel to `out` (docs/plugin.md).

    `changes` of the machine are PARAMETER:VALUE each; `more` are further arguments of the plugin's.
    """
    return plugin_for((("kernel", str(board.kernel_executable)),), machine, out, changes, more=more)


def plugin_for(
    names: Iterable[tuple[str, str]],
    machine: Machine,
    out: Path,
    changes: Iterable[str] = (),
    *,
    more: Iterable[tuple[str, str]] = (),
) -> Plugin:
    """The same for any kernel, whose code has these `names` (`guests.Guest`)."""
    arguments = (("machine", str(machine.path)), *names, ("out", str(out)))
    return Plugin(paths.PLUGIN, (*arguments, *(("set", change) for change in changes), *more))


def boot(
    guest: Guest, machine: Machine, changes: Iterable[str] = (), *, more: Iterable[tuple[str, str]] = ()
) -> tuple[int, str]:
    """Boots with the console on this terminal; returns the guest's number and the plugin's JSON (docs/plugin.md). For
    `changes` and `more` see `plugin`.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "measured.json"
        code = guest.interact(plugin_for(guest.names, machine, out, changes, more=(*guest.cases, *more)))
        if not out.exists():
            raise CobnutError("the plugin wrote nothing")
        return code, out.read_text()


def boot_in_windows(guest: Guest, machine: Machine, wish: Wish) -> tuple[int, str]:
    """The same in random windows; a file of windows says whose they are."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        note = Path(folder) / "note"
        recording.write_note(guest.boot, guest.board, "QEMU", note)
        return boot(guest, machine, more=[*wish.plugin_arguments, ("note", str(note))])
