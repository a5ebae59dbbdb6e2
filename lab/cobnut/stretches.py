# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the kernel keeps interrupts off: the plugin's longest stretches for each of x2test's ways to provoke
them.
"""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from cobnut import boards, paths
from cobnut.boards import Board
from cobnut.emulators import Boot, Outcome, qemu, qemu_arm
from cobnut.emulators.qemu import Plugin
from cobnut.errors import CobnutError
from cobnut.modules import alone

MEMORY_MB = 256
KERNEL_KB = 56 << 10  # what the kernel gets of it on a PC, for a thousand spaces; an ARM board's kernel takes a quarter
TIMEOUT_SECONDS = 600
THE_PROGRAMS_OWN = 2  # spaces: sigma0's and the root server's
CASE = re.compile(r"^case (\d+) latency\.(\w+)$", re.MULTILINE)
PASSED = re.compile(r"^x2test: (\d+) passed, 0 failed$", re.MULTILINE)


@dataclass(frozen=True)
class Stretch:
    """The longest one that was seen in a case: instructions, and the functions that most of them are in."""

    instructions: int
    most_in: tuple[str, ...]


@dataclass(frozen=True)
class Seen:
    """What the plugin writes of a case."""

    case: int
    instructions: int
    most_in: list[tuple[str, int]]


@dataclass(frozen=True)
class Written:
    """What the plugin writes."""

    cases: list[Seen]


WRITTEN = TypeAdapter(Written)


def measure(board: Board, *, spaces: int, threads: int, only: str = "", area_mb: int = 512) -> dict[str, Stretch]:
    """Of each case whose name contains `only`, among `spaces` spaces, with `threads` threads in a crowd.

    `area_mb`: what a PC's kernel sets aside for small spaces.
    """
    others = max(0, spaces - THE_PROGRAMS_OWN)
    arguments = f"filter=latency.{only} latency=1 spaces={others} threads={threads} area={area_mb}"
    modules = alone(board, "x2test", arguments)
    options = "" if board.processor is boards.ARM else f"kmem={KERNEL_KB} small={area_mb}"
    what = Boot(board.kernel, modules, options, memory_mb=board.memory_mb or MEMORY_MB)
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "stretches.json"
        outcome = _run(board, what, out)
        if outcome.timed_out or not PASSED.search(outcome.console):
            failed = "; ".join(line for line in outcome.console.splitlines() if line.startswith("FAIL"))
            why = failed or outcome.console[-300:]
            raise CobnutError(f"{board.name}, {spaces} spaces: x2test does not pass: {why}")
        return read(outcome.console, out.read_text())


def _run(board: Board, what: Boot, out: Path) -> Outcome:
    plugin = Plugin(paths.PLUGIN, (("mode", "stretch"), ("kernel", str(board.kernel_executable)), ("out", str(out))))
    if board.processor is boards.ARM:
        return qemu_arm.run(what, board.name, timeout=TIMEOUT_SECONDS, plugin=plugin)
    return qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=plugin)


def read(console: str, written: str) -> dict[str, Stretch]:
    """What the plugin wrote, by the names that the guest printed. A case without a stretch was not measured."""
    try:
        by_number = {one.case: one for one in WRITTEN.validate_json(written).cases}
    except ValidationError as error:
        raise CobnutError(f"the stretches cannot be read: {error.errors()[0]['msg']}") from None
    found = {}
    for number, name in CASE.findall(console):
        one = by_number.get(int(number))
        if not one:
            raise CobnutError(f"the plugin has seen nothing of latency.{name}")
        found[name] = Stretch(one.instructions, tuple(function for function, _ in one.most_in))
    return found
