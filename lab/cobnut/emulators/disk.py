# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's disk: the first drive of a PC's first ATA channel, whose contents are a file."""

import os
from dataclasses import dataclass
from pathlib import Path

from cobnut.errors import CobnutError

BLOCK = 512
MOST_BLOCKS = 1 << 28  # that have a number of 28 bits
MOST_HEADS, MOST_SECTORS = 16, 63


@dataclass(frozen=True)
class Disk:
    """A raw image: block by block what the disk has, and the guest writes to it."""

    path: Path

    @property
    def blocks(self) -> int:
        return self.path.stat().st_size // BLOCK

    @property
    def geometry(self) -> tuple[int, int, int]:
        """Cylinders, heads and sectors that have exactly so many blocks, as Bochs wants them."""
        blocks = self.blocks
        heads = next(n for n in range(MOST_HEADS, 0, -1) if blocks % n == 0)
        sectors = next(n for n in range(MOST_SECTORS, 0, -1) if blocks // heads % n == 0)
        return blocks // heads // sectors, heads, sectors


def check(path: Path) -> Disk:
    """Refuses what cannot be a disk."""
    if not path.is_file():
        raise CobnutError(f"--disk {path}: {'is not a file' if path.exists() else 'no such file'}")
    if not os.access(path, os.R_OK | os.W_OK):
        raise CobnutError(f"--disk {path}: cannot be written")
    size = path.stat().st_size
    if not size or size % BLOCK or size // BLOCK > MOST_BLOCKS:
        raise CobnutError(f"--disk {path}: a disk has 1 to {MOST_BLOCKS:,} blocks of {BLOCK} bytes, not {size:,} bytes")
    return Disk(path.resolve())
