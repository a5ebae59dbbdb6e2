# SPDX-License-Identifier: GPL-2.0-or-later
"""A system whose shell is on a pipe."""

import contextlib
import os
import signal
import subprocess

from cobnut.process import Limit
from conftest import ROOT

PROMPT = b"\x1b[K> "


class Console:
    """A process' output, on a pipe; `errors`: what is done about bytes that are no text, as bytes.decode() has it."""

    def __init__(self, process, errors="strict"):
        self.process, self.errors, self.said = process, errors, b""

    def until(self, text: bytes) -> str:
        """What is said up to `text`, from where the last one ended."""
        while text not in self.said:
            more = self.process.stdout.read1(4096)
            assert more, self.said.decode(errors="replace")
            self.said += more
        before, self.said = self.said.split(text, 1)
        return before.decode(errors=self.errors).replace("\r", "")


class Shell(Console):
    """`cobnut boot` with these words."""

    def __init__(self, *words, stderr=None, errors="strict"):
        process = subprocess.Popen(
            [str(ROOT / "cobnut"), "boot", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
        super().__init__(process, errors)
        self.asked = 0

    def type(self, keys: str) -> None:
        self.process.stdin.write(keys.encode())
        self.process.stdin.flush()

    def ask(self, keys: str) -> str:
        """What is said from a line's first key until it has been done."""
        self.asked += 1
        self.type(f"{keys}; echo ={self.asked}=\r")
        return self.until(b"\n=%d=\r\n" % self.asked)

    def cut_off(self) -> None:
        """As a loss of power would: nothing that it has started is left, the emulator among that."""
        with contextlib.suppress(ProcessLookupError):  # all have ended
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def running(*words, seconds):
    """Such a system whose shell is ready, gone afterwards; `seconds` of processor time."""
    one = Shell(*words)
    with Limit(one.process, seconds):
        try:
            one.until(PROMPT)
            yield one
        finally:
            one.cut_off()
