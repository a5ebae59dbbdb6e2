# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a tool whose output matters only when it fails, and what tools have taken."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from cobnut import paths
from cobnut.errors import CobnutError


def run_logged(
    command: list[str], log: str, *, line_seen: Callable[[str], None] = lambda line: None, append: bool = False
) -> None:
    """Runs `command` in the repository's root with its output in build/log/LOG; on failure shows the end of it.

    `line_seen` is called with each line, for a progress display.
    """
    path = paths.LOGS / log
    path.parent.mkdir(parents=True, exist_ok=True)
    tail: list[str] = []
    with open(path, "a" if append else "w", encoding="utf-8") as out:
        try:
            process = subprocess.Popen(
                command,
                cwd=paths.ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except FileNotFoundError as error:
            raise CobnutError(f"{command[0]} is not installed") from error
        assert process.stdout is not None
        for line in process.stdout:
            out.write(line)
            tail = [*tail[-29:], line]
            line_seen(line)
        status = process.wait()
    if status != 0:
        sys.stderr.write("".join(tail))
        raise CobnutError(
            f"{Path(command[0]).name} failed with status {status}; the whole of it is in {paths.shown(path)}"
        )


def children_seconds() -> float:
    """Processor time, user and system together, of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
