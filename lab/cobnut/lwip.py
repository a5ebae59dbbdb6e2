# SPDX-License-Identifier: GPL-2.0-or-later
"""lwIP, the TCP/IP stack of servers/network: the upstream archive of Debian's source package, unpacked into the cache.

Nothing of it is changed: what the port needs is in servers/network/port.
"""

from pathlib import Path

from cobnut import cache, private_apt
from cobnut.cache import Recipe
from cobnut.errors import CobnutError
from cobnut.private_apt import RELEASE
from cobnut.process import run_logged

PACKAGE = "lwip"


def recipe() -> Recipe:
    """What is asked of Debian: a newer version is not looked for."""
    return Recipe("lwip", {"release": RELEASE, "package": PACKAGE, "layout": "src"})


def ensure() -> Path:
    """Makes sure of the source, downloading it if it is missing; its folder, which has src/."""
    return cache.get(recipe(), lambda folder, _: _download(folder))


def _download(target: Path) -> None:
    with private_apt.lists("the source of lwIP", sources=True) as apt:
        archives = [path for path in apt.download_source(PACKAGE) if ".orig.tar." in path.name]
        if len(archives) != 1:
            raise CobnutError(f"Debian's source package {PACKAGE} does not hold one archive")
        command = ["tar", "-xf", str(archives[0]), "-C", str(target), "--strip-components=1", "--no-same-owner"]
        run_logged(command, "lwip-unpack.log")
