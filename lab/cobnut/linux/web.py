# SPDX-License-Identifier: GPL-2.0-or-later
"""Web servers in a guest: the image that has them, what starts them, their FastCGI server and a client."""

from pathlib import Path

from cobnut import linux_guest
from cobnut.linux import fastcgi, images

IMAGE, SCRIPT, VISITOR = "web", "web.sh", "visitor"


def files() -> dict[str, bytes]:
    """What the guest's shell reads by `. ./SCRIPT`."""
    return {SCRIPT: (images.FOLDER / SCRIPT).read_bytes()}


def programs() -> tuple[Path, ...]:
    """Makes sure of the client and of the FastCGI server."""
    return linux_guest.program(VISITOR), fastcgi.ensure()
