# SPDX-License-Identifier: GPL-2.0-or-later
"""Running a tool whose output matters only when it fails, limits on how long one may run, and what tools have taken."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol, Self

from cobnut import paths
from cobnut.errors import CobnutError

# What waits for its turn on a busy machine gets some of a processor; what gets less than this share of one for so long
# waits for something that does not happen.
STALL_SHARE, STALL_SECONDS = 0.03, 60.0
POLL_SECONDS = 0.5
USED_SECONDS = "processor_seconds"  # a property of each test in the reports of ours


def end_on_signals() -> None:
    """From here on a request to end takes with it what was started, and leaves no folder behind: what is being done is
    left as by an exception. The status is the shell's for a process that a signal ended. One that is ignored already,
    as nohup has SIGHUP ignored, stays ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _: object) -> NoReturn:
    for ignored in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    for pid in descendants(os.getpid()):
        with suppress(ProcessLookupError, PermissionError):  # it has ended by itself, or is root's
            os.kill(pid, signal.SIGTERM)
    sys.exit(128 + number)


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


class Killable(Protocol):
    """A process that its creator waits for, `subprocess.Popen` for example."""

    @property
    def pid(self) -> int: ...

    def kill(self) -> None: ...


class Limit:
    """How much processor time a process and its descendants may use, in a `with` that ends when the process has ended.

    What else a machine has to do changes the time that passes, and must not decide whether a run ends. So nothing but
    processor time counts, but for a process that stalls: that uses next to none for a while. `reached` says afterwards
    whether they were killed.
    """

    def __init__(self, process: "Killable", seconds: float):
        self.reached = False
        self._process, self._seconds = process, seconds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        before, since = 0.0, time.monotonic()
        while not self._over.wait(POLL_SECONDS):
            used, now = processor_seconds(self._process.pid), time.monotonic()
            if used < self._seconds and now - since < STALL_SECONDS:
                continue
            if used >= self._seconds or used - before < STALL_SHARE * (now - since):
                self.reached = True
                self._kill()
                return
            before, since = used, now

    def _kill(self) -> None:
        for pid in descendants(self._process.pid):
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(pid, signal.SIGKILL)
        self._process.kill()


def descendants(pid: int) -> list[int]:
    """The children of a process, theirs, and so on."""
    children: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return [*children, *(below for child in children for below in descendants(child))]


def processor_seconds(pid: int) -> float:
    """Processor time, user and system together, of a process, of its children that have ended, and of all below it."""
    ticks = 0
    for one in [pid, *descendants(pid)]:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended; its parent has its time
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime (proc(5))
    return ticks / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Ended:
    """How a command ended: its status, what it wrote, and whether it was cut off."""

    status: int
    out: str
    errors: str
    cut_off: bool


def run_limited(command: list[str], folder: Path, seconds: float, env: dict[str, str] | None = None) -> Ended:
    """Runs `command` in `folder` with nothing to read, under a `Limit`; `env` is its environment, if not this one's."""
    with (
        subprocess.Popen(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as process,
        Limit(process, seconds) as limit,
    ):
        out, errors = process.communicate()
    return Ended(process.returncode, out, errors, limit.reached)


def children_seconds() -> float:
    """Processor time, user and system together, of all child processes that have ended."""
    return _seconds_of(resource.RUSAGE_CHILDREN)


def used_seconds() -> float:
    """The same, and that of this process."""
    return _seconds_of(resource.RUSAGE_SELF) + children_seconds()


def _seconds_of(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime
