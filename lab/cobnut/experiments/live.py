# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests a second of a system's web server, live: Debian's wrk on this machine, over the emulator's own network.

That says what emulator and host do together, and nothing is modelled: the same run gives another number each time.
"""

import contextlib
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobnut import build, packages, systems
from cobnut.emulators import Boot, forwards, nic, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Lab
from cobnut.modules import Module
from cobnut.process import Limit

SYSTEM, CARD, PORT = "web-e1000", "8086:100e", 80
MEMORY_MB = 64
CONNECTIONS, SECONDS = 8, 5  # of wrk's
CLOSES = ("-H", "Connection: close")
LOOK_SECONDS = 0.2  # between looks whether the server answers
GUEST_SECONDS = 300  # of processor time
RATE = re.compile(r"^Requests/sec: +([\d.]+)$", re.MULTILINE)
ERRORS = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
REFUSED = re.compile(r"Non-2xx or 3xx responses: (\d+)")


@dataclass(frozen=True)
class Load:
    """What wrk has found: answers a second, and how many requests went wrong."""

    rate: float
    errors: int


def measured(lab: Lab, spaces: dict[str, dict[str, Any]], options: str, kinds: dict[str, bool]) -> dict[str, Load]:
    """The loads of the system with other words of its programs and these options of the kernel, of each of `kinds`;
    whether its connections end with each answer.
    """
    packages.ensure(packages.WRK)
    build.network(lab.board)
    system = systems.load(SYSTEM).changed(**spaces)
    modules = (Module(lab.board.program("sigma0")), *system.modules(lab.board, MEMORY_MB))
    ((_, port),) = pairs = forwards.opened([forwards.Forward(PORT)])
    card = nic.Nic(CARD, forwards=pairs)
    with running(Boot(lab.board.kernel, modules, options, lab.cpu, MEMORY_MB, nic=card)) as guest:
        wait_for_page(guest, port)
        return {kind: load(port, CLOSES if closes else ()) for kind, closes in kinds.items()}


@contextlib.contextmanager
def running(boot: Boot) -> Iterator["subprocess.Popen[bytes]"]:
    """A guest in real time, whose console nobody reads; gone afterwards, or when it has used too much time."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        words = [*qemu.command(boot, Path(name)), "-serial", "null"]
        with (
            subprocess.Popen(words, cwd=name, stdin=subprocess.DEVNULL) as process,
            Limit(process, GUEST_SECONDS),
        ):
            try:
                yield process
            finally:
                process.kill()


def wait_for_page(guest: "subprocess.Popen[bytes]", port: int) -> None:
    """Until the web server answers, or the guest ends."""
    import http.client

    while guest.poll() is None:
        one = http.client.HTTPConnection("127.0.0.1", port)
        with contextlib.suppress(OSError, http.client.HTTPException):
            one.request("GET", "/")
            if one.getresponse().status == http.client.OK:
                return
        time.sleep(LOOK_SECONDS)
    raise CobnutError(f"{SYSTEM}: its web server does not answer")


def load(port: int, words: tuple[str, ...]) -> Load:
    """Runs wrk against the page, and reads what it says."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", *words, f"http://127.0.0.1:{port}/"]
    return read(subprocess.run(command, capture_output=True, text=True, check=False).stdout)


def read(said: str) -> Load:
    """What wrk has said."""
    rate, errors, refused = RATE.search(said), ERRORS.search(said), REFUSED.search(said)
    if not rate:
        raise CobnutError(f"wrk said nothing of requests: {said.strip() or 'nothing at all'}")
    wrong = sum(map(int, errors.groups())) if errors else 0
    return Load(float(rate[1]), wrong + (int(refused[1]) if refused else 0))
