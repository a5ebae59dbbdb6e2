# SPDX-License-Identifier: GPL-2.0-or-later
"""The server: Linux compiled for our os layer. The executable is kept in the cache; what it is linked from stays in
build/linux, so that a change of ours compiles no more than what depends on it.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, packages, paths, progress
from cobnut.cache import Recipe
from cobnut.errors import CobnutError
from cobnut.linux import patching, source
from cobnut.linux.patching import OBJECTS, OURS, TREE, digest
from cobnut.linux.source import Source
from cobnut.packages import Package
from cobnut.process import alone, run_logged

NAME = "server"
LINK = paths.BUILD / "linux" / NAME
CONFIG = OURS / "config"
# what the os layer includes of the user library and of the root server
INCLUDED = (paths.ROOT / "user" / "include", paths.ROOT / "user" / "lib" / "ia32", OURS / "root")
TOOLS = (
    Package("bc", "bc"),
    Package("bison", "bison"),
    Package("flex", "flex"),
    Package("make", "make"),
    Package("patch", "patch"),
    Package("xz-utils", "xz"),
)
STEPS = 1240  # about as many files are compiled, archived or made
STEP = re.compile(r"  [A-Z]+ +(?:\[M\] )?(\S+)")


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
            "compiler": _first_line("gcc", "--version"),
            "linker": _first_line("ld", "--version"),
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
    packages.ensure(TOOLS)
    patching.ensure(given)
    OBJECTS.mkdir(parents=True, exist_ok=True)
    config = OBJECTS / ".config"
    wanted = OBJECTS / "config.wanted"  # so that an unchanged one is not completed again, which is as a change to make
    if not config.exists() or not wanted.exists() or wanted.read_bytes() != CONFIG.read_bytes():
        shutil.copyfile(CONFIG, config)
        _make("olddefconfig", log="linux-config.log")
        check_config(CONFIG.read_text(), config.read_text(), given.version)
        shutil.copyfile(CONFIG, wanted)
    with progress.meter(f"compiling Linux {given.version}") as meter:
        meter.total(STEPS)

        def line_seen(line: str) -> None:
            if step := STEP.match(line):
                meter.advance(note=step.group(1))

        jobs = len(os.sched_getaffinity(0))
        _make(f"-j{jobs}", "vmlinux", log="linux-server.log", line_seen=line_seen)


def _make(*words: str, log: str, line_seen: Callable[[str], None] = lambda line: None) -> None:
    where = ["-C", str(TREE), f"O={OBJECTS}", "ARCH=um", "SUBARCH=i386", f"COBNUT={paths.ROOT}"]
    run_logged(["make", *where, *words], log, line_seen=line_seen)


def check_config(wanted: str, got: str, version: str) -> None:
    """Refuses a configuration of which Linux has dropped a line, as it does where an option has another name or needs
    another one.
    """
    lines = set(got.splitlines())
    for line in wanted.splitlines():
        name = re.match(r"(?:# )?(CONFIG_\w+)", line)
        if name is None or line in lines:
            continue
        is_off = line.endswith("is not set") and not re.search(rf"^{name.group(1)}=", got, re.MULTILINE)
        if not is_off:
            raise CobnutError(f"linux/config: Linux {version} does not take the line '{line}'")


def _first_line(*command: str) -> str:
    done: Sequence[str] = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return done[0] if done else ""
