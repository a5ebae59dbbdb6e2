# SPDX-License-Identifier: GPL-2.0-or-later
"""Display, keyboard and mouse: what is drawn is seen, pixel by pixel, and what a person does arrives."""

import contextlib
import re
import struct

import pytest
from monitor import running
from pictures import pattern, put

from cobnut import fonts
from conftest import ROOT, run_cobnut

KEYS = 6  # that are typed ahead: a keyboard keeps 16 bytes, of two a key, for a machine that is late
PACK = 0x0102040810204080  # times eight bytes that are 0 or 1: their bits in the highest byte, the first one leftmost


BOARDS = ("pc", "versatilepb")


@pytest.mark.parametrize("board", BOARDS)
def test_a_person_draws(board, tmp_path):
    with running(tmp_path, "drawing", "--board", board) as machine:
        machine.until(b"paint: ready")
        width, height, shown = machine.picture()
        drawn = pattern(800, 600)
        assert (width, height) == (800, 600) and shown == drawn
        machine.move(100, 50)
        machine.until(b"paint: mouse 100 50 buttons 0")
        machine.move(20, 30, buttons=1)
        machine.until(b"paint: mouse 120 80 buttons 1")
        put(drawn, width, 100, 50, b"\xff\0\0")  # where it was when the button went down
        put(drawn, width, 120, 80, b"\xff\0\0")
        assert machine.shows(lambda _w, _h, pixels: pixels == drawn)
        machine.move(-110, -70, buttons=0)
        machine.until(b"paint: mouse 10 10 buttons 0")
        machine.press("up", "a", "q")
        said = machine.until(b"the system ends with code 0")
        assert re.findall(r"key (\w+) (\w+)", said) == [
            (key, way) for key in ("c8", "1e", "10") for way in ("down", "up")
        ]


@pytest.mark.parametrize("board", BOARDS)
def test_a_mode_that_there_is_not(board, tmp_path):
    path = tmp_path / "made.toml"
    text = (ROOT / "systems" / "drawing.toml").read_text()
    path.write_text(f'{text}arguments = "width=100000 height=2"\n')
    done = run_cobnut("boot", str(path), "--board", board, "--seconds", "60")
    assert "paint: no such mode: a bad value" in done.stdout and done.returncode == 1


class Reader:
    """Reads text off a picture by the glyphs of the console's font."""

    HEIGHT = 16

    def __init__(self, folder):
        data = fonts.write(self.HEIGHT, folder / "font").read_bytes()
        self.glyphs = {}
        for code in range(32, 127):
            start = struct.unpack_from("<8I", data)[2] + code * self.HEIGHT
            self.glyphs.setdefault(data[start : start + self.HEIGHT], chr(code))

    def lines(self, width: int, height: int, pixels: bytes) -> list[str]:
        lit = pixels[::3].translate(bytes(value > 128 for value in range(256)))  # by its red part
        rows = range(0, height - self.HEIGHT + 1, self.HEIGHT)
        return ["".join(self._row(lit, width, row)).rstrip() for row in rows]

    def _row(self, lit: bytes, width: int, top: int):
        for left in range(0, width, fonts.WIDTH):
            starts = range(top * width + left, (top + self.HEIGHT) * width, width)
            cell = bytes(int.from_bytes(lit[one : one + fonts.WIDTH]) * PACK >> 56 & 255 for one in starts)
            yield self.glyphs.get(cell, "#")


@pytest.mark.parametrize("board", BOARDS)
def test_the_shell_on_the_display(board, tmp_path):
    """Typed on the keyboard and read off the picture; the drivers of both may die."""
    reader = Reader(tmp_path)

    def says(*wanted):
        return lambda *picture: set(wanted) <= set(reader.lines(*picture))

    def enter(line):
        """Types it as its keys are seen, with the cursor behind them."""
        for end in range(KEYS, len(line) + KEYS, KEYS):
            machine.type(line[end - KEYS : end])
            assert machine.shows(says(f"> {line[:end]}#")), reader.lines(*machine.picture())
        machine.type("\n")

    with running(tmp_path, "graphic", "--board", board) as machine:
        assert machine.shows(says("Cobnut. `help` lists the commands.")), reader.lines(*machine.picture())
        enter("echo Hello; echo again")
        assert machine.shows(says("> echo Hello; echo again", "Hello", "again")), reader.lines(*machine.picture())
        for driver in ("display", "ps2"):
            enter(f"kill {driver}")
            machine.until(b"init: %s: started again" % driver.encode())
            enter(f"echo after {driver}")
            assert machine.shows(says(f"after {driver}")), reader.lines(*machine.picture())
        enter("help; help; help; echo it has scrolled")
        assert machine.shows(says("it has scrolled")), reader.lines(*machine.picture())
        assert "Hello" not in reader.lines(*machine.picture())
        with contextlib.suppress(OSError, ValueError):  # the emulator may be gone before it answers
            enter("exit 5")
        machine.until(b"the system ends with code 5")
        assert machine.process.wait() == 5


@pytest.mark.parametrize(("name", "arguments", "code"), [("graphic", "ps; exit 4", 4), ("drawing", "width=9", 1)])
def test_the_drivers_on_bochs(name, arguments, code, tmp_path):
    """Where nobody types: the system draws, or is refused a width that is no multiple of 8, and ends."""
    path = tmp_path / "made.toml"
    path.write_text(f'{(ROOT / "systems" / name).with_suffix(".toml").read_text()}arguments = "{arguments}"\n')
    done = run_cobnut("boot", str(path), "--emulator", "bochs", "--seconds", "300")
    assert f"the system ends with code {code}" in done.stdout and "without permission" not in done.stdout
