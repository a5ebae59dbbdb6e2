# SPDX-License-Identifier: GPL-2.0-or-later
"""GNU Mach of Debian as a guest: two of its kernels, the ordinary one and the one for debugging, which has symbols.

They are downloaded and unpacked into the cache (cobnut.cache), and nothing is installed.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, private_apt
from cobnut.cache import Recipe
from cobnut.errors import CobnutError
from cobnut.private_apt import RELEASE
from cobnut.process import run_logged

PACKAGE = "gnumach-image-1.8-486"
KERNELS = {PACKAGE: "kernel", f"{PACKAGE}-dbg": "kernel-dbg"}  # what each package's is called in the entry


@dataclass(frozen=True)
class GnuMach:
    """The kernel, and the one with symbols, which is compiled with a debugger."""

    kernel: Path
    debugging: Path


def recipe() -> Recipe:
    """What is asked of Debian: a newer version is not looked for."""
    return Recipe("gnumach", {"release": RELEASE, "packages": " ".join(KERNELS)})


def ensure() -> GnuMach:
    """Makes sure of the kernels, downloading them if they are missing."""
    entry = cache.get(recipe(), lambda folder, _: _download(folder))
    return GnuMach(*(entry / name for name in KERNELS.values()))


def _download(target: Path) -> None:
    with private_apt.lists("GNU Mach for i386") as apt:
        apt.download(*KERNELS)
        for package, name in KERNELS.items():
            (archive,) = apt.folder.glob(f"{package}_*.deb")
            files = apt.folder / package
            run_logged(["dpkg-deb", "-x", str(archive), str(files)], "gnumach-unpack.log")
            kernels = list(files.glob("boot/gnumach-*.gz"))
            if len(kernels) != 1:
                raise CobnutError(f"{package} does not hold one kernel")
            (target / name).write_bytes(gzip.decompress(kernels[0].read_bytes()))
