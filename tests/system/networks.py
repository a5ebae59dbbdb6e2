# SPDX-License-Identifier: GPL-2.0-or-later
"""A system with a network card, for the tests of it: its console on a pipe, its ports on the loopback."""

import contextlib
import json
import re
import subprocess

from shells import PROMPT, Shell

from cobnut.process import Limit


class Networked(Shell):
    """A running system: `ports` are the loopback's by those of the system, where it is on the emulator's network."""

    def __init__(self, system, *words):
        super().__init__(system, *words, stderr=subprocess.PIPE, errors="replace")
        self.until(PROMPT)
        self.ports: dict[int, int] = {}

    def read_ports(self, wanted) -> None:
        """What the command has said of the ports, a line each."""
        while not wanted <= self.ports.keys():
            line = self.process.stderr.readline().decode()
            assert line, self.said
            if found := re.match(r"cobnut: port (\d+) of the guest is port (\d+) of 127", line):
                self.ports[int(found[1])] = int(found[2])


def iperf3(port: int, megabytes: int, *words: str) -> int:
    """Moves so many by Debian's client; how many bytes the receiving end has counted when all have left."""
    command = ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-n", f"{megabytes}M", "-J", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)["end"]["sum_received"]["bytes"]


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
            one.cut_off()
