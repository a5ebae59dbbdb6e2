# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree that the server is compiled in: Debian's source with our series applied and our files over it.

It stays in build/linux, so that a change of ours compiles what depends on it and nothing else. For that the times of
files count: what patches touch, or no longer touch, is as new as the tree, everything else as old as in the archive.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from cobnut import paths
from cobnut.errors import CobnutError
from cobnut.linux import room, source
from cobnut.linux.source import Source
from cobnut.process import run_logged

OURS = paths.ROOT / "linux"
PATCHES, OVERLAY = OURS / "patches", OURS / "overlay"
TREE, OBJECTS = paths.BUILD / "linux" / "source", paths.BUILD / "linux" / "objects"
STAMP = paths.BUILD / "linux" / "source.json"
NEEDED_MB = 1200  # for tree and objects
TOUCHED = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
# Half of the files (source.unpack): of other architectures and of devices that no configuration here has.
LEFT_OUT = (
    *("arch/[!ux]*/*.[chS]", "arch/[!ux]*/boot/*", "arch/[!ux]*/configs/*", "arch/xtensa/*.[chS]"),
    *source.NOBODY_COMPILES,
    *(f"drivers/{name}/*.[ch]" for name in ("clk", "input/[a-z]*", "mfd", "pinctrl")),
)


class Stamp(BaseModel):
    """What TREE was made from, as its stamp says: the version, which of its files were left out, our patches by their
    hashes, the files that these touch, and those of ours that lie in it.
    """

    version: str = ""
    left_out: list[str] = []
    patches: dict[str, str] = {}
    touched: list[str] = []
    overlay: list[str] = []


def series(folder: Path = PATCHES) -> list[Path]:
    """The patches in the order in which they are applied."""
    return sorted(folder.glob("*.patch"))


def overlay(folder: Path = OVERLAY) -> list[Path]:
    """Our files, as paths from the root of the tree."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def touched(patches: Iterable[Path]) -> list[str]:
    """The files that patches change, make or take away."""
    return sorted({name for path in patches for name in TOUCHED.findall(path.read_text(errors="replace"))})


def ensure(given: Source) -> None:
    """Makes TREE what `given` with all of ours is."""
    old = _stamp()
    hashes = {path.name: digest(path) for path in series()}
    wanted = (given.version, list(LEFT_OUT), hashes)
    if TREE.is_dir() and (old.version, old.left_out, old.patches) == wanted:
        _lay_over(old)
    else:
        STAMP.unlink(missing_ok=True)
        if old.version != given.version:
            shutil.rmtree(OBJECTS, ignore_errors=True)
        with room.needed(TREE.parent, NEEDED_MB if not TREE.is_dir() else 0, "Linux's tree with what is compiled"):
            _unpack(given)
            apply(series(), TREE, given, ", which --version takes")
        for name in {*touched(series()), *old.touched}:
            if (TREE / name).exists():
                os.utime(TREE / name)
        _lay_over(Stamp())
    ours = [str(path) for path in overlay()]
    stamp = Stamp(
        version=given.version, left_out=list(LEFT_OUT), patches=hashes, touched=touched(series()), overlay=ours
    )
    STAMP.write_text(stamp.model_dump_json(indent=1))


def digest(*files: Path) -> str:
    """A hash of the contents of files."""
    whole = hashlib.sha256()
    for path in files:
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _unpack(given: Source) -> None:
    shutil.rmtree(TREE, ignore_errors=True)
    source.unpack(given, TREE, LEFT_OUT)


def apply(patches: Iterable[Path], tree: Path, given: Source, hint: str = "") -> None:
    """Applies patches, in their order, to the tree of `given`; what does not fit, to the line, is said in one."""
    log = "linux-patch.log"
    for path in patches:
        options = ["-p1", "-d", str(tree), "--forward", "--fuzz=0", "--no-backup-if-mismatch", "--silent"]
        try:
            run_logged(["patch", *options, "-i", str(path)], log)
        except CobnutError:
            raise CobnutError(
                f"{path.name} does not fit {source.PACKAGE} {given.version} (build/log/{log}); tried were"
                f" {', '.join(source.tried())}{hint}"
            ) from None


def _lay_over(old: Stamp) -> None:
    """Puts our files into the tree where they are not, or are others; takes away those that are no longer ours."""
    there = overlay()
    for name in set(old.overlay) - {str(path) for path in there}:
        (TREE / name).unlink(missing_ok=True)
    for path in there:
        target = TREE / path
        if not target.exists() or target.read_bytes() != (OVERLAY / path).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(OVERLAY / path, target)


def _stamp() -> Stamp:
    try:
        return Stamp.model_validate_json(STAMP.read_bytes())
    except (OSError, ValueError):
        return Stamp()
