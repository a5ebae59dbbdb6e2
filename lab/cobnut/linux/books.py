# SPDX-License-Identifier: GPL-2.0-or-later
"""What the microkernel's books say of a run of Linux as a server, and what Linux's own log must not: root tells the
first with `audit=1`, before the first server begins and whenever one has ended.
"""

import re
from dataclasses import dataclass

ASKED = "audit=1"  # root's word (linux/root/main.cc)
MORE_PAGES = 8  # of the microkernel's, that pools of its objects may have got on the way
OF_ITS_OWN = re.compile("BUG|Oops|WARNING:|Call Trace|cut here|[Uu]nable to handle|soft lockup|scheduling while atomic")
LINE = re.compile(r"audit: (\d+) faults, (\d+) pages, (\d+) objects")


@dataclass(frozen=True)
class Books:
    """What does not agree in them, pages of kernel memory in use, and objects."""

    faults: int
    pages: int
    objects: int


def told(console: str) -> list[Books]:
    """All that were told, in order; the last one is of the end if Linux came to its end."""
    return [Books(*map(int, found)) for found in LINE.findall(console)]
