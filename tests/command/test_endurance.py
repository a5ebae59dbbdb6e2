# SPDX-License-Identifier: GPL-2.0-or-later
"""A day under stress-ng in pieces: what passes, what does not, and where one goes on. No guest runs here."""

import json
import re

import pytest

from cobnut.errors import CobnutError
from cobnut.linux import endurance, pieces
from cobnut.linux.endurance import STRESSORS
from cobnut.linux.pieces import Piece, Pieces

METRICS = "".join(f"stress-ng: metrc: [56] {name}  {at + 1}  65.0  0.2  0.5\n" for at, name in enumerate(STRESSORS))
IDLE = "linux-root: audit: 0 faults, 23 pages, 24 objects\nlinux-root: audit: 0 faults, 377 pages, 155 objects\n"
GOOD = f"{METRICS}status 0\n[ 60.1] random: crng init done\n[ 61.2] {pieces.MARK}\n{IDLE}"


def ran(monkeypatch, console: str, number: int = 0) -> tuple[Piece, list[tuple[str, str]]]:
    """A piece whose guest says `console`, and the commands and placements that were booted."""
    booted = []

    def boot(command, placement, log):
        booted.append((command, placement))
        return IDLE if command == "true" else console

    monkeypatch.setattr(endurance, "_boot", boot)
    return endurance.run_piece(100, number, 3600), booted


def test_a_piece_has_a_seed_and_a_placement_of_its_own(monkeypatch):
    piece, booted = ran(monkeypatch, GOOD, number=4)
    assert piece == Piece(104, "server", {name: at + 1 for at, name in enumerate(STRESSORS)}, 377)
    assert [placement for _, placement in booted] == ["server", "server"]
    assert "--seed 104 " in booted[1][0] and "--timeout 3600 " in booted[1][0] and "--verify" in booted[1][0]


@pytest.mark.parametrize(
    ("console", "why"),
    [
        (GOOD.replace("status 0", "status 2"), "stress-ng has failed"),
        (GOOD.replace("status 0", "terminated with unexpected signal signal 4\nstatus 0"), "a stressor was ended"),
        (GOOD.replace(pieces.MARK, "mark"), "Linux' log is missing"),
        (GOOD.replace("random:", "BUG: bad page state"), "Linux' log has a fault"),
        (GOOD.replace("futex", "fuzz"), "a stressor is missing"),
        (GOOD.replace("0 faults, 377", "3 faults, 377"), "3 faults in the microkernel's books"),
        (GOOD.replace("377 pages", "386 pages"), "386 pages are in use instead of 377"),
        (METRICS, "a piece has not come to its end"),
    ],
)
def test_what_does_not_pass_is_said_with_its_seed(monkeypatch, console, why):
    with pytest.raises(CobnutError, match=re.escape(why)):
        ran(monkeypatch, console)


def test_a_day_goes_on_where_it_was_interrupted(tmp_path, monkeypatch):
    asked = []

    def piece(seed, number, seconds):
        asked.append((seed, number))
        if len(asked) == 3:
            raise CobnutError("interrupted")
        return Piece(seed + number, "none", dict.fromkeys(STRESSORS, 1000), 377)

    monkeypatch.setattr(endurance, "REPORTS", tmp_path)
    monkeypatch.setattr(endurance, "run_piece", piece)
    monkeypatch.setattr(pieces.guest, "ensure", lambda: None)
    monkeypatch.setattr(pieces, "images_of_all", lambda: "these")
    with pytest.raises(CobnutError):
        endurance.run(seed=7, count=4, at_once=1)
    assert "seed 7: operations 4,000 vm" in endurance.run(count=4, at_once=1)
    assert asked == [(7, 0), (7, 1), (7, 2), (7, 2), (7, 3)]
    endurance.run(count=4)  # a day that has ended is followed by another one, here with several pieces at a time
    assert len(asked) == 9 and {number for _, number in asked[5:]} == {0, 1, 2, 3}
    assert asked[-1][0] != 7 and Pieces.load(tmp_path / "day-4x3600.json").missing(4) == []


@pytest.mark.parametrize("kept", ["", "[]", "{}", '{"seed": 1, "images": "these", "passed": {"0": 3}}', None])
def test_a_day_that_cannot_be_read_begins_anew(tmp_path, kept):
    path = tmp_path / "day.json"
    if kept is not None:
        path.write_text(kept)
    assert pieces.current(path, "these", 4, 9) == Pieces(9, "these")


def test_other_images_and_other_seeds_are_other_days(tmp_path):
    path = tmp_path / "day.json"
    day = Pieces(9, "these", {"0": Piece(9, "none", {}, 1)})
    day.save(path)
    assert json.loads(path.read_text())["seed"] == 9
    assert pieces.current(path, "these", 4) == day and pieces.current(path, "these", 4, 9) == day
    assert pieces.current(path, "those", 4).passed == {} and pieces.current(path, "these", 4, 8) == Pieces(8, "these")
