# SPDX-License-Identifier: GPL-2.0-or-later
"""Records of runs (docs/trace.md): made by the plugin, measured again and again by the laboratory's replayer."""

import hashlib
import json
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from cobnut import boards, paths
from cobnut.emulators import Boot
from cobnut.emulators.qemu import Plugin
from cobnut.errors import CobnutError
from cobnut.machines import Machine
from cobnut.measured import WHOLE, Measured, read
from cobnut.results import revision
from cobnut.windows import Wish


@WHOLE
class Header(TypedDict):
    """What a record says of itself (docs/trace.md)."""

    architecture: str
    memory_bytes: int
    provenance: Any


HEADER = TypeAdapter(Header)


@dataclass(frozen=True)
class Replayed:
    """What a record gave on one machine. `text` is the JSON that the plugin writes when it measures the run itself."""

    machine: Machine
    text: str

    @property
    def measured(self) -> Measured:
        return read(self.text)


def plugin(kernel: Path, out: Path, more: Iterable[tuple[str, str]] = ()) -> Plugin:
    """The plugin as a recorder of a guest with our kernel that writes to `out`."""
    return plugin_for((("kernel", str(kernel)),), out, more)


def plugin_for(names: Iterable[tuple[str, str]], out: Path, more: Iterable[tuple[str, str]] = ()) -> Plugin:
    """The same for any kernel, whose code has these `names` (`guests.Guest`)."""
    return Plugin(paths.PLUGIN, (("mode", "record"), *names, ("out", str(out.resolve())), *more))


def write_note(boot: Boot, board: boards.Board, emulator: str, note: Path) -> None:
    """Writes to the file `note` what a record of `boot` on `board` says of where it comes from."""
    images = [(boot.kernel.name, boot.kernel, boot.options)]
    images += [(module.name, module.path, module.arguments) for module in boot.modules]
    origin = {
        "revision": revision(),
        "emulator": emulator,
        "cpu": board.name if board.processor is boards.ARM else boot.cpu,
        "images": [
            {"name": name, "arguments": arguments, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for name, path, arguments in images
        ],
        **({"emulator_arguments": list(boot.words)} if boot.words else {}),
    }
    note.write_text(json.dumps(origin))


def header(record: Path) -> Header:
    """What the record says of itself."""
    return HEADER.validate_json(_replayer(record, "--header"))


def replay(
    record: Path,
    machine: Machine,
    changes: Sequence[str] = (),
    *,
    without_flush: bool = False,
    from_begin: bool = False,
    windows: Wish | None = None,
) -> Replayed:
    """Measures `record` on `machine`, with `changes` of its numbers, each PARAMETER:VALUE; if wanted, as it would be if
    switches flushed nothing (docs/lab.md, causes), and from the first case on, with nothing in TLBs and caches; or in
    random `windows`, of which it says something else (`sampled.Sampled`)."""
    sets = [word for change in changes for word in ("--set", change)]
    without = ("--without", "flush") if without_flush else ()
    begin = ("--from", "begin") if from_begin else ()
    sampled = windows.replay_arguments if windows else ()
    words = ("--machine", str(machine.path), *sets, *without, *begin, *sampled)
    return Replayed(machine, _replayer(record, *words).rstrip("\n"))


def events(record: Path, instructions: int) -> list[str]:
    """So many instructions of `record` from its first iteration on, with what they did (events.rs of lab/trace)."""
    return _replayer(record, "--events", str(instructions)).splitlines()


def doubts(record_header: Header, machine: Machine) -> str | None:
    """Why a record may not be what `machine` would have run, or None."""
    recorded = (record_header.get("provenance") or {}).get("cpu")
    own = machine.parameters["processor.emulated_as"].value
    if record_header["architecture"] != boards.IA32.architecture:
        return None  # its board says which machine comes closest, and no instruction is missing on the others
    if recorded in (None, own):
        return None
    return (
        f"{machine.name}: the guest saw a {recorded}, not a {own}: what this machine lacks costs nothing (record --cpu"
        f" {own})"
    )


def to_json(record: Path, replays: Sequence[Replayed]) -> str:
    """All `replays` of `record` as one JSON object; each is in it as the plugin would have written it, to the byte."""
    origin = {"sha256": hashlib.sha256(record.read_bytes()).hexdigest(), **header(record)}
    ours = [f'{{"machine_file_sha256": "{one.machine.sha256}", "measured": {one.text}}}' for one in replays]
    return f'{{"record": {json.dumps(origin)}, "replays": [\n' + ",\n".join(ours) + "\n]}\n"


def _replayer(record: Path, *arguments: str) -> str:
    command = [str(paths.REPLAYER), str(record), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"record {record}: could not be replayed"]
        raise CobnutError(lines[-1].removeprefix("cobnut-replay: "))
    return done.stdout
