# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether results can be written where a command line wants them: asked before anything takes long."""

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from cobnut.errors import CobnutError


def check_all(json: Path | None, report: Path | None, picture: Path | None) -> None:
    """Says what cannot be written before an experiment has run for minutes. Only the report makes its folder."""
    if report and report.exists() and not report.is_dir():
        raise CobnutError(f"--report {report}: is not a folder")
    wanted = (("json", json, try_file), ("picture", picture, try_file), ("report", report, try_folder))
    for option, path, try_out in wanted:
        check(f"--{option} {path}", path, try_out)


def check(said: str, path: Path | None, try_out: Callable[[Path], None]) -> None:
    """Says that `path`, which the user gave as `said`, cannot be written, if so; `try_out` tries."""
    if path is None:
        return
    try:
        try_out(path)
    except OSError as error:
        raise CobnutError(f"{said}: cannot be written there ({error.strerror})") from None


def try_file(path: Path) -> None:
    """Opens `path` as if to write it, and leaves everything as it was."""
    there = path.exists()
    if there and stat.S_ISFIFO(path.stat().st_mode):
        return  # opening one waits for a reader
    with open(path, "ab"):
        pass
    if not there:
        path.resolve().unlink()  # not a link to it


def try_folder(path: Path) -> None:
    """Writes into `path`, or into the nearest folder above it that is there."""
    while not os.path.lexists(path):
        path = path.parent
    with tempfile.TemporaryFile(dir=path):
        pass
