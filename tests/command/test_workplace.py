# SPDX-License-Identifier: GPL-2.0-or-later
"""An hour at a desktop in pieces: what passes and what does not. No guest runs here."""

import re

import pytest

from cobnut import findings
from cobnut.errors import CobnutError
from cobnut.findings import Report
from cobnut.linux import pieces, workplace
from cobnut.linux.books import MORE_PAGES
from cobnut.linux.pieces import Piece
from cobnut.linux.workplace import KINDS, Work, tables

IDLE = "linux-root: audit: 0 faults, 23 pages, 24 objects\nlinux-root: audit: 0 faults, 377 pages, 155 objects\n"
DONE = "".join(f"workplace: {at + 1} of {kind}\n" for at, kind in enumerate(KINDS))
ALLOWED = 377 + MORE_PAGES + tables()
GOOD = f"{DONE}status 0\n[ 61.2] {pieces.MARK}\n{IDLE}"


def ran(monkeypatch, console: str, reports: tuple[Report, ...] = ()) -> Piece:
    """A piece whose guest says `console`, under a sanitizer that reports this."""
    found = findings.Findings(list(reports), [], [], {"accesses": 1})

    def boot(command, work, log):
        return (GOOD if command == work.command(1) else console), found

    monkeypatch.setattr(workplace, "_boot", boot)
    return workplace.run_piece(100, 4, 600)


def test_a_piece_has_work_of_its_own(monkeypatch):
    piece = ran(monkeypatch, GOOD, (Report("of a program", "segment-limit", 3),))
    assert piece == Piece(104, "none", {kind: at + 1 for at, kind in enumerate(KINDS)}, 377)
    assert len({Work.of(seed) for seed in range(20)}) > 10 and Work.of(7) == Work.of(7)


@pytest.mark.parametrize(
    ("console", "why"),
    [
        (GOOD.replace("status 0", "status 1"), "something was not done well"),
        (GOOD.replace("1 of game", "0 of game"), "something was not done at all"),
        (GOOD.replace("of object", "of objects"), "something was not done at all"),
        (GOOD.replace("status 0", "status 0\n[ 3.1] BUG: bad page state"), "Linux' log has a fault"),
        (GOOD.replace("0 faults, 377", "3 faults, 377"), "3 faults in the microkernel's books"),
        (GOOD.replace("377 pages", f"{ALLOWED + 1} pages"), f"{ALLOWED + 1} pages are in use instead of 377"),
        (DONE, "a piece has not come to its end"),
    ],
)
def test_what_does_not_pass_is_said_with_its_seed(monkeypatch, console, why):
    with pytest.raises(CobnutError, match=re.escape(why)):
        ran(monkeypatch, console)


def test_a_report_of_the_kernel_does_not_pass(monkeypatch):
    with pytest.raises(CobnutError, match="piece 5 with seed 104 .*the sanitizer reports: stale"):
        ran(monkeypatch, GOOD, (Report("stale", "stale-translation", 0),))
