# SPDX-License-Identifier: GPL-2.0-or-later
"""The screen of Linux as a server: how many pixels it has, and where QEMU shows it."""

import re
from dataclasses import dataclass

from cobnut.emulators import has_desktop
from cobnut.errors import CobnutError

USUAL = "1024x768"
FORM = re.compile(r"(\d{1,5})x(\d{1,5})")
STEP = 8  # of a width, as the driver sets it
LEAST, MOST = (320, 200), (2560, 1600)  # what both emulators show, with 16 MB for it
ROOM_MB = 16  # of the server's addresses (SCREEN_LOG2 in linux/root/server.h)
HIDDEN, WINDOW = "none", "default"  # QEMU's words; the latter is a window of the first kind that it can make


@dataclass(frozen=True)
class Size:
    """In pixels."""

    width: int
    height: int


def place(screen: bool, size: str | None) -> str | None:
    """The size of the screen that --screen and --screen-size ask for, if they do."""
    return size if size is not None else USUAL if screen else None


def check(text: str) -> Size:
    """Refuses what no display shows."""
    match = FORM.fullmatch(text)
    if not match:
        raise CobnutError(f"--screen-size {text}: must be WIDTHxHEIGHT in pixels, as {USUAL}")
    size = Size(int(match[1]), int(match[2]))
    least, most = ("x".join(map(str, one)) for one in (LEAST, MOST))
    if not (LEAST[0] <= size.width <= MOST[0] and LEAST[1] <= size.height <= MOST[1]):
        raise CobnutError(f"--screen-size {text}: must be from {least} to {most}")
    if size.width % STEP:
        raise CobnutError(f"--screen-size {text}: the width must be a multiple of {STEP}")
    return size


def shown_at(where: str | None) -> str:
    """What QEMU's -display is told: where the user says, else in a window if there is a desktop."""
    return where or (WINDOW if has_desktop() else HIDDEN)
