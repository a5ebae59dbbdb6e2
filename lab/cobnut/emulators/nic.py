# SPDX-License-Identifier: GPL-2.0-or-later
"""A network card of the emulated machine, and what is at the other end of its cable.

Nothing here reaches another machine: `user` is the emulator's own network, in which the guest is kept and from which
only ports of this machine's loopback lead to it; `udp=PORT` has frames as datagrams on the loopback, from PORT to the
one behind it and back; `tap=NAME` is an interface of this machine's, which somebody else has made.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from cobnut.errors import CobnutError

USER = "user"
MODELS = {
    "10ec:8029": "ne2k_pci",
    "8086:100e": "e1000",
}  # QEMU's names, by the devices that descriptions of systems name
PEER_MODELS = {"8086:100f": "e1000-82545em"}  # that a machine has only beside another card
BOCHS_MODELS = {"10ec:8029": "ne2k", "8086:100e": "e1000"}
SOLDERED = {0x1001_0000: "smc91c111"}  # QEMU's names of cards that boards have, by the address of their registers
CARDS = (*MODELS, *SOLDERED.values())
UNPLUGGED = ""  # a cable that leads nowhere
ADDRESS = "52:54:00:12:34:56"
GUEST = "10.0.2.15"  # which the emulators' own networks give first
UDP = re.compile(r"udp=(\d{4,5})")
TAP = re.compile(r"tap=([\w.-]{1,15})")


@dataclass(frozen=True)
class Nic:
    """A card by its vendor and device or, on a board that has it, its name; what its cable leads to, and with `user`
    which ports of the guest are reached by which of the loopback's.
    """

    device: str
    at: str = USER
    forwards: tuple[tuple[int, int], ...] = ()

    def qemu_words(self) -> list[str]:
        """What QEMU is told."""
        if self.at == UNPLUGGED:
            return ["-net", f"nic,model={self.device},macaddr={ADDRESS}"]
        if self.device in SOLDERED.values():
            return ["-netdev", self._netdev(), "-net", f"nic,model={self.device},netdev=nic,macaddr={ADDRESS}"]
        return ["-netdev", self._netdev(), "-device", f"{MODELS[self.device]},netdev=nic,mac={ADDRESS},romfile="]

    def _netdev(self) -> str:
        if tap := TAP.fullmatch(self.at):
            return f"tap,id=nic,ifname={tap[1]},script=no,downscript=no"
        if udp := UDP.fullmatch(self.at):
            port = int(udp[1])
            here, there = f"local.host=127.0.0.1,local.port={port}", f"remote.host=127.0.0.1,remote.port={port + 1}"
            return f"dgram,id=nic,local.type=inet,{here},remote.type=inet,{there}"
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{host}-:{guest}" for guest, host in self.forwards)
        return f"user,id=nic,restrict=on{forwards}"

    @property
    def bochs_model(self) -> str:
        """Bochs' name of the card, which stands in its list of what is on the bus, too."""
        return BOCHS_MODELS[self.device]

    def bochs_lines(self, folder: Path) -> str:
        """Lines of Bochs' configuration; what they refer to is written to `folder`."""
        if tap := TAP.fullmatch(self.at):
            where = f"ethmod=tuntap, ethdev=/dev/net/tun:{tap[1]}"
        elif udp := UDP.fullmatch(self.at):
            where = f"ethmod=socket, ethdev={udp[1]}"
        else:
            forwards = "".join(f"hostfwd = tcp:127.0.0.1:{host}-{GUEST}:{guest}\n" for guest, host in self.forwards)
            (folder / "slirp").write_text(f"# slirp config\nrestricted = 1\n{forwards}")
            where = "ethmod=slirp, script=slirp"
        kind = "type=pci, " if self.bochs_model == "ne2k" else ""
        return f"{self.bochs_model}: {kind}mac={ADDRESS}, {where}\n"


def together(*devices: str) -> tuple[str, ...]:
    """QEMU's words for cards of one machine on one cable, which leads nowhere else, by vendor and device or, of a card
    that the board has, its name. What one sends is with the others before the guest executes its next instruction, and
    nothing comes from outside.
    """
    models, words = MODELS | PEER_MODELS, list[str]()
    for number, device in enumerate(devices):
        address = f"{ADDRESS[:-1]}{int(ADDRESS[-1]) + number}"
        words += ["-netdev", f"hubport,id=end{number},hubid=0"]
        if device in SOLDERED.values():
            words += ["-net", f"nic,model={device},netdev=end{number},macaddr={address}"]
        else:
            words += ["-device", f"{models[device]},netdev=end{number},mac={address},romfile="]
    return tuple(words)


def place(net: bool, net_at: str | None) -> str | None:
    """Where the cable leads by the options --net and --net-at, None without both."""
    return net_at or (USER if net else None)


def check_place(at: str) -> None:
    """Refuses what is no place for the cable to lead to."""
    if not (at == USER or UDP.fullmatch(at) or TAP.fullmatch(at)):
        raise CobnutError(f"--net-at {at}: must be user, udp=PORT or tap=NAME")
