# SPDX-License-Identifier: GPL-2.0-or-later
"""The tree that the server is compiled in: Debian's source with our series applied and our files over it.

It stays in build/linux, so that a change of ours compiles what depends on it and nothing else. For that the times of
files count: what patches touch, or no longer touch, is as new as the tree, everything else as old as in the archive.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from cobnut import packages, paths
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
# Half of the files, which take longer to write than to compile what is needed: of other architectures and of devices no
# build reads more than Kconfig files and Makefiles. A `*` stands for slashes as well.
LEFT_OUT = (
    *("arch/[!ux]*/*.[chS]", "arch/[!ux]*/boot/*", "arch/[!ux]*/configs/*", "arch/xtensa/*.[chS]"),
    *("Documentation/[a-z]*/*", "sound/*.[ch]", "tools/perf/*", "tools/testing/*"),
    *(f"drivers/{name}/*.[ch]" for name in ("clk", "gpu", "hwmon", "iio", "infiniband", "input", "media", "mfd")),
    *(f"drivers/{name}/*.[ch]" for name in ("net/ethernet", "net/wireless", "pinctrl", "scsi", "staging", "usb")),
)


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
    unpacked = {"version": given.version, "patches": hashes}
    if TREE.is_dir() and {key: old.get(key) for key in unpacked} == unpacked:
        _lay_over(old)
    else:
        STAMP.unlink(missing_ok=True)
        if old.get("version") != given.version:
            shutil.rmtree(OBJECTS, ignore_errors=True)
        with room.needed(TREE.parent, NEEDED_MB if not TREE.is_dir() else 0, "Linux's tree with what is compiled"):
            _unpack(given)
            _apply(given)
        for name in {*touched(series()), *old.get("touched", ())}:
            if (TREE / name).exists():
                os.utime(TREE / name)
        _lay_over({})
    stamp = {**unpacked, "touched": touched(series()), "overlay": [str(path) for path in overlay()]}
    STAMP.write_text(json.dumps(stamp, indent=1))


def digest(*files: Path) -> str:
    """A hash of the contents of files."""
    whole = hashlib.sha256()
    for path in files:
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _unpack(given: Source) -> None:
    packages.say(f"unpacking {source.PACKAGE} {given.version}")
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    left_out = [f"--exclude={source.PACKAGE}/{name}" for name in LEFT_OUT]
    options = ["--strip-components=1", "--no-same-owner", "--anchored", *left_out]
    run_logged(["tar", "-xf", str(given.archive), "-C", str(TREE), *options], "linux-unpack.log")


def _apply(given: Source) -> None:
    log = "linux-patch.log"
    for path in series():
        options = ["-p1", "-d", str(TREE), "--forward", "--fuzz=0", "--no-backup-if-mismatch", "--silent"]
        try:
            run_logged(["patch", *options, "-i", str(path)], log)
        except CobnutError:
            raise CobnutError(
                f"{path.name} does not fit {source.PACKAGE} {given.version} (build/log/{log}); tried were"
                f" {', '.join(source.tried())}, which --version takes"
            ) from None


def _lay_over(old: dict) -> None:
    """Puts our files into the tree where they are not, or are others; takes away those that are no longer ours."""
    there = overlay()
    for name in set(old.get("overlay", ())) - {str(path) for path in there}:
        (TREE / name).unlink(missing_ok=True)
    for path in there:
        target = TREE / path
        if not target.exists() or target.read_bytes() != (OVERLAY / path).read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(OVERLAY / path, target)


def _stamp() -> dict:
    try:
        return dict(json.loads(STAMP.read_text()))
    except (OSError, ValueError):
        return {}
