# SPDX-License-Identifier: GPL-2.0-or-later
"""An hour of the guest's time at a desktop that has all to do at once, under the sanitizer, in pieces (`pieces.py`),
which build/reports/workplace keeps: on the screen Doom plays, a file is compiled, and a web server serves a crowd.
"""

import random
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cobnut import linux_guest, paths, sanitizing
from cobnut.emulators import qemu
from cobnut.findings import Findings, read
from cobnut.linux import books, fastcgi, guest, images, pieces, stroll
from cobnut.linux.books import MORE_PAGES
from cobnut.linux.guest import Wish
from cobnut.linux.pieces import Piece

REPORTS = paths.REPORTS / "workplace"
IMAGE, SCREEN = "workplace", "640x480"
PLACEMENT = "none"  # with all that the image has the server fits no small space
SCRIPTS = ("workplace.sh", "doom.sh", "web.sh")
SOURCE = "forks.c"
PIECES, SECONDS = 6, 600  # of the guest's time; what has begun by then comes to its end
INSTRUCTION_LOG2_NS = 6  # 16 million instructions a second
HOST_SECONDS = 4 * 3600  # a piece that takes so long has stopped
KINDS = ("game", "object", "crowd")
GAME = "stroll"


@dataclass(frozen=True)
class Work:
    """What a piece does: frames of a game, how a file is compiled, and connections of a crowd."""

    tics: int
    options: str
    connections: int

    @staticmethod
    def of(seed: int) -> "Work":
        dice = random.Random(seed)
        return Work(dice.randint(20, 100), dice.choice(("-O0", "-O1", "-O2", "-Os")), dice.randint(20, 200))

    def command(self, seconds: int) -> str:
        """For so long, or at least once."""
        works = f"works {seconds} {GAME} {self.options} {self.connections}"
        return f"busybox dmesg -c >/dev/null; . ./workplace.sh; {works}; echo status $?; {pieces.LOG}"


def run(seed: int | None = None, count: int = PIECES, seconds: int = SECONDS, at_once: int | None = None) -> str:
    """Runs the pieces that are missing, and says what all of them have done. Raises for one that did not pass."""
    path = REPORTS / f"hour-{count}x{seconds}.json"
    state = pieces.run("a workplace", path, partial(run_piece, seconds=seconds), count, seed, at_once)
    told = ", ".join(f"{state.done(kind):,} of {kind}" for kind in KINDS)
    return f"{count} pieces of {seconds} s of the guest's time, seed {state.seed}: {told}; no report"


def run_piece(seed: int, number: int, seconds: int) -> Piece:
    """One piece: each of the three works on, Linux's log has no fault of its own, the sanitizer reports nothing stale,
    and the microkernel's books agree and have as many pages as when each has been done once, but for tables().
    """
    own_seed = pieces.seed_of(seed, number)
    work = Work.of(own_seed)
    log = REPORTS / f"piece-{number}.log"
    short, _ = _boot(work.command(1), work, log)
    before = pieces.at_the_end(short, log)
    console, found = _boot(work.command(seconds), work, log)
    after = pieces.at_the_end(console, log)
    operations = {kind: int(count) for count, kind in re.findall(r"workplace: (\d+) of (\w+)", console)}
    stale = found.of_the_kernel
    holds = (
        ("something was not done well", re.search("^status 0$", console, re.MULTILINE)),
        ("something was not done at all", all(operations.get(kind) for kind in KINDS)),
        (f"the sanitizer reports: {' '.join(stale[:3])}", not stale),
    )
    where = f"piece {number + 1} with seed {own_seed} ({log})"
    pieces.raise_unless(holds, console, before, after, where, MORE_PAGES + tables())
    return Piece(own_seed, PLACEMENT, {kind: operations[kind] for kind in KINDS}, after.pages)


def tables() -> int:
    """Pages of page tables that root and sigma0 keep of memory that Linux has touched, at most: a table and its notes
    for 4 MB. A longer run touches more of it. A process that was left behind would have 20 pages.
    """
    return 2 * 2 * images.find(IMAGE).memory_mb // 4


def _boot(command: str, work: Work, log: Path) -> tuple[str, Findings]:
    """The console of a guest that runs a command on its desktop, which is kept in `log`, and what was found."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as given:
        folder = Path(given)
        files, out = folder / "files", folder / "reports.json"
        files.mkdir()
        others = (linux_guest.program("visitor"), fastcgi.ensure())
        for path in (*(images.FOLDER / name for name in (*SCRIPTS, SOURCE)), *others):
            shutil.copy2(path, files)
        (files / f"{GAME}.lmp").write_bytes(stroll.demo(work.tics))
        wish = Wish(IMAGE, run=command, files=files, small=PLACEMENT, screen=SCREEN, display_at="none")
        boot = replace(
            guest.with_root(guest.prepare(wish, folder), books.ASKED), instruction_log2_ns=INSTRUCTION_LOG2_NS
        )
        plugin = sanitizing.plugin_for([("kernel", str(boot.kernel))], out)
        console = qemu.run(boot, timeout=HOST_SECONDS, plugin=plugin).console
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(console)
        return console, read(out)
