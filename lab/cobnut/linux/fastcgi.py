# SPDX-License-Identifier: GPL-2.0-or-later
"""The FastCGI server of lab/guests, compiled for guests with Debian's library, of which nothing is installed."""

from pathlib import Path

from cobnut import cache, guest_programs, packages, private_apt
from cobnut.cache import Recipe
from cobnut.linux import kbuild
from cobnut.linux.patching import digest
from cobnut.process import run_logged

PACKAGE, LIBRARY = "libfcgi-dev", "lib/i386-linux-gnu/libfcgi.a"
PROGRAM = "greeter"
SOURCE = guest_programs.SOURCES / f"{PROGRAM}.c"


def ensure() -> Path:
    """Makes sure of the program, a static one: what is missing is fetched and compiled."""
    packages.ensure(packages.BUILD_TOOLS)
    inputs = {
        "release": private_apt.RELEASE,
        "package": PACKAGE,
        "source": digest(SOURCE),
        "compiler": kbuild.first_line("gcc", "--version"),
    }
    return cache.get(Recipe("linuxfastcgi", inputs), lambda folder, _: _make(folder)) / PROGRAM


def _make(folder: Path) -> None:
    with private_apt.lists(f"the package {PACKAGE} for i386") as apt:
        tree = private_apt.unpack(apt.download(PACKAGE), apt.folder / "tree", "fastcgi-unpack.log")
        include, library = f"-I{tree / 'usr/include'}", str(tree / "usr" / LIBRARY)
        words = [*guest_programs.COMPILER, include, "-o", str(folder / PROGRAM), str(SOURCE), library]
        run_logged(words, f"guest-{PROGRAM}.log")
