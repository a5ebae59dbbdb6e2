# SPDX-License-Identifier: GPL-2.0-or-later
"""Long runs of Linux as a server, in pieces: each is a boot with a seed of its own, after which the microkernel's books
have to be as they were. What has passed is kept, so that a run that was interrupted goes on with
the piece that it was in.
"""

import hashlib
import json
import os
import random
import re
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Lock

from cobnut import boards, progress
from cobnut.errors import CobnutError
from cobnut.linux import books, guest, server
from cobnut.linux.books import MORE_PAGES, OF_ITS_OWN, Books

MARK = "end-of-the-log"
LOG = f"echo {MARK} >/dev/kmsg; busybox dmesg"  # the last that a piece's shell does


@dataclass(frozen=True)
class Piece:
    """What one boot has done: operations by kind, and the microkernel's pages in use after the last program."""

    seed: int
    placement: str
    operations: dict[str, int]
    pages: int


@dataclass
class Pieces:
    """The state of a run: the seed, what is run with it, and the pieces that have passed, by number."""

    seed: int
    images: str
    passed: dict[str, Piece] = field(default_factory=dict)

    def missing(self, pieces: int) -> list[int]:
        return [number for number in range(pieces) if str(number) not in self.passed]

    def done(self, kind: str) -> int:
        """Operations of all pieces."""
        return sum(piece.operations[kind] for piece in self.passed.values())

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = path.with_suffix(".new")  # an interruption leaves the one or the other
        whole.write_text(json.dumps(asdict(self), indent=1))
        whole.replace(path)

    @staticmethod
    def load(path: Path) -> "Pieces | None":
        """The state that is kept there, or none if there is none that can be read."""
        try:
            kept = json.loads(path.read_text())
            passed = {number: Piece(**piece) for number, piece in kept["passed"].items()}
            return Pieces(kept["seed"], kept["images"], passed)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None


def current(path: Path, images: str, pieces: int, seed: int | None = None) -> Pieces:
    """The run to go on with: the one that is kept if it is of these images and of that seed and has not ended, or else
    a new one.
    """
    kept = Pieces.load(path)
    if kept and kept.images == images and seed in (None, kept.seed) and kept.missing(pieces):
        return kept
    return Pieces(random.randrange(1 << 32) if seed is None else seed, images)


def run(
    name: str, path: Path, one: Callable[[int, int], Piece], pieces: int, seed: int | None, at_once: int | None
) -> Pieces:
    """Runs the pieces that are missing, `one(SEED, NUMBER)` each, one a processor at a time unless `at_once` is given;
    `path` keeps what has passed. Raises for one that did not pass: those that run then come to their end, and the
    others do not begin.
    """
    guest.ensure()
    state = current(path, images_of_all(), pieces, seed)
    state.save(path)
    missing = state.missing(pieces)
    kept, failed = Lock(), Event()
    with progress.meter(f"{name}, seed {state.seed}") as meter:
        meter.total(pieces)
        meter.advance(pieces - len(missing))

        def keep(number: int) -> None:
            if failed.is_set():
                return
            try:
                piece = one(state.seed, number)
            except BaseException:
                failed.set()
                raise
            with kept:
                state.passed[str(number)] = piece
                state.save(path)
            meter.advance()

        with ThreadPoolExecutor(at_once or len(os.sched_getaffinity(0))) as pool:
            list(pool.map(keep, missing))
    return state


def seed_of(seed: int, number: int) -> int:
    """A piece's own."""
    return (seed + number) % (1 << 32)


def at_the_end(console: str, log: Path) -> Books:
    """The books behind the last program."""
    match books.told(console):
        case [_, last]:
            return last
    raise CobnutError(f"a piece has not come to its end ({log})")


def raise_unless(
    holds: Iterable[tuple[str, object]], console: str, before: Books, after: Books, where: str, more: int = MORE_PAGES
) -> None:
    """What has to hold of a piece's console beside Linux' own log and the microkernel's books, which may have so many
    pages `more`; `where` names it.
    """
    wrong = [
        why
        for why, each in (
            *holds,
            ("Linux' log is missing", re.search(rf"\] {MARK}$", console, re.MULTILINE)),
            ("Linux' log has a fault", not OF_ITS_OWN.search(console)),
            (f"{after.faults} faults in the microkernel's books", not after.faults),
            (f"{after.pages} pages are in use instead of {before.pages}", after.pages <= before.pages + more),
        )
        if not each
    ]
    if wrong:
        raise CobnutError(f"{where}: {'; '.join(wrong)}")


def images_of_all() -> str:
    """What the pieces of a run have in common: the microkernel, root, and Linux."""
    pc = boards.find("pc")
    files = (pc.kernel, pc.program("sigma0"), pc.program(guest.ROOT), server.ensure().executable)
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
