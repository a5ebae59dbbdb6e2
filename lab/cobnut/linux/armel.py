# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's programs for ARM processors (armel), unmodified: bash and busybox with their shared libraries, as an initial
file system for the kernels of cobnut.linux.board.

They are for ARMv5TE, so not for every board. The guest executes the kernel's option run="..." or gives a shell.
"""

from cobnut import cpio
from cobnut.linux import images
from cobnut.linux import initrd as image_initrd
from cobnut.linux.images import Image

BOARDS = ("versatilepb",)
MEMORY_MB = 128
IMAGE = Image(
    name="armel",
    description="bash and a dynamic busybox",
    packages=("bash", "busybox"),
    alone=(),
    components=images.COMPONENTS,
    shell="/bin/sh",
    links=(("bin/sh", "busybox"),),
    without=("usr/lib/arm-linux-gnueabi/gconv", "usr/share"),
    memory_mb=MEMORY_MB,
    architecture="armel",
)
INIT = """#!/bin/sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t tmpfs tmpfs /tmp
echo "guest: shell"
if [ -n "$run" ]; then sh -c "$run"; else setsid cttyhack sh; fi
echo "guest: done"
reboot -f
"""


def initrd() -> bytes:
    """The initial file system."""
    return image_initrd.base(IMAGE).read_bytes() + cpio.archive([cpio.program("init", INIT.encode())])
