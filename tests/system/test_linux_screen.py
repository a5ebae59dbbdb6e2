# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's screen, keyboard and mouse by the drivers of servers/: what programs draw on /dev/fb0 is seen, pixel by
pixel, what a person does arrives as events, and drivers that die cost the picture alone. On all that Debian's Xorg
runs: what is typed in a terminal is done, and windows go where they are drawn to.
"""

import re

import pytest
from guest_programs import compiled
from linux_boots import console_of
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
    return running_boot(tmp_path, guest.with_root(guest.prepare(wish, tmp_path), root))


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
        machine.hold("a")
        machine.until(b"painter: key 30 down")
        machine.press("f")
        wanted = {"painter: forked", *(f"init: {name}: started again" for name in drivers.SCREEN)}
        said = []
        while not wanted <= set(said):
            said.append(machine.until(b"\r\n"))
        assert machine.shows(is_black), "as a display is that is new"
        machine.press("r")
        said += machine.until(b"painter: painted").splitlines()
        assert "painter: key 30 up" in said, "which nobody has let go"
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


BACKGROUND, BORDER, WHITE = (
    b"\x20\x40\x60",
    b"\xc0\xd0\xe0",
    b"\xff\xff\xff",
)  # as linux/guests/desktop and twmrc have them
FRAME = (40, 40, 487, 338)  # of the terminal's window: where it is, and its last column and line
CELL_WIDTH, CELL_HEIGHT, COLUMNS, ROWS, TEXT_AT = 6, 13, 80, 6, (4, 23)  # of the terminal's text, from there
BLACK = bytes(value < 80 for value in range(256))
AT = len("~ # echo ")  # in the row of a command, what it says
TITLE_LINE = 50  # dotted while the window has the keys
SAID = "until [ -s /tmp/said ]; do sleep 1; done; cat /tmp/said; sleep 1000"


def frame(width, height, pixels):
    """Where the border of the one window is, and how far it goes; None if there is none."""
    lines = [pixels[3 * width * y :][: 3 * width] for y in range(height)]
    rows = [y for y, line in enumerate(lines) if BORDER * 8 in line]
    if not rows:
        return None
    top = lines[rows[0]]
    left, right = top.index(BORDER) // 3, top.rindex(BORDER) // 3
    return left, rows[0], right - left, rows[-1] - rows[0]


def characters(picture, row):
    """The cells of a row of the terminal's text, by which of their pixels are black."""
    width, _, pixels = picture
    left, top, *_ = frame(*picture)
    left, top = left + TEXT_AT[0], top + TEXT_AT[1] + row * CELL_HEIGHT
    starts = (3 * (y * width + left) for y in range(top, top + CELL_HEIGHT))
    # by its red part
    lines = [pixels[one : one + 3 * COLUMNS * CELL_WIDTH : 3].translate(BLACK) for one in starts]
    columns = range(0, COLUMNS * CELL_WIDTH, CELL_WIDTH)
    return [b"".join(line[column : column + CELL_WIDTH] for line in lines) for column in columns]


def is_asked(width, height, pixels):
    """Whether the window takes keys, as its title shows, and its shell waits for a command."""
    if frame(width, height, pixels) != FRAME:
        return False
    title = pixels[3 * (TITLE_LINE * width + FRAME[0]) :][: 3 * FRAME[2]]
    return title.count(WHITE) > COLUMNS and any(map(any, characters((width, height, pixels), ROWS - 1)))


def is_cleared(*picture):
    """Whether of the first rows, in which there was text, the first one alone has some."""
    first, *others = (any(map(any, characters(picture, row))) for row in range(ROWS))
    return first and not any(others)


def is_echoed(*picture):
    """Whether the first row has a command and the second one what it says: the same letter four times, and no more."""
    if frame(*picture) is None:
        return False
    typed, said = characters(picture, 0), characters(picture, 1)
    letter, blank = said[0], bytes(CELL_WIDTH * CELL_HEIGHT)
    wanted = [letter] * 4 + [blank] * (COLUMNS - 4)
    return letter != blank and said == wanted and typed[AT:] == wanted[:-AT]


def test_a_person_works_on_a_desktop(tmp_path):
    left, top, *size = FRAME
    moved = (left + 150, top + 120, *size)

    def is_moved(*picture):
        """The hand is not quiet: a window manager that has only just taken the window sees it move."""
        machine.move(1, 0, buttons=1)
        machine.move(-1, 0, buttons=1)
        return frame(*picture) == moved

    wish = Wish("desktop", SAID, screen="1024x768", display_at="none")
    with running_boot(tmp_path, guest.prepare(wish, tmp_path)) as machine:
        assert machine.shows(lambda *picture: frame(*picture) == FRAME)
        width, _, pixels = machine.picture()
        assert pixels.startswith(BACKGROUND * width)
        machine.move(-212, -184)  # from the middle into the window, whose the keys are then
        assert machine.shows(is_asked)
        machine.type("clear\n")
        assert machine.shows(is_cleared)
        machine.type("echo hhhh\n")
        assert machine.shows(is_echoed)
        machine.type("echo typed >/tmp/said\n")
        machine.until(b"typed")
        machine.move(0, -150)  # to its title
        machine.move(150, 120, buttons=1)
        assert machine.shows(is_moved)
        machine.move(90, 60, buttons=0)  # which leaves it there
        assert machine.shows(lambda *picture: frame(*picture) == moved)
        assert machine.shows(is_echoed)
