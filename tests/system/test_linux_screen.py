# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's screen, keyboard and mouse by the drivers of servers/: what programs draw on /dev/fb0 is seen, pixel by
pixel, what a person does arrives as events, and drivers that die cost the picture alone.
"""

import re

import pytest
from guest_programs import compiled
from linux_boots import console_of, with_root
from monitor import running_boot
from pictures import pattern, put

from cobnut.linux import drivers, guest
from cobnut.linux.guest import Wish

WIDTH, HEIGHT = 800, 600
CHILDREN = 60  # of linux/guests/painter.c, that it forks on a key; fewer are forked while Linux comes up
KEYS = {"up": 103, "a": 30, "kp_enter": 96, "shift": 42, "alt_r": 100, "f12": 88, "q": 16}  # as Linux numbers them


@pytest.fixture
def files(tmp_path):
    """A folder with the program that draws."""
    folder = tmp_path / "files"
    folder.mkdir()
    compiled("painter", folder)
    return folder


def painting(tmp_path, files, root="", **wished):
    """A guest that draws, with further words for its root server."""
    wish = Wish(run="./painter", files=files, screen=f"{WIDTH}x{HEIGHT}", display_at="none", **wished)
    return running_boot(tmp_path, with_root(guest.prepare(wish, tmp_path), root))


def is_pattern(width, height, pixels):
    return (width, height) == (WIDTH, HEIGHT) and pixels == pattern(WIDTH, HEIGHT)


def is_black(width, height, pixels):
    return (width, height) == (WIDTH, HEIGHT) and not any(pixels)


@pytest.mark.parametrize("small", guest.SMALL)
def test_a_person_draws(files, tmp_path, small):
    with painting(tmp_path, files, small=small) as machine:
        assert f"painter: {WIDTH} x {HEIGHT}\n" in machine.until(b"painter: ready")
        assert is_pattern(*machine.picture())
        drawn = pattern(WIDTH, HEIGHT)
        machine.move(100, 50)
        machine.until(b"painter: mouse 100 50 buttons 0")
        machine.move(20, 30, buttons=1)
        machine.until(b"painter: mouse 120 80 buttons 1")
        put(drawn, WIDTH, 100, 50, b"\xff\0\0")  # where it was when the button went down
        put(drawn, WIDTH, 120, 80, b"\xff\0\0")
        assert machine.picture()[2] == drawn
        machine.move(-110, -70, buttons=0)
        machine.until(b"painter: mouse 10 10 buttons 0")
        machine.press(*KEYS)
        said = machine.until(b"key %d up" % KEYS["q"]) + f"key {KEYS['q']} up"
        expected = [(str(code), way) for code in KEYS.values() for way in ("down", "up")]
        assert re.findall(r"key (\d+) (\w+)", said) == expected
        machine.until(b"guest: status 0")


def test_drivers_that_die_cost_the_picture_alone(files, tmp_path):
    with painting(tmp_path, files, root=f"drop={CHILDREN}") as machine:
        machine.until(b"painter: ready")
        assert is_pattern(*machine.picture())
        machine.press("f")
        said = machine.until(b"painter: forked")
        for _ in range(len(drivers.SCREEN) - said.count(": started again")):
            machine.until(b": started again")
        assert machine.shows(is_black), "as a display is that is new"
        machine.press("r")
        machine.until(b"painter: painted")
        assert is_pattern(*machine.picture())
        machine.move(30, 40)
        machine.until(b"painter: mouse 30 40 buttons 0")


def test_a_server_that_is_started_again_has_its_screen_again(files, tmp_path):
    with painting(tmp_path, files, root=f"starts=2 kill={CHILDREN}") as machine:
        machine.until(b"painter: ready")
        machine.press("f")
        machine.until(b"the server is started again")
        machine.until(b"painter: ready")
        assert is_pattern(*machine.picture())
        machine.press("a")
        machine.until(b"painter: key 30 up")


def test_a_screen_on_bochs(files, tmp_path):
    """Where nobody looks: what is drawn is read again."""
    wish = Wish(run="./painter once", files=files, screen="640x480", emulator="bochs")
    console = console_of(guest.prepare(wish, tmp_path), "bochs")
    assert "painter: 640 x 480\npainter: read as drawn\n" in console, console


def test_linux_without_a_screen_has_no_devices_for_one(tmp_path):
    console = console_of(guest.prepare(Wish(run="ls /dev/fb0 /dev/input 2>&1"), tmp_path), "qemu")
    assert console.count("No such file or directory") == 2, console
