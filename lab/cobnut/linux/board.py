# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's source of Linux compiled for a board with an ARM processor: a guest for the laboratory. Either unchanged, or
with our series for fast address-space switching (linux/arm-fass, docs/linux-arm.md); nothing else differs.

The configuration is as small as it gets, so that compiling takes minutes; Debian's programs expect more of a kernel
(FOR_DEBIAN). The kernel has the board's device tree behind it, if Linux has one, for QEMU's loader gives none; our own
init (lab/guests/init_arm.c) is alone in its initial RAM disk.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, cpio, packages, paths
from cobnut.boards import Board
from cobnut.cache import Recipe
from cobnut.linux import kbuild, patching, placing, room, source
from cobnut.linux.kbuild import Build
from cobnut.linux.patching import OURS, digest
from cobnut.linux.source import Source
from cobnut.process import alone, run_logged

KERNEL, SYMBOLS = "zImage", "System.map"
COMPILER = "arm-none-eabi-"
INIT_FILES = (
    *("init_arm.c", "crowd_arm.c", "heap_arm.c", "potato_arm.c", "regions_arm.c", "ring_arm.c", "streams_arm.c"),
    "arm_calls.h",
)
INIT = [paths.LAB / "guests" / name for name in INIT_FILES]
FREESTANDING = ("-march=armv4", "-marm", "-nostdlib", "-ffreestanding", "-static", "-Wl,-z,noexecstack")
SHARED = "init-shared"  # init with its code where processes can share it
SHARE = "fass=share"  # the kernel's option with which they do
SHARING = f"{SHARE} rdinit=/{SHARED}"
STEPS, STEPS_FOR_DEBIAN = 760, 1190
NEEDED_MB = 1500
FASS = OURS / "arm-fass"  # the series
FASS_OPTION = "CONFIG_ARM_FASS=y"  # all that its configuration says more
FOR_DEBIAN = OURS / "boards" / "debian.config"  # what a kernel for Debian's programs has beside the board's
# of other architectures, which no build reads; a name of ARM's begins with what others begin with as well
LEFT_OUT = (
    *(f"arch/{name}/*.[chS]" for name in ("[!a]*", "alpha", "arc", "arm64")),
    *(f"arch/{name}/boot/*" for name in ("[!a]*", "alpha", "arc", "arm64")),
    *source.NOBODY_COMPILES,
)


@dataclass(frozen=True)
class Port:
    """What Linux calls the board's first serial line, and the file of its device tree, if it has one."""

    console: str
    tree: str | None = None


PORTS = {"versatilepb": Port("ttyAMA0", "versatile-pb.dtb"), "collie": Port("ttySA1")}  # by the board's name


@dataclass(frozen=True)
class BoardLinux:
    """The kernel, the names of its code, and Debian's version of its source."""

    kernel: Path
    symbols: Path
    version: str


def config(board: Board) -> Path:
    """What is configured for the board."""
    return OURS / "boards" / f"{board.name}.config"


def fast_series(first: int | None = None) -> list[Path]:
    """Our series for fast address-space switching, or its `first` patches."""
    return patching.series(FASS)[:first]


def recipe(board: Board, given: Source, patches: Sequence[Path] = (), *, for_debian: bool = False) -> Recipe:
    """All that goes into the kernel."""
    inputs = {
        "board": board.name,
        "version": given.version,
        "config": digest(config(board)),
        "compiler": kbuild.first_line(f"{COMPILER}gcc", "--version"),
        "linker": kbuild.first_line(f"{COMPILER}ld", "--version"),
    }
    if patches:
        inputs["patches"] = digest(*patches)
        inputs["option"] = FASS_OPTION
    if for_debian:
        inputs["programs"] = digest(FOR_DEBIAN)
    return Recipe("linuxboard", inputs)


def ensure(board: Board, patches: Sequence[Path] = (), *, for_debian: bool = False) -> BoardLinux:
    """Makes sure of the kernel, unchanged or with patches (`fast_series`): what is missing is fetched and compiled."""
    packages.ensure(packages.BUILD_TOOLS, packages.ARM_TOOLS, kbuild.TOOLS)
    given = source.ensure()
    name, option, steps = (f"{board.name}-fass", FASS_OPTION, STEPS) if patches else (board.name, "", STEPS)
    if for_debian:
        name, option, steps = f"{name}-debian", f"{option}\n{FOR_DEBIAN.read_text()}", STEPS_FOR_DEBIAN

    def prepare(tree: Path) -> None:
        patching.apply(patches, tree, given)

    entry = cache.get(
        recipe(board, given, patches, for_debian=for_debian),
        lambda folder, _: make(board, given, folder, name, option, prepare, steps),
    )
    return BoardLinux(entry / KERNEL, entry / SYMBOLS, given.version)


def initrd(place: int | None = None, *, shared: bool = False) -> bytes:
    """The initial RAM disk: init, in both forms, and a console. In a place (placing.py), or with its code where
    processes can share it, there is one init, of the same name.
    """
    if place is None and not shared:
        programs = {"init": _init("init", _link), SHARED: _shared()}
    else:
        programs = {"init": _shared(place or 0) if shared else _below(place or 0)}
    files = [cpio.program(name, path.read_bytes()) for name, path in programs.items()]
    return cpio.archive([cpio.folder("dev"), cpio.device("dev/console", 5, 1), *files])


def make(
    board: Board,
    given: Source,
    target: Path,
    name: str,
    option: str,
    prepare: Callable[[Path], None],
    steps: int = STEPS,
) -> None:
    """Compiles the kernel called `name` into `target`, configured with `option` beside and of a tree that is changed
    by `prepare`.
    """
    room_for = paths.BUILD / "linux"
    room_for.mkdir(parents=True, exist_ok=True)
    with (
        room.needed(room_for, NEEDED_MB, f"Linux's tree with what is compiled for {board.name}"),
        tempfile.TemporaryDirectory(prefix="board-", dir=room_for) as temporary,
    ):
        folder = Path(temporary)
        build = Build(folder / "source", folder / "objects", ("ARCH=arm", f"CROSS_COMPILE={COMPILER}"))
        source.unpack(given, build.tree, LEFT_OUT)
        build.objects.mkdir(exist_ok=True)
        prepare(build.tree)
        wanted = folder / f"{name}.config"
        wanted.write_text(f"{config(board).read_text()}{option}\n")
        build.make("allnoconfig", f"KCONFIG_ALLCONFIG={wanted}", log="linux-config.log")
        kbuild.check_config(wanted, (build.objects / ".config").read_text(), given.version)
        title = f"compiling Linux {given.version} for {name}"
        tree = PORTS[board.name].tree
        build.compile(title, steps, "zImage", *([tree] if tree else []), log=f"linux-{name}.log")
        made = build.objects / "arch" / "arm" / "boot"
        devices = (made / "dts" / tree).read_bytes() if tree else b""
        (target / KERNEL).write_bytes((made / "zImage").read_bytes() + devices)
        shutil.copy2(build.objects / "System.map", target / SYMBOLS)


def _init(name: str, link: Callable[[Path], Path]) -> Path:
    """Our init in a form of this name, linked if it is not or if its source or its place has changed."""
    folder = paths.BUILD / "linux" / "init-arm"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / name
    with alone(paths.LOCKS / "linux-init-arm"):
        made = target.stat().st_mtime if target.exists() else 0
        if any(made < path.stat().st_mtime for path in (*INIT, Path(placing.__file__))):
            link(target)
    return target


def _shared(place: int = 0) -> Path:
    def link(target: Path) -> Path:
        return placing.Places().link(lambda options: _link(target, options), place)

    return _init(f"{SHARED}-{place}", link)


def _below(place: int) -> Path:
    return _init(f"init-{place}", lambda target: _link(target, placing.options(placing.BELOW, place)))


def _link(target: Path, options: Sequence[str] = ()) -> Path:
    sources = [str(path) for path in INIT if path.suffix == ".c"]
    words = [*FREESTANDING, "-O2", "-Wall", "-Wextra", "-Werror", *options]
    run_logged([f"{COMPILER}gcc", *words, "-o", str(target), *sources], "guest-init_arm.log")
    return target
