# SPDX-License-Identifier: GPL-2.0-or-later
"""The server: Linux compiled for our os layer. The executable is kept in the cache; what it is linked from stays in
build/linux, so that a change of ours compiles no more than what depends on it.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, packages, paths
from cobnut.cache import Recipe
from cobnut.linux import kbuild, patching, source
from cobnut.linux.kbuild import Build
from cobnut.linux.patching import OBJECTS, OURS, TREE, digest
from cobnut.linux.source import Source
from cobnut.process import alone

NAME = "server"
LINK = paths.BUILD / "linux" / NAME
CONFIG = OURS / "config"
# what the os layer includes of the user library and of the root server
INCLUDED = (paths.ROOT / "user" / "include", paths.ROOT / "user" / "lib" / "ia32", OURS / "root")
STEPS = 1240  # about as many files are compiled, archived or made


@dataclass(frozen=True)
class Server:
    """An executable of Linux, and Debian's version of its source."""

    executable: Path
    version: str


def recipe(given: Source) -> Recipe:
    """All that goes into the server."""
    included = sorted(path for folder in INCLUDED for path in folder.rglob("*.[hS]") if path.is_file())
    files = [patching.OVERLAY / path for path in patching.overlay()]
    return Recipe(
        "linuxserver",
        {
            "version": given.version,
            "patches": digest(*patching.series()),
            "overlay": " ".join(map(str, patching.overlay())) + digest(*files),
            "config": digest(CONFIG),
            "included": digest(*included),
            "compiler": kbuild.first_line("gcc", "--version"),
            "linker": kbuild.first_line("ld", "--version"),
        },
    )


def ensure(version: str | None = None) -> Server:
    """Makes sure of the server, of Debian's `version` if one is given: what is missing is fetched and compiled."""
    packages.ensure(packages.BUILD_TOOLS)
    given = source.ensure(version)

    def make(folder: Path, _: Path) -> None:
        with alone(paths.LOCKS / "linux-server"):
            _compile(given)
            shutil.copy2(OBJECTS / "vmlinux", folder / NAME)

    executable = cache.get(recipe(given), make) / NAME
    LINK.parent.mkdir(parents=True, exist_ok=True)
    new = LINK.with_name(f"{NAME}-{os.getpid()}")
    new.symlink_to(executable)
    new.replace(LINK)
    return Server(LINK, given.version)


def _compile(given: Source) -> None:
    packages.ensure(kbuild.TOOLS)
    patching.ensure(given)
    OBJECTS.mkdir(parents=True, exist_ok=True)
    config = OBJECTS / ".config"
    wanted = OBJECTS / "config.wanted"  # so that an unchanged one is not completed again, which is as a change to make
    if not config.exists() or not wanted.exists() or wanted.read_bytes() != CONFIG.read_bytes():
        shutil.copyfile(CONFIG, config)
        _build().make("olddefconfig", log="linux-config.log")
        kbuild.check_config(CONFIG, config.read_text(), given.version)
        shutil.copyfile(CONFIG, wanted)
    _build().compile(f"compiling Linux {given.version}", STEPS, "vmlinux", log="linux-server.log")


def _build() -> Build:
    return Build(TREE, OBJECTS, ("ARCH=um", "SUBARCH=i386", f"COBNUT={paths.ROOT}"))
