# SPDX-License-Identifier: GPL-2.0-or-later
"""User-Mode Linux, Debian's, as a program on Debian's own kernel: the nearest living relative of Linux as a server.

It has its host's files, and traces its processes, which are its host's.
"""

from pathlib import Path

from cobnut.linux import images

IMAGES = {images.DEFAULT: "uml", "compiler": "compiler-uml"}  # with it in them, by those without
INIT, STATUS = "inside", "status"
START = (
    "TMPDIR=/dev/shm linux.uml mem=128M root=/dev/root rootfstype=hostfs rw"
    f" init=/files/{INIT} con=null con0=fd:0,fd:1 quiet; exit $(cat {STATUS})"
)
# Busybox executes /proc/self/exe for its applets: linux.uml, until there is a /proc of its processes.
SCRIPT = """#!/bin/sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t tmpfs tmpfs /tmp
cd /files
(%s)
echo $? > %s
/bin/busybox poweroff -f
"""


def around(command: str, files: Path) -> str:
    """What the shell of its host's guest is told, so that its first process does `command` and both end with its
    status. `files` is the folder of what is in the guest's /files, where `command` begins.
    """
    script = files / INIT
    script.write_text(SCRIPT % (command, STATUS), encoding="utf-8")
    script.chmod(0o755)
    return START
