# SPDX-License-Identifier: GPL-2.0-or-later
"""A disk that is full, said in one line: asked before something large is made, and afterwards of what went wrong."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cobnut import paths
from cobnut.errors import CobnutError

MB = 1 << 20
FULL_MB = 4  # less than this is left where a program has just filled a disk and taken its last piece back


def free_mb(folder: Path) -> int:
    """How much is free where `folder` is, or will be."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free // MB


@contextmanager
def needed(folder: Path, megabytes: int, what: str) -> Iterator[None]:
    """What is in the `with` needs so much in `folder`; where that is not there, or runs out, a user is told so."""
    if free_mb(folder) < megabytes:
        raise CobnutError(
            f"{what} needs {megabytes} MB in {paths.shown(folder)}, and the disk has {free_mb(folder)} MB left"
        )
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _full(folder, what) from None
    except CobnutError:
        if free_mb(folder) < FULL_MB:
            raise _full(folder, what) from None
        raise


def _full(folder: Path, what: str) -> CobnutError:
    return CobnutError(f"the disk of {paths.shown(folder)} is full: {what} cannot be made")
