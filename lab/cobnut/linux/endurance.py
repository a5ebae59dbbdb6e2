# SPDX-License-Identifier: GPL-2.0-or-later
"""A day of the guest's time under stress-ng, in pieces: each is a boot with a seed and a placement of its own. What has
passed is kept in build/reports/endurance, so that a day that was interrupted goes on with the piece that it was in.
"""

import hashlib
import json
import os
import random
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event, Lock

from cobnut import boards, paths, progress
from cobnut.emulators import qemu
from cobnut.errors import CobnutError
from cobnut.linux import books, guest, server
from cobnut.linux.books import MORE_PAGES, OF_ITS_OWN, Books
from cobnut.linux.guest import Wish

REPORTS = paths.REPORTS / "endurance"
IMAGE = "tools"
PIECES, SECONDS = 24, 3600  # of the guest's time; stress-ng's own is at most some seconds longer
PLACEMENTS = ("none", "server", "all")  # by turns
STRESSORS = ("vm", "fork", "pipe", "signal", "futex", "mmap")
SIZES = "--vm-bytes 4M --mmap-bytes 2M"
CPU = "pentium3,+sse2,+clflush"  # one of the stressor vm's ways clears cache lines
INSTRUCTION_LOG2_NS = 6  # 16 million instructions a second, so that the emulator is faster than the guest's clock
HOST_SECONDS = 4 * SECONDS  # a piece that takes so long has stopped
MARK = "end-of-the-log"


@dataclass(frozen=True)
class Piece:
    """What one boot has done: operations by stressor, and the microkernel's pages in use after the last program."""

    seed: int
    placement: str
    operations: dict[str, int]
    pages: int


@dataclass
class Day:
    """The state of a day: the seed, what is run with it, and the pieces that have passed, by number."""

    seed: int
    images: str
    passed: dict[str, Piece] = field(default_factory=dict)

    def missing(self, pieces: int) -> list[int]:
        return [number for number in range(pieces) if str(number) not in self.passed]

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(".new")  # an interruption leaves the one or the other
        whole.write_text(json.dumps(asdict(self), indent=1))
        whole.replace(path)

    @staticmethod
    def load(path: Path) -> "Day | None":
        """The one that is kept there, or none if there is none that can be read."""
        try:
            kept = json.loads(path.read_text())
            passed = {number: Piece(**piece) for number, piece in kept["passed"].items()}
            return Day(kept["seed"], kept["images"], passed)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None


def current(path: Path, images: str, pieces: int, seed: int | None = None) -> Day:
    """The day to go on with: the one that is kept if it is of these images and of that seed and has not ended, or else
    a new one.
    """
    kept = Day.load(path)
    if kept and kept.images == images and seed in (None, kept.seed) and kept.missing(pieces):
        return kept
    return Day(random.randrange(1 << 32) if seed is None else seed, images)


def run(seed: int | None = None, pieces: int = PIECES, seconds: int = SECONDS, at_once: int | None = None) -> str:
    """Runs the pieces that are missing, one a processor at a time unless `at_once` is given, and says what all of them
    have done. Raises for one that did not pass: those that run then come to their end, and the others do not begin.
    """
    guest.ensure()
    path = REPORTS / f"day-{pieces}x{seconds}.json"
    day = current(path, _images(), pieces, seed)
    day.save(path)
    missing = day.missing(pieces)
    kept, failed = Lock(), Event()
    with progress.meter(f"stress-ng, seed {day.seed}") as meter:
        meter.total(pieces)
        meter.advance(pieces - len(missing))

        def keep(number: int) -> None:
            if failed.is_set():
                return
            try:
                piece = run_piece(day.seed, number, seconds)
            except BaseException:
                failed.set()
                raise
            with kept:
                day.passed[str(number)] = piece
                day.save(path)
            meter.advance()

        with ThreadPoolExecutor(at_once or len(os.sched_getaffinity(0))) as pool:
            list(pool.map(keep, missing))
    done = {name: sum(piece.operations[name] for piece in day.passed.values()) for name in STRESSORS}
    told = ", ".join(f"{count:,} {name}" for name, count in done.items())
    return f"{pieces} pieces of {seconds} s of the guest's time, seed {day.seed}: operations {told}"


def run_piece(seed: int, number: int, seconds: int) -> Piece:
    """One piece: stress-ng finds nothing wrong, Linux's log has no fault of its own, and the microkernel's books agree
    and have as many pages as when nothing but the shell had run.
    """
    placement, own_seed = PLACEMENTS[number % len(PLACEMENTS)], (seed + number) % (1 << 32)
    log = REPORTS / f"piece-{number}.log"
    before = _at_the_end(_boot("true", placement, log), log)
    hogs = " ".join(f"--{name} 1" for name in STRESSORS)
    command = (
        f"cd /tmp; busybox dmesg -c >/dev/null; stress-ng --seed {own_seed} --verify {hogs} {SIZES}"
        f" --timeout {seconds} --metrics-brief; echo status $?; echo {MARK} >/dev/kmsg; busybox dmesg"
    )
    console = _boot(command, placement, log)
    after = _at_the_end(console, log)
    operations = {name: int(count) for name, count in re.findall(r"metrc: \[\d+\] (\w+) +(\d+) +\d", console)}
    wrong = [
        why
        for why, holds in (
            ("stress-ng has failed", re.search("^status 0$", console, re.MULTILINE)),
            ("a stressor was ended", "unexpected signal" not in console),
            ("Linux' log is missing", re.search(rf"\] {MARK}$", console, re.MULTILINE)),
            ("Linux' log has a fault", not OF_ITS_OWN.search(console)),
            ("a stressor is missing", set(STRESSORS) <= operations.keys()),
            (f"{after.faults} faults in the microkernel's books", not after.faults),
            (f"{after.pages} pages are in use instead of {before.pages}", after.pages <= before.pages + MORE_PAGES),
        )
        if not holds
    ]
    if wrong:
        raise CobnutError(f"piece {number + 1} with seed {own_seed}, --small {placement}: {'; '.join(wrong)} ({log})")
    return Piece(own_seed, placement, {name: operations[name] for name in STRESSORS}, after.pages)


def _at_the_end(console: str, log: Path) -> Books:
    match books.told(console):
        case [_, at_the_end]:
            return at_the_end
    raise CobnutError(f"a piece has not come to its end ({log})")


def _boot(command: str, placement: str, log: Path) -> str:
    """The console of a guest that runs a command, which is kept in `log`."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        boot = guest.prepare(Wish(IMAGE, run=command, small=placement, cpu=CPU), Path(folder))
        boot = replace(guest.with_root(boot, books.ASKED), instruction_log2_ns=INSTRUCTION_LOG2_NS)
        console = qemu.run(boot, timeout=HOST_SECONDS, repeatable=True).console
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(console)
    return console


def _images() -> str:
    """What the pieces of a day have in common: the microkernel, root, and Linux."""
    pc = boards.find("pc")
    files = (pc.kernel, pc.program("sigma0"), pc.program(guest.ROOT), server.ensure().executable)
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
