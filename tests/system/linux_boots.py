# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of Linux as a server in which its root server is told more than the command would tell it, and such that are
reached from outside while they run.
"""

import contextlib
import subprocess

from shells import Console

from cobnut.emulators import Boot, bochs, qemu
from cobnut.process import Limit
from conftest import LIMIT_SECONDS


def console_of(boot: Boot, emulator: str) -> str:
    """What it says until it ends."""
    if emulator == "bochs":
        ended = bochs.run(boot, timeout=LIMIT_SECONDS)
    else:
        ended = qemu.run(boot, timeout=LIMIT_SECONDS)
    assert not ended.timed_out, ended.console
    return ended.console.replace("\r", "")


class Serving(Console):
    """A guest on QEMU that is reached from outside: `ports` are the loopback's by its own."""

    def __init__(self, boot, process):
        super().__init__(process, errors="replace")
        self.ports = dict(boot.nic.forwards)


@contextlib.contextmanager
def serving(boot, folder):
    """Such a guest, gone afterwards."""
    folder.mkdir()
    words = [*qemu.command(boot, folder), *qemu.CONSOLE_ON_PIPES]
    with (
        subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process,
        Limit(process, LIMIT_SECONDS),
    ):
        try:
            yield Serving(boot, process)
        finally:
            process.kill()
