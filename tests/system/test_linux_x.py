# SPDX-License-Identifier: GPL-2.0-or-later
"""An X server of Debian's in Linux as a server, with a client of Debian's: x11perf says how fast it is."""

import re

import pytest

from conftest import run_cobnut

COMMAND = """
Xvfb :0 -screen 0 640x640x24 -noreset 2>/dev/null &
until [ -S /tmp/.X11-unix/X0 ]; do kill -0 $! || exit 1; sleep 1; done
x11perf -display :0 -repeat 1 -reps 20 -dot -pointer -prop -getimage10 2>&1
"""
OBJECTS = {"Dot": 20_000, "GetImage 10x10 square": 80, "QueryPointer": 20, "GetProperty": 20}


@pytest.mark.parametrize("small", ["none", "all"])
def test_x11perf_has_its_requests_answered(small):
    done = run_cobnut("linux", "--image", "x", "--small", small, "--run", COMMAND)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^ *(\d+) reps @ +[\d.]+ msec \( *([\d.]+)/sec\): (.+)$", done.stdout, re.MULTILINE)
    assert {name: int(count) for count, _, name in rows} == OBJECTS, done.stdout
    assert all(float(rate) > 0 for _, rate, _ in rows)
