# SPDX-License-Identifier: GPL-2.0-or-later
"""The boots of an experiment: several at a time, told to the meter, and what the plugin wrote in each."""

import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from cobnut import boards, findings, sanitizing
from cobnut.boards import Board
from cobnut.emulators import Boot, Outcome, qemu, qemu_arm
from cobnut.experiments import Lab
from cobnut.findings import Findings

AT_ONCE = 2

What = TypeVar("What")
Found = TypeVar("Found")


def each(
    lab: Lab,
    wanted: Iterable[What],
    one: Callable[[What], Found],
    note: Callable[[What], str] = str,
    *,
    at_once: int = AT_ONCE,
) -> list[Found]:
    """What `one` finds for each that is `wanted`, in their order; so many run at a time.

    The meter counts each by its `note`. None is tried again: what `one` raises ends the whole, and those that have not
    begun do not begin.
    """
    every = list(wanted)
    lab.meter.expect(len(every))

    def counted(what: What) -> Found:
        found = one(what)
        lab.meter.advance(note=note(what))
        return found

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(counted, every))


def mapped(
    lab: Lab,
    wanted: Iterable[What],
    one: Callable[[What], Found],
    note: Callable[[What], str] = str,
    *,
    at_once: int = AT_ONCE,
) -> dict[What, Found]:
    """The same by what was wanted."""
    every = list(wanted)
    return dict(zip(every, each(lab, every, one, note, at_once=at_once), strict=True))


def run(board: Board, what: Boot, timeout: float, plugin: qemu.Plugin) -> Outcome:
    """Boots on the emulator of the board's processor, for at most `timeout` seconds of processor time."""
    if board.processor is boards.ARM:
        return qemu_arm.run(what, board.name, timeout=timeout, plugin=plugin)
    return qemu.run(what, timeout=timeout, plugin=plugin)


def sanitized(
    board: Board,
    what: Boot,
    timeout: float,
    *,
    stop_at_first: bool = False,
    stop_after: int | None = None,
    watch: Sequence[tuple[int, int]] = (),
) -> tuple[Outcome, Findings]:
    """Boots under the sanitizer (`sanitizing.plugin` says what the arguments do). Only a boot that did not end well may
    leave no findings.
    """
    executable = board.kernel_executable if board.processor is boards.ARM else what.kernel
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "reports.json"
        plugin = sanitizing.plugin(executable, out, stop_at_first=stop_at_first, stop_after=stop_after, watch=watch)
        outcome = run(board, what, timeout, plugin)
        ended_well = outcome.code == 0 and not outcome.timed_out
        return outcome, findings.read(out) if ended_well or out.exists() else findings.NOTHING
