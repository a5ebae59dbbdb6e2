# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's own kernel for 32-bit PCs in the server's place: what an image does natively."""

from cobnut import linux_guest
from cobnut.emulators import Boot
from cobnut.linux.server import Server
from cobnut.modules import Module

# panics end the machine, which QEMU does not start again
OPTIONS = "console=ttyS0 quiet panic=-1"


def ensure() -> Server:
    """The kernel as it is in the cache."""
    guest = linux_guest.kernel()
    return Server(guest.kernel, guest.version)


def boot(kernel: Server, initrd: Module, append: str, memory_mb: int) -> Boot:
    """A boot with the image `initrd`."""
    return Boot(kernel.executable, (initrd,), f"{OPTIONS} {append}".strip(), linux_guest.CPU, memory_mb)
