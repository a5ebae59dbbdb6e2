# SPDX-License-Identifier: GPL-2.0-or-later
"""The console as a person has it: on a terminal, left with Ctrl-A x."""

import os
import pty
import signal
from types import SimpleNamespace

import pytest

from cobnut.process import Limit
from conftest import ROOT

LIMIT_SECONDS = 60  # of processor time
CTRL_A_X = b"\x01x"


def on_a_terminal(*arguments, wait_for="", then=b""):
    """Runs ./cobnut on a terminal, types `then` once `wait_for` was printed; returns what was shown, and the status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(ROOT / "cobnut", [str(ROOT / "cobnut"), *arguments])
    shown = b""
    with Limit(SimpleNamespace(pid=pid, kill=lambda: os.kill(pid, signal.SIGKILL)), LIMIT_SECONDS):
        while True:
            try:
                shown += os.read(terminal, 4096)
            except OSError:  # the last process with this terminal has ended
                break
            if then and wait_for.encode() in shown:
                os.write(terminal, then)
                then = b""
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    return shown.decode(errors="replace"), os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_ctrl_a_x_leaves(emulator):
    boot = ("boot", "--emulator", emulator, "--root", "root", "hello")
    shown, status = on_a_terminal(*boot, wait_for="all programs finished", then=CTRL_A_X)
    assert "hello: hello, world" in shown
    assert status == 0


def test_long_work_shows_a_bar(tmp_path):
    shown, status = on_a_terminal("run", "ipc/path", "--quick", "--report", str(tmp_path))
    assert "━" in shown and "4/4" in shown
    assert status == 0


def test_no_bar_without_a_terminal(cobnut, tmp_path):
    done = cobnut("run", "ipc/path", "--quick", "--report", str(tmp_path))
    assert "\x1b" not in done.stdout + done.stderr and "━" not in done.stderr
    assert "ipc/path: 4 of 4" in done.stderr
