# SPDX-License-Identifier: GPL-2.0-or-later
"""A system in QEMU with its monitor at hand: what its display shows, and a person at keyboard and mouse."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from cobnut.process import Limit
from conftest import ROOT

SECONDS = 120  # of processor time, for one system


class Machine:
    """`./cobnut boot WORDS` with its console on a pipe and the monitor behind a socket in `folder`."""

    def __init__(self, folder: Path, *words: str):
        self._picture, place = folder / "picture.ppm", folder / "monitor"
        monitor = f"-qmp unix:{place},server=on,wait=off"
        self.process = subprocess.Popen(
            [str(ROOT / "cobnut"), "boot", *words, "--qemu-args", monitor],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout
        self.said, self._console = b"", self.process.stdout.fileno()
        self.until(b"Cobnut: ")  # from now on there is a monitor
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(place))
        self._answers = self._socket.makefile()
        self._answers.readline()
        self.tell("qmp_capabilities")

    def until(self, text: bytes) -> str:
        """What is said up to `text`, from where the last one ended."""
        while text not in self.said:
            more = os.read(self._console, 4096)
            assert more, self.said.decode(errors="replace")
            self.said += more
        before, self.said = self.said.split(text, 1)
        return before.decode().replace("\r", "")

    def tell(self, command: str, **arguments):
        """A command of the monitor's; what it returns."""
        self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            answer = json.loads(self._answers.readline())
            assert "error" not in answer, answer
            if "return" in answer:
                return answer["return"]

    def press(self, *keys: str) -> None:
        """Keys by QEMU's names, one after the other; those of one name with - between them together."""
        for name in keys:
            self.tell("human-monitor-command", **{"command-line": f"sendkey {name}"})

    def type(self, text: str) -> None:
        names = {" ": "spc", "\n": "ret", "-": "minus", "=": "equal", ".": "dot", ";": "semicolon"}
        self.press(*(f"shift-{c.lower()}" if c.isupper() else names.get(c, c) for c in text))

    def move(self, x: int, y: int, buttons: int = 0) -> None:
        self.tell("human-monitor-command", **{"command-line": f"mouse_button {buttons}"})
        self.tell("human-monitor-command", **{"command-line": f"mouse_move {x} {y}"})

    def picture(self) -> tuple[int, int, bytes]:
        """What the display shows: width, height, and three bytes a pixel (red, green, blue)."""
        self.tell("screendump", filename=str(self._picture))
        kind, size, depth, pixels = self._picture.read_bytes().split(b"\n", 3)
        assert (kind, depth) == (b"P6", b"255")
        width, height = map(int, size.split())
        return width, height, pixels

    def shows(self, holds, attempts: int = 200) -> bool:
        """Whether the picture comes to be as `holds` wants it."""
        for _ in range(attempts):
            if holds(*self.picture()):
                return True
            time.sleep(0.1)
        return False


@contextlib.contextmanager
def running(folder: Path, *words: str):
    one = Machine(folder, *words)
    with Limit(one.process, SECONDS):
        try:
            yield one
        finally:
            with contextlib.suppress(ProcessLookupError):  # all have ended
                os.killpg(one.process.pid, signal.SIGKILL)  # and with it the emulator
            one.process.wait()
