# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's programs for ARM processors (armel), unmodified, as initial file systems for the kernels of
cobnut.linux.board: bash and busybox with their shared libraries, or the images of linux/guests.

They are for ARMv5TE, so not for every board. The guest executes the kernel's option run="..." or gives a shell.
"""

from dataclasses import replace

from cobnut import cpio
from cobnut.linux import images
from cobnut.linux import initrd as image_initrd
from cobnut.linux.images import Image

BOARDS = ("versatilepb",)
MEMORY_MB = 128
MOST_MB = 256  # of the board's memory
ARCHITECTURE = "armel"
# what an image names otherwise: the folders of libraries, and of lmbench's programs
NAMES = {"i386-linux-gnu": "arm-linux-gnueabi", "i686-pc-linux-gnu": "armv7l-linux-gnu"}
MISSING = ("valgrind",)  # which Debian does not have for these processors
NOT_NEEDED = ("usr/lib/*/perl/5.36.0/auto/Encode/[CJKT]*", "usr/share/perl/5.36.0/Unicode")  # in little memory
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
    architecture=ARCHITECTURE,
)
INIT = """#!/bin/sh
/bin/busybox --install -s /bin
export PATH=/bin:/bin/lmbench
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /tmp
ip link set lo up
echo "guest: shell"
if [ -n "$run" ]; then sh -c "$run"; else setsid cttyhack sh; fi
echo "guest: done"
reboot -f
"""


def image(name: str) -> Image:
    """An image of linux/guests, of armel's packages."""
    of_pc = images.find(name)
    return replace(
        of_pc,
        name=f"{name}-{ARCHITECTURE}",
        packages=tuple(package for package in of_pc.packages if package not in MISSING),
        links=tuple((place, _named(target)) for place, target in of_pc.links),
        without=(*map(_named, of_pc.without), *NOT_NEEDED),
        memory_mb=MOST_MB,
        architecture=ARCHITECTURE,
    )


def initrd(of: Image = IMAGE) -> bytes:
    """The initial file system, with an init that knows the kernel's option `run`."""
    return image_initrd.base(of).read_bytes() + cpio.archive([cpio.program("init", INIT.encode())])


def _named(text: str) -> str:
    for of_pc, here in NAMES.items():
        text = text.replace(of_pc, here)
    return text
