# SPDX-License-Identifier: GPL-2.0-or-later
"""Of a guest's console what its command writes: nothing of how Linux comes up and goes down."""

import re
from typing import BinaryIO

from cobnut.linux.verdict import MARK, RUNNING

START = f"{RUNNING}\n".encode()
END = f"{MARK}status ".encode()
LINE_END = re.compile(rb"\r+\n")  # as a terminal is sent it; each console on the way adds a carriage return


class Command:
    """Writes to `out` what comes between the lines that linux/guests/session says before and after the command."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._held = b""  # not yet known whether it is to be shown
        self._started = self._ended = False

    def feed(self, data: bytes) -> None:
        """Takes what the console has said next."""
        if self._ended:
            return
        self._held = LINE_END.sub(b"\n", self._held + data)
        if not self._started:
            _, self._started, rest = _parted(self._held, START)
            self._held = rest if self._started else self._held[-2 * len(START) :]  # carriage returns may be in it
        if self._started:
            shown, self._ended, _ = _parted(self._held, END)
            if not self._ended:
                shown = self._held[: len(self._held) - _begun(self._held)]
                self._held = self._held[len(shown) :]
            self._show(shown)

    def finish(self) -> None:
        """The console says no more."""
        if self._started and not self._ended:
            self._show(self._held)

    def _show(self, data: bytes) -> None:
        if data:
            self._out.write(data)
            self._out.flush()


def _parted(data: bytes, mark: bytes) -> tuple[bytes, bool, bytes]:
    before, found, after = data.partition(mark)
    return before, bool(found), after


def _begun(data: bytes) -> int:
    """How many bytes at the end can be the begin of the mark or of a line's end."""
    for length in range(min(len(END) - 1, len(data)), 0, -1):
        if END.startswith(data[-length:]):
            return length
    return len(data) - len(data.rstrip(b"\r"))
