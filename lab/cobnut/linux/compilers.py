# SPDX-License-Identifier: GPL-2.0-or-later
"""Compilers of programs for guests: this machine's own for PCs, and for ARM Debian's cross compiler. That one is not
installed, for it would take away what compiles for 32-bit PCs (gcc-multilib conflicts with it), but unpacked.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, packages, private_apt
from cobnut.cache import Recipe
from cobnut.process import run_logged

OPTIONS = ("-O1", "-w", "-D_GNU_SOURCE")
CROSS = (
    *("binutils-arm-linux-gnueabi", "cpp-12-arm-linux-gnueabi", "gcc-12-arm-linux-gnueabi", "libc6-armel-cross"),
    *("libc6-dev-armel-cross", "libgcc-12-dev-armel-cross", "libgcc-s1-armel-cross", "linux-libc-dev-armel-cross"),
)
LOG = "linux-suites.log"
KINDS = ("--host=i686-linux-gnu", "--build=x86_64-linux-gnu")


@dataclass(frozen=True)
class Tools:
    """A compiler's command, and what Debian calls the architecture and the folder of its libraries."""

    command: tuple[str, ...]
    architecture: str
    libraries: str


def for_pc() -> Tools:
    """This machine's compiler."""
    packages.ensure(packages.BUILD_TOOLS, packages.MAKE)
    return Tools(("gcc", "-m32", *OPTIONS), "i386", "i386-linux-gnu")


def for_armel() -> Tools:
    """Debian's cross compiler, in the cache."""
    packages.ensure(packages.BUILD_TOOLS, packages.MAKE)  # whose libraries it shares
    inputs = {"release": private_apt.RELEASE, "packages": " ".join(CROSS)}
    folder = cache.get(Recipe("armelcompiler", inputs), lambda target, _: _unpack(target))
    found = (f"LD_LIBRARY_PATH={folder / 'usr/lib/x86_64-linux-gnu'}", f"PATH={folder / 'usr/bin'}:/usr/bin:/bin")
    gcc = str(folder / "usr/bin/arm-linux-gnueabi-gcc-12")
    return Tools(("env", *found, gcc, f"--sysroot={folder}", *OPTIONS), "armel", "arm-linux-gnueabi")


def configure(tree: Path, compiler: str, *words: str) -> None:
    """Configures a source package for 32-bit PCs."""
    run_logged(["env", "-C", str(tree), "sh", "./configure", *KINDS, *words, f"CC={compiler}"], LOG)


def make(tree: Path, *words: str) -> None:
    """Makes what the words name, by all processors."""
    run_logged(["make", "-C", str(tree), f"-j{os.cpu_count()}", *words], LOG)


def _unpack(target: Path) -> None:
    with private_apt.lists("a compiler for armel", architecture="amd64") as apt:
        private_apt.unpack(apt.download(*CROSS), target, LOG)
