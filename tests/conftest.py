# SPDX-License-Identifier: GPL-2.0-or-later
"""What all tests share: the command as a user runs it, and made-up measurements for what needs no emulator."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "lab"), str(Path(__file__).parent)]

import ready
from cobnut import process

BEGUN = pytest.StashKey[float]()
LIMIT_SECONDS = 600

the_command = functools.cache(ready.Ready)  # of the tests of one process


def run_cobnut(
    *arguments: str, env: dict[str, str] | None = None, cwd: Path = ROOT
) -> "subprocess.CompletedProcess[str]":
    """Runs the command with arguments and nothing to read, from a process that is ready for it; `env` adds to the
    environment, `cwd` is where it is called.

    It and all that it starts may use LIMIT_SECONDS of processor time.
    """
    command = ["cobnut", *arguments]
    return _ended(command, the_command().run(list(arguments), cwd, LIMIT_SECONDS, {**os.environ, **(env or {})}))


def run_launched(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """The same by ./cobnut, with all that comes before the command itself."""
    return run_limited([str(ROOT / "cobnut"), *arguments])


def run_limited(
    command: list[str], *, env: dict[str, str] | None = None, cwd: Path = ROOT, seconds: float = LIMIT_SECONDS
) -> "subprocess.CompletedProcess[str]":
    """Runs any command so."""
    return _ended(command, process.run_limited(command, cwd, seconds, env), seconds)


def _ended(
    command: list[str], done: process.Ended, seconds: float = LIMIT_SECONDS
) -> "subprocess.CompletedProcess[str]":
    said = done.out + done.errors
    assert not done.cut_off, f"{command}: stalled, or no end after {seconds} s of processor time\n{said}"
    return subprocess.CompletedProcess(command, done.status, done.out, done.errors)


@pytest.fixture
def cobnut() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """The command as a user runs it."""
    return run_cobnut


def assert_refused(done: "subprocess.CompletedProcess[str]", *words: str) -> None:
    """Wrong usage: status 2, one line on stderr that has all of `words`, no traceback."""
    complaint = [line for line in done.stderr.splitlines() if line.startswith("cobnut: ")]
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert len(complaint) == 1, done.stderr
    for word in words:
        assert word in complaint[0]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[BEGUN] = used_seconds()


def used_seconds() -> float:
    """Processor time of this process, of what it has started, and of all calls of the command."""
    return process.used_seconds() + (the_command().used_seconds() if the_command.cache_info().currsize else 0)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Iterator[None]:
    """Into the report: a test's processor time, with that of the fixtures which it is the first or last to need."""
    if call.when == "teardown":
        item.user_properties.append((process.USED_SECONDS, f"{used_seconds() - item.stash[BEGUN]:.2f}"))
    yield
