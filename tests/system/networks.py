# SPDX-License-Identifier: GPL-2.0-or-later
"""A system with a network card, for the tests of it: its console on a pipe, its ports on the loopback."""

import contextlib
import os
import re
import signal
import subprocess

from cobnut.process import Limit
from conftest import ROOT

PROMPT = b"\x1b[K> "


class Networked:
    """A running system: `ports` are the loopback's by those of the system, where it is on the emulator's network."""

    def __init__(self, system, *words):
        self.process = subprocess.Popen(
            [str(ROOT / "cobnut"), "boot", str(system), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.said, self.asked = b"", 0
        self.until(PROMPT)
        self.ports: dict[int, int] = {}

    def read_ports(self, wanted) -> None:
        """What the command has said of the ports, a line each."""
        while not wanted <= self.ports.keys():
            line = self.process.stderr.readline().decode()
            assert line, self.said
            if found := re.match(r"cobnut: port (\d+) of the system is port (\d+) of 127", line):
                self.ports[int(found[1])] = int(found[2])

    def until(self, text: bytes) -> str:
        """What the console says up to `text`, from where the last one ended."""
        while text not in self.said:
            more = self.process.stdout.read1(4096)
            assert more, self.said.decode(errors="replace")
            self.said += more
        before, self.said = self.said.split(text, 1)
        return before.decode(errors="replace").replace("\r", "")

    def ask(self, keys: str) -> str:
        """What is said from a line's first key until it has been done."""
        self.asked += 1
        self.process.stdin.write(f"{keys}; echo ={self.asked}=\r".encode())
        self.process.stdin.flush()
        return self.until(b"\n=%d=\r\n" % self.asked)


@contextlib.contextmanager
def running(system, *words, seconds, ports=frozenset({7, 80})):
    """The system, with all that it has started gone afterwards; `seconds` of processor time. `ports` are those that its
    description lets in.
    """
    command = [system, *words]
    one = Networked(*command)
    with Limit(one.process, seconds):
        try:
            if "--net" in words:
                one.read_ports(ports)
            yield one
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()
