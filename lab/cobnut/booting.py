# SPDX-License-Identifier: GPL-2.0-or-later
"""What `boot` and `record` do with a guest: a run with the console on this terminal, plain, measured, under the
sanitizer, under gdb or recorded.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from cobnut import build as building
from cobnut import guests, machines, paths, writable
from cobnut.boards import Board
from cobnut.errors import CobnutError
from cobnut.guests import Asked, Guest
from cobnut.windows import Wish


@dataclass(frozen=True)
class Ways:
    """How a run is observed, by the options of `boot`."""

    sanitize: bool = False
    machine: str | None = None
    json: Path | None = None
    gdb: bool = False
    ex: tuple[str, ...] = ()
    windows: Wish | None = None


def boot(asked: Asked, ways: Ways) -> int:
    """Boots what is asked for and looks at it in these ways; returns the exit status."""
    check(guests.check(asked), asked, ways)
    guest = guests.resolve(asked)
    guest.ensure_emulator()
    if ways.sanitize:
        return sanitized(guest)
    if ways.machine:
        return measured(guest, ways.machine, ways.json, ways.windows)
    if ways.gdb:
        from cobnut import debugging

        return debugging.run(guest.board, guest.boot, list(ways.ex))
    return guest.interact()


def check(board: Board, asked: Asked, ways: Ways) -> None:
    """Refuses ways of looking that do not go together or not with what is asked for."""
    looking = {"--sanitize": ways.sanitize, "--machine": ways.machine is not None, "--gdb": ways.gdb}
    for option, given in looking.items():
        if given and asked.emulator != "qemu":
            raise CobnutError(f"{option}: works on qemu, not on {asked.emulator}")
    chosen = [option for option, given in looking.items() if given]
    if len(chosen) > 1:
        raise CobnutError(f"{chosen[1]}: does not go with {chosen[0]}")
    _check_debugging(asked, ways)
    for option, words in (("--region", asked.region), ("--program", asked.program)):
        if words and not ways.machine:
            raise CobnutError(f"{option}: is for --machine")
    if asked.processes and not ways.machine:
        raise CobnutError("--processes: is for --machine")
    for option, wanted in (("--json", ways.json), ("--windows", ways.windows)):
        if wanted and not ways.machine:
            raise CobnutError(f"{option}: is for --machine")
    if ways.machine:
        machines.locate(ways.machine)
        machines.check_architecture(ways.machine, board)
    writable.check(f"--json {ways.json}", ways.json, writable.try_file)


def _check_debugging(asked: Asked, ways: Ways) -> None:
    if ways.ex and not ways.gdb:
        raise CobnutError("--ex: is for --gdb")
    others = {"--image": asked.image, "--seconds": asked.seconds is not None, "--until": asked.until is not None}
    for option, given in others.items():
        if ways.gdb and given:
            raise CobnutError(f"--gdb: does not go with {option}")


def measured(guest: Guest, machine: str, json: Path | None, wish: Wish | None = None) -> int:
    """Prints where the modelled cycles of each case of the guest's go, or of its whole run; returns its status."""
    from cobnut import measuring, sampled, tables

    building.lab()
    described = machines.load(machine)
    if wish:
        code, text = measuring.boot_in_windows(guest, described, wish)
        doubts = sampled.show(text)["warnings"]
    else:
        code, text = measuring.boot(guest, described)
        doubts = tables.show_measured(described.name, text)["warnings"]
    for doubt in doubts:
        if not (guest.foreign and doubt.startswith(measuring.NO_SYMBOL)):
            print(f"note: {doubt}")
    if json:
        json.write_text(text)
    return code


def sanitized(guest: Guest) -> int:
    """Prints the sanitizer's reports; 0 if there are none and the guest ended well."""
    from cobnut import findings, sanitizing

    building.lab()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "reports.json"
        code = guest.interact(sanitizing.plugin_for(guest.names, out))
        found = findings.read(out)
    print(sanitizing.say(found))
    return 1 if found.reports or code else 0


def record(asked: Asked, out: Path) -> int:
    """Records the guest to the file `out`; returns its status."""
    from cobnut import recording

    guests.check(asked)
    writable.check(f"--out {out}", out, writable.try_file)
    guest = guests.resolve(asked)
    version = guest.ensure_emulator()
    building.lab()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        note = Path(folder) / "note"
        recording.write_note(guest.boot, guest.board, f"QEMU {version}", note)
        code = guest.interact(recording.plugin_for(guest.names, out, [("note", str(note)), *guest.cases]))
    print(f"recorded: {paths.shown(out)}, {out.stat().st_size:,} bytes")
    return code
