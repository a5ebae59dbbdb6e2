# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest in QEMU with its monitor at hand: what its display shows, and a person at keyboard and mouse."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from cobnut.emulators import Boot, qemu
from cobnut.process import Limit
from conftest import ROOT

SECONDS = 120  # of processor time, for one system
SOCKET = "monitor"


class Machine:
    """A run of QEMU with its console on a pipe and, by the words `on_socket`, the monitor behind one in `folder`."""

    def __init__(self, process: subprocess.Popen, folder: Path):
        self.process = process
        self._picture, place = folder / "picture.ppm", folder / SOCKET
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

    def hold(self, name: str) -> None:
        """A key that goes down and stays there."""
        key = {"down": True, "key": {"type": "qcode", "data": name}}
        self.tell("input-send-event", events=[{"type": "key", "data": key}])

    def type(self, text: str) -> None:
        names = {" ": "spc", "\n": "ret", "-": "minus", "=": "equal", ".": "dot", ";": "semicolon", "/": "slash"}
        names[">"] = "shift-dot"
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


def on_socket(folder: Path) -> list[str]:
    """QEMU's words for a monitor that `Machine` finds."""
    return ["-qmp", f"unix:{folder / SOCKET},server=on,wait=off"]


def running(folder: Path, *words: str):
    """`./cobnut boot WORDS`."""
    return _watched([str(ROOT / "cobnut"), "boot", *words, "--qemu-args", " ".join(on_socket(folder))], folder)


def running_boot(folder: Path, boot: Boot, seconds: float = SECONDS):
    """A boot that is described already, of which there are files in `folder` then; for so long at most."""
    return _watched([*qemu.command(boot, folder), *qemu.CONSOLE_ON_PIPES, *on_socket(folder)], folder, seconds)


@contextlib.contextmanager
def _watched(words: list[str], folder: Path, seconds: float = SECONDS):
    """The machine that these words start, gone afterwards."""
    process = subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    with Limit(process, seconds):
        try:
            yield Machine(process, folder)
        finally:
            with contextlib.suppress(ProcessLookupError):  # all have ended
                os.killpg(process.pid, signal.SIGKILL)  # and with it the emulator
            process.wait()
