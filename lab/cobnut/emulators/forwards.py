# SPDX-License-Identifier: GPL-2.0-or-later
"""Ports of this machine's loopback that lead to ports of a guest, which is on the emulator's own network."""

import re
import socket
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass

from cobnut.emulators import nic
from cobnut.errors import CobnutError

WORDS = re.compile(r"(?:(\d{1,5}):)?(\d{1,5})")
ANY = 0  # of the loopback's ports one that is free
MOST = 65535


@dataclass(frozen=True)
class Forward:
    """A TCP port of the guest's, and the loopback's that leads to it."""

    guest: int
    host: int = ANY


def parse(texts: Iterable[str]) -> tuple[Forward, ...]:
    """What --forward says, GUEST or HOST:GUEST, each time that it is given."""
    found: list[Forward] = []
    for text in texts:
        words = WORDS.fullmatch(text)
        ports = [int(port) for port in words.groups() if port] if words else []
        if not ports or not all(1 <= port <= MOST for port in ports):
            raise CobnutError(f"--forward {text}: must be GUEST or HOST:GUEST, ports from 1 to {MOST}")
        one = Forward(ports[-1], ports[0] if len(ports) > 1 else ANY)
        if one.host != ANY and any(one.host == other.host for other in found):
            raise CobnutError(f"--forward {text}: port {one.host} of 127.0.0.1 leads elsewhere already")
        found.append(one)
    return tuple(found)


def check(texts: Iterable[str], net_at: str | None) -> None:
    """Refuses ports without the emulator's own network, which alone forwards them."""
    if parse(texts) and net_at != nic.USER:
        raise CobnutError("--forward: leads into the emulator's own network, which is there with --net")


def opened(forwards: Iterable[Forward]) -> tuple[tuple[int, int], ...]:
    """The guest's port and the loopback's of each, where that was free just now."""
    with ExitStack() as held:
        pairs = [(one.guest, held.enter_context(_held(one)).getsockname()[1]) for one in forwards]
    return tuple(pairs)


def _held(one: Forward) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", one.host))
    except OSError as error:
        raise CobnutError(f"port {one.host} of 127.0.0.1: cannot be opened ({error.strerror})") from None


def told(forwards: Iterable[Forward]) -> tuple[tuple[int, int], ...]:
    """Likewise, with a line for each."""
    pairs = opened(forwards)
    for guest, host in pairs:
        print(f"cobnut: port {guest} of the guest is port {host} of 127.0.0.1", file=sys.stderr)
    return pairs
