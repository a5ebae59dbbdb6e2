# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's source of Linux, unchanged, compiled for a board with an ARM processor: a guest for the laboratory.

The configuration is as small as it gets, so that compiling takes minutes. The kernel has the board's device tree behind
it, as a loader does that knows none; our own init (lab/guests/init_arm.c) is alone in its initial RAM disk.
"""

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, cpio, packages, paths
from cobnut.boards import Board
from cobnut.cache import Recipe
from cobnut.linux import kbuild, room, source
from cobnut.linux.kbuild import Build
from cobnut.linux.patching import OURS, digest
from cobnut.linux.source import Source
from cobnut.process import alone, run_logged

TREES = {"versatilepb": "versatile-pb.dtb"}  # of devices, by board
KERNEL, SYMBOLS = "zImage", "System.map"
COMPILER = "arm-none-eabi-"
INIT = paths.LAB / "guests" / "init_arm.c"
FREESTANDING = ("-march=armv4", "-marm", "-nostdlib", "-ffreestanding", "-static", "-Wl,-z,noexecstack")
STEPS = 760
NEEDED_MB = 1500
# of other architectures, which no build reads; a name of ARM's begins with what others begin with as well
LEFT_OUT = (
    *(f"arch/{name}/*.[chS]" for name in ("[!a]*", "alpha", "arc", "arm64")),
    *(f"arch/{name}/boot/*" for name in ("[!a]*", "alpha", "arc", "arm64")),
    *source.NOBODY_COMPILES,
)


@dataclass(frozen=True)
class BoardLinux:
    """The kernel, the names of its code, and Debian's version of its source."""

    kernel: Path
    symbols: Path
    version: str


def config(board: Board) -> Path:
    """What is configured for the board."""
    return OURS / "boards" / f"{board.name}.config"


def recipe(board: Board, given: Source) -> Recipe:
    """All that goes into the kernel."""
    inputs = {
        "board": board.name,
        "version": given.version,
        "config": digest(config(board)),
        "compiler": kbuild.first_line(f"{COMPILER}gcc", "--version"),
        "linker": kbuild.first_line(f"{COMPILER}ld", "--version"),
    }
    return Recipe("linuxboard", inputs)


def ensure(board: Board) -> BoardLinux:
    """Makes sure of the kernel: what is missing is fetched and compiled."""
    packages.ensure(packages.BUILD_TOOLS, packages.ARM_TOOLS, kbuild.TOOLS)
    given = source.ensure()
    entry = cache.get(recipe(board, given), lambda folder, _: _make(board, given, folder))
    return BoardLinux(entry / KERNEL, entry / SYMBOLS, given.version)


def initrd() -> bytes:
    """The initial RAM disk: init and a console."""
    init = _init()
    entries = [cpio.folder("dev"), cpio.device("dev/console", 5, 1), cpio.program("init", init.read_bytes())]
    return cpio.archive(entries)


def _make(board: Board, given: Source, target: Path) -> None:
    room_for = paths.BUILD / "linux"
    room_for.mkdir(parents=True, exist_ok=True)
    with (
        room.needed(room_for, NEEDED_MB, f"Linux's tree with what is compiled for {board.name}"),
        tempfile.TemporaryDirectory(prefix="board-", dir=room_for) as name,
    ):
        folder = Path(name)
        build = Build(folder / "source", folder / "objects", ("ARCH=arm", f"CROSS_COMPILE={COMPILER}"))
        source.unpack(given, build.tree, LEFT_OUT)
        build.objects.mkdir(exist_ok=True)
        wanted = config(board)
        build.make("allnoconfig", f"KCONFIG_ALLCONFIG={wanted}", log="linux-config.log")
        kbuild.check_config(wanted, (build.objects / ".config").read_text(), given.version)
        title = f"compiling Linux {given.version} for {board.name}"
        build.compile(title, STEPS, "zImage", TREES[board.name], log=f"linux-{board.name}.log")
        made = build.objects / "arch" / "arm" / "boot"
        tree = made / "dts" / TREES[board.name]
        (target / KERNEL).write_bytes((made / "zImage").read_bytes() + tree.read_bytes())
        shutil.copy2(build.objects / "System.map", target / SYMBOLS)


def _init() -> Path:
    """Our init, built if it is not or if its source has changed."""
    target = paths.BUILD / "linux" / "init_arm"
    target.parent.mkdir(parents=True, exist_ok=True)
    with alone(paths.LOCKS / "linux-init-arm"):
        if not target.exists() or target.stat().st_mtime < INIT.stat().st_mtime:
            options = [*FREESTANDING, "-O2", "-Wall", "-Wextra", "-Werror"]
            run_logged([f"{COMPILER}gcc", *options, "-o", str(target), str(INIT)], "guest-init_arm.log")
    return target
