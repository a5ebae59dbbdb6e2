# SPDX-License-Identifier: GPL-2.0-or-later
"""Where programs of an image lie whose code processes share (fass=share, docs/linux-arm.md): code and constants at one
address for all, above 2 GB, in units that are no other program's; data, which each process has for itself, below 32 MB.

A program can be linked to several places, which differ by the sets of a cache that its code and its data fall on.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from cobnut.elf import Executable
from cobnut.errors import CobnutError

UNIT = 2 << 20  # a region's: what Linux calls a PMD
# Behind the places of what processes have no room for below 32 MB: 64 of 8 MB, from 2 GB on (fass_high_base).
FIRST, END = 0xA000_0000, 0xBE00_0000  # stacks of programs with the compatible layout end at 0xbf000000
BELOW, DATA = 0x0000_8000, 0x0002_0000  # code that is not shared is below the data, from where linkers have it
PAGE, LINE = 4096, 32
STEP = 27 * LINE  # from place to place; an odd number of lines, so that each of 2^n sets has its turn


def moved(place: int) -> int:
    """By how many bytes a program's code and data begin later in this place: by less than a page."""
    return place * STEP % PAGE


def options(code: int, place: int) -> tuple[str, ...]:
    """The linker's, for a program in this place with its code in pages from `code` on."""
    by = moved(place)
    text = (f"-Wl,-Ttext={code + by:#x}",) if by else ()
    return (f"-Wl,-Ttext-segment={code:#x}", *text, f"-Wl,-Tdata={DATA + by:#x}")


class Places:
    """The places of one image."""

    def __init__(self) -> None:
        self.next = FIRST

    def link(self, link: Callable[[Sequence[str]], Path], place: int = 0) -> Path:
        """The program that `link` makes with these options of the linker, in units of its own."""
        path = link(options(self.next, place))
        end = code_end(path)
        if not self.next < end <= END:
            raise CobnutError(f"{path.name}: there is no place left for its code above 2 GB")
        self.next = -(-end // UNIT) * UNIT
        return path


def code_end(path: Path) -> int:
    """The address behind all that is loaded and not written to."""
    segments = Executable(path.read_bytes(), path).segments
    return max((one.linear + one.room for one in segments if not one.writable), default=0)
