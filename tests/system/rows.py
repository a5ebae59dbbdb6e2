# SPDX-License-Identifier: GPL-2.0-or-later
"""What x2test provokes to make the kernel's work long, as its sources name it."""

import re
from collections.abc import Iterable

from cobnut import paths
from cobnut.boards import Board

X2TEST = paths.ROOT / "user" / "x2test"


def rows(board: Board, begin: str = "") -> set[str]:
    """All tests of latency for the board's processor whose names begin so: what a measurement has to find."""
    folders = (X2TEST, X2TEST / board.processor.architecture)
    text = "".join(path.read_text() for folder in folders for path in sorted(folder.glob("*.cc")))
    return {name for name in re.findall(r'^    \{"latency\.(\w+)", ', text, re.MULTILINE) if name.startswith(begin)}


def begins(names: Iterable[str]) -> list[str]:
    """What these names begin with, up to the first `_`: a boot of x2test for each makes few tests but these."""
    return sorted({name.partition("_")[0] + "_" for name in names})
