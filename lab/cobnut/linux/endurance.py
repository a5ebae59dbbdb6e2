# SPDX-License-Identifier: GPL-2.0-or-later
"""A day of the guest's time under stress-ng, in pieces (`pieces.py`), which build/reports/endurance keeps."""

import re
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from cobnut import paths
from cobnut.emulators import qemu
from cobnut.linux import books, guest, pieces
from cobnut.linux.guest import Wish
from cobnut.linux.pieces import Piece

REPORTS = paths.REPORTS / "endurance"
IMAGE = "tools"
PLACEMENTS = ("none", "server", "all")  # by turns
PIECES, SECONDS = 24, 3600  # of the guest's time; stress-ng's own is at most some seconds longer
STRESSORS = ("vm", "fork", "pipe", "signal", "futex", "mmap")
SIZES = "--vm-bytes 4M --mmap-bytes 2M"
CPU = "pentium3,+sse2,+clflush"  # one of the stressor vm's ways clears cache lines
INSTRUCTION_LOG2_NS = 6  # 16 million instructions a second, so that the emulator is faster than the guest's clock
HOST_SECONDS = 4 * SECONDS  # a piece that takes so long has stopped


def run(seed: int | None = None, count: int = PIECES, seconds: int = SECONDS, at_once: int | None = None) -> str:
    """Runs the pieces that are missing, and says what all of them have done. Raises for one that did not pass."""
    path = REPORTS / f"day-{count}x{seconds}.json"
    state = pieces.run("stress-ng", path, partial(run_piece, seconds=seconds), count, seed, at_once)
    told = ", ".join(f"{state.done(name):,} {name}" for name in STRESSORS)
    return f"{count} pieces of {seconds} s of the guest's time, seed {state.seed}: operations {told}"


def run_piece(seed: int, number: int, seconds: int) -> Piece:
    """One piece: stress-ng finds nothing wrong, Linux's log has no fault of its own, and the microkernel's books agree
    and have as many pages as when nothing but the shell had run.
    """
    placement, own_seed = PLACEMENTS[number % len(PLACEMENTS)], pieces.seed_of(seed, number)
    log = REPORTS / f"piece-{number}.log"
    before = pieces.at_the_end(_boot("true", placement, log), log)
    hogs = " ".join(f"--{name} 1" for name in STRESSORS)
    command = (
        f"cd /tmp; busybox dmesg -c >/dev/null; stress-ng --seed {own_seed} --verify {hogs} {SIZES}"
        f" --timeout {seconds} --metrics-brief; echo status $?; {pieces.LOG}"
    )
    console = _boot(command, placement, log)
    after = pieces.at_the_end(console, log)
    operations = {name: int(count) for name, count in re.findall(r"metrc: \[\d+\] (\w+) +(\d+) +\d", console)}
    holds = (
        ("stress-ng has failed", re.search("^status 0$", console, re.MULTILINE)),
        ("a stressor was ended", "unexpected signal" not in console),
        ("a stressor is missing", set(STRESSORS) <= operations.keys()),
    )
    where = f"piece {number + 1} with seed {own_seed}, --small {placement} ({log})"
    pieces.raise_unless(holds, console, before, after, where)
    return Piece(own_seed, placement, {name: operations[name] for name in STRESSORS}, after.pages)


def _boot(command: str, placement: str, log: Path) -> str:
    """The console of a guest that runs a command, which is kept in `log`."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        boot = guest.prepare(Wish(IMAGE, run=command, small=placement, cpu=CPU), Path(folder))
        boot = replace(guest.with_root(boot, books.ASKED), instruction_log2_ns=INSTRUCTION_LOG2_NS)
        console = qemu.run(boot, timeout=HOST_SECONDS, repeatable=True).console
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(console)
    return console
