# SPDX-License-Identifier: GPL-2.0-or-later
"""A command that is asked to end leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cobnut.process import Limit, descendants
from conftest import LIMIT_SECONDS, ROOT

FOREVER = "pingpong pair=small_small rounds=100000000"  # the most that it takes: minutes


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(
    "arguments",
    [
        ["boot", "--root", FOREVER],
        ["boot", "--emulator", "bochs", "--root", FOREVER],
        ["run", "ipc/scale"],
    ],
    ids=["boot", "bochs", "run"],
)
def test_no_folder_and_no_process_stays(tmp_path, arguments, number):
    folder, report = tmp_path / "tmp", tmp_path / "report"
    folder.mkdir()
    more = ["--report", str(report)] if arguments[0] == "run" else []
    running = subprocess.Popen(
        ["env", "--default-signal", str(ROOT / "cobnut"), *arguments, *more],  # these tests may run under nohup
        env={**os.environ, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with Limit(running, LIMIT_SECONDS):
        while not (started := emulators(running.pid) and list(folder.iterdir())) and running.poll() is None:
            time.sleep(0.05)
        below = descendants(running.pid)
        running.send_signal(number)
        assert running.wait() == 128 + number
    assert started and list(folder.iterdir()) == []
    assert wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("before, status", [("SIG_IGN", 0), ("SIG_DFL", 128)])
def test_what_nohup_has_ignored_stays_ignored(number, before, status):
    program = f"""
import os, signal
from cobnut.process import end_on_signals
signal.signal({int(number)}, signal.{before})
end_on_signals()
os.kill(os.getpid(), {int(number)})
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT / "lab")}, check=False
    )
    assert done.returncode == (status + number if status else 0)


def emulators(pid):
    """Whether one of the emulators runs below `pid`."""
    commands = []
    for one in descendants(pid):
        try:
            commands.append(Path(f"/proc/{one}/comm").read_text())
        except OSError:
            pass  # it has ended
    return any(command.startswith(("qemu", "bochs")) for command in commands)


def wait_for(condition, seconds=300):
    """Whether the condition holds before so many seconds have passed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
