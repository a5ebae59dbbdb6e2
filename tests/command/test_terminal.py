# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person at a terminal sees."""

import fcntl
import os
import pty
import struct
import sys
import termios

import pytest

from conftest import ROOT

SHOW = """
import sys
sys.path.insert(0, "lab")
from cobnut import tables
from cobnut.checks import exactly, judge
from cobnut.results import Provenance, Result
names = ["one_way.large_large.instructions", "a" * int(sys.argv[1])]
checks = [judge(name, 12345.678, "modelled cycles of a round trip", exactly(1), "why") for name in names]
tables.show_checks(Result("made/up", None, Provenance("", None, "", ""), [], checks, []))
"""


@pytest.mark.parametrize("length", [20, 47, 70, 120])
def test_check_names_stay_whole_in_80_columns(length):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    program = [sys.executable, "-c", f"import os, sys; os.dup2({theirs}, 1); sys.argv[1:] = ['{length}']\n{SHOW}"]
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    os.set_inheritable(theirs, True)
    with os.fdopen(ours, "rb", buffering=0) as console:
        pid = os.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execve(sys.executable, program, environment)
        os.close(theirs)
        seen = b""
        try:
            while part := console.read(4096):
                seen += part
        except OSError:
            pass  # the other end is closed
        assert os.waitpid(pid, 0)[1] == 0
    table = seen.decode().partition("\nnot ok: ")[0].replace("\r", "")
    for name in ("one_way.large_large.instructions", "a" * length):
        assert name in table, table
