# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a tool whose output matters only when it fails, limits on how long one may run, and what tools have taken."""

import fcntl
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cobnut import paths
from cobnut.errors import CobnutError

# An emulator on a busy machine waits for its turn; one that does nothing at all is given up after so many times its
# limit.
PATIENCE = 3


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """One command at a time does what is in it, wherever it was started; `lock` is a file for that, made if need be."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with open(lock, "w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


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


def limit(process: subprocess.Popen, seconds: float) -> float:
    """Lets `process` use `seconds` of processor time, not more; returns how many seconds to wait for it at most.

    What else a machine has to do changes the time that passes, and must not decide whether a run ends.
    """
    whole = max(1, round(seconds))
    try:
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (whole, whole + 1))
    except ProcessLookupError:
        pass  # it has ended already
    return seconds * PATIENCE


def spent(status: int) -> bool:
    """Whether a process that ended with `status` had used up its processor time."""
    return status in (-signal.SIGXCPU, -signal.SIGKILL)


def run_limited(command: list[str], folder: Path, seconds: float) -> tuple[int, str, bool]:
    """Runs `command` in `folder` under `limit`: its status, what it wrote to stderr, and whether it was cut off."""
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        try:
            errors = process.communicate(timeout=limit(process, seconds))[1]
            cut_off = spent(process.returncode)
        except subprocess.TimeoutExpired:
            process.kill()
            errors, cut_off = process.communicate()[1], True
    return process.returncode, errors.decode(errors="replace"), cut_off


def children_seconds() -> float:
    """Processor time, user and system together, of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
