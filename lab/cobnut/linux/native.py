# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's own kernel for 32-bit PCs in the server's place: what an image does natively."""

from cobnut import linux_guest
from cobnut.emulators import Boot
from cobnut.linux.server import Server
from cobnut.modules import Module

# Panics end the machine, which QEMU does not start again. The kernel stays at its address: elsewhere it may leave no
# room in one piece among the 896 MB that it maps, to which it moves a large image before it unpacks it.
OPTIONS = "console=ttyS0 quiet panic=-1 nokaslr"


def ensure() -> Server:
    """The kernel as it is in the cache."""
    guest = linux_guest.kernel()
    return Server(guest.kernel, guest.version)


def boot(kernel: Server, initrd: Module, append: str, memory_mb: int, cpu: str) -> Boot:
    """A boot with the image `initrd`."""
    return Boot(kernel.executable, (initrd,), f"{OPTIONS} {append}".strip(), cpu, memory_mb)
