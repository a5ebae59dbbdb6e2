# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that are not ours and that `build --set guest=` makes or fetches, as files for --image below build/guests."""

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from cobnut import boards, cpio, gnumach, linux_guest, paths
from cobnut.boards import Board
from cobnut.errors import unknown
from cobnut.linux import armel, images, initrd
from cobnut.linux import board as board_linux
from cobnut.linux.images import Image

FOLDER = paths.BUILD / "guests"
# what the init of Debian's Linux runs: the kernel's option run="...", which init finds in its environment, or a shell
COMMANDS = 'if [ -n "$run" ]; then sh -c "$run"; else setsid cttyhack sh; fi'
# before that, in an image of Debian's programs: what these expect, lmbench's in a folder of their own, and an X server
MOUNTED = "mount -t devtmpfs devtmpfs /dev\nmount -t tmpfs tmpfs /tmp\n"
LMBENCH = f"{MOUNTED}export PATH=/bin:/bin/lmbench\n{COMMANDS}"
STARTED = "export DISPLAY=:0\nXvfb $DISPLAY -noreset &\nuntil [ -S /tmp/.X11-unix/X0 ]; do sleep 1; done\n"
X = f"{MOUNTED}{STARTED}{COMMANDS}"
# those of armel, by the guest's name
ARMEL: dict[str, Callable[[], Image]] = {"debian": lambda: armel.IMAGE, "lmbench": lambda: armel.image("lmbench")}
# what no test boots: collie's standard kernel, which takes minutes to build, and what is there to be measured
UNTESTED = {("collie", "linux"), ("pc", "lmbench"), ("pc", "x")}
Files = dict[str, Path | bytes]  # by the name that they get: where they are, or what is in them


def made(board: Board, guest: str) -> list[Path]:
    """The files of a guest, made or fetched if they are missing, the kernel first."""
    known = {name: make for (where, name), make in GUESTS.items() if where == board.name}
    if guest not in known:
        raise unknown(f"guest for {board.name}", guest, known)
    folder = FOLDER / (guest if board.name == "pc" else f"{guest}-{board.name}")
    folder.mkdir(parents=True, exist_ok=True)
    return [_placed(folder / name, what) for name, what in known[guest](board).items()]


def make_all() -> None:
    """Makes what takes long, for all guests that tests boot."""
    for board, guest in GUESTS.keys() - UNTESTED:
        made(boards.find(board), guest)


def _placed(place: Path, what: Path | bytes) -> Path:
    """Puts a file, or a link to one of the cache, where it is looked for; others may look meanwhile."""
    new = place.with_name(f"{place.name}-{os.getpid()}")
    if isinstance(what, bytes):
        new.write_bytes(what)
    else:
        new.symlink_to(what)
    new.replace(place)
    return place


def _debian(_: Board) -> Files:
    guest = linux_guest.ensure()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        (initrd,) = linux_guest.boot(guest, Path(folder), COMMANDS).modules
        return {"kernel": guest.kernel, "initrd": initrd.path.read_bytes(), "symbols": guest.symbols}


def _debian_with(image: str, commands: str) -> Files:
    """Debian's kernel with an image of its programs."""
    guest = linux_guest.kernel()
    first = cpio.archive([cpio.program("init", (linux_guest.SCRIPT % commands).encode())])
    files = initrd.base(images.find(image)).read_bytes() + first
    return {"kernel": guest.kernel, "initrd": files, "symbols": guest.symbols}


def _lmbench(_: Board) -> Files:
    return _debian_with("lmbench", LMBENCH)


def _x(_: Board) -> Files:
    return _debian_with("x", X)


def _gnumach(_: Board) -> Files:
    mach = gnumach.ensure()
    return {"kernel": mach.kernel, "kernel-dbg": mach.debugging, gnumach.PROGRAM: gnumach.program()}


def _linux_for_board(board: Board) -> Files:
    linux = board_linux.ensure(board)
    return {"kernel": linux.kernel, "initrd": board_linux.initrd(), "symbols": linux.symbols}


def _fast_linux_for_board(board: Board) -> Files:
    linux = board_linux.ensure(board, board_linux.fast_series())
    return {"kernel": linux.kernel, "initrd": board_linux.initrd(), "symbols": linux.symbols}


def _debian_for_board(image: Callable[[], Image], patches: Sequence[Path], board: Board) -> Files:
    """A kernel for Debian's programs, with some of them."""
    linux = board_linux.ensure(board, patches, for_debian=True)
    return {"kernel": linux.kernel, "initrd": armel.initrd(image()), "symbols": linux.symbols}


def _debians_for_boards() -> dict[tuple[str, str], Callable[[Board], Files]]:
    return {
        (board, f"{guest}{suffix}"): partial(_debian_for_board, image, patches)
        for board in armel.BOARDS
        for guest, image in ARMEL.items()
        for suffix, patches in {"": (), "-fass": board_linux.fast_series()}.items()
    }


GUESTS: dict[tuple[str, str], Callable[[Board], Files]] = {
    ("pc", "linux"): _debian,
    ("pc", "lmbench"): _lmbench,
    ("pc", "x"): _x,
    ("pc", "gnumach"): _gnumach,
    **{(name, "linux"): _linux_for_board for name in board_linux.PORTS},
    **{(name, "linux-fass"): _fast_linux_for_board for name in board_linux.PORTS},
    **_debians_for_boards(),
}
