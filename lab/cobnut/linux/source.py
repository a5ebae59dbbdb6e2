# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's source of Linux: which versions there are, which were tried, and the one that is used, in the cache."""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, packages, paths, private_apt
from cobnut.cache import Recipe
from cobnut.errors import CobnutError, unknown
from cobnut.linux import room
from cobnut.process import run_logged

PACKAGE = "linux-source-6.1"
ARCHIVE = f"{PACKAGE}.tar.xz"
TRIED = paths.ROOT / "linux" / "versions"
VERSION = "version"  # the file of an entry with it
NEEDED_MB = 450  # package, archive and its copy
# of the archive, for `unpack`; a `*` stands for slashes as well
NOBODY_COMPILES = (
    *("Documentation/[a-z]*/*", "sound/*.[ch]", "tools/perf/*", "tools/testing/*"),
    *(f"drivers/{name}/*.[ch]" for name in ("gpu", "hwmon", "iio", "infiniband", "media", "net/ethernet")),
    *(f"drivers/{name}/*.[ch]" for name in ("net/wireless", "scsi", "staging", "usb")),
)


@dataclass(frozen=True)
class Source:
    """A version of the package, and the archive in it, which is unchanged."""

    version: str
    archive: Path


def tried(path: Path = TRIED) -> list[str]:
    """The versions that were tried, newest first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def recipe(version: str | None) -> Recipe:
    """What is asked of Debian: `version`, or the one that `choose` takes."""
    wanted = version or f"the first of {' '.join(tried())}"
    return Recipe("linuxsource", {"release": private_apt.RELEASE, "package": PACKAGE, "version": wanted})


def ensure(version: str | None = None) -> Source:
    """Makes sure of the source, downloading it if it is missing."""

    def make(folder: Path, _: Path) -> None:
        with room.needed(folder, NEEDED_MB, f"Debian's {PACKAGE}"):
            _download(version, folder)

    entry = cache.get(recipe(version), make)
    return Source((entry / VERSION).read_text().strip(), entry / ARCHIVE)


def unpack(given: Source, tree: Path, left_out: Iterable[str]) -> None:
    """Unpacks the source to the new folder `tree`, without the files that the patterns `left_out` name: of these, which
    take longer to write than to compile what is needed, no build reads more than Kconfig files and Makefiles.
    """
    packages.say(f"unpacking {PACKAGE} {given.version}")
    tree.mkdir(parents=True)
    options = ["--strip-components=1", "--no-same-owner", "--anchored"]
    options += [f"--exclude={PACKAGE}/{name}" for name in left_out]
    run_logged(["tar", "-xf", str(given.archive), "-C", str(tree), *options], "linux-unpack.log")


def choose(there: list[str], version: str | None) -> str:
    """One of the versions that are `there`, newest first: `version`, else one that was tried, else the newest."""
    if not there:
        raise CobnutError(f"Debian {private_apt.RELEASE} has no {PACKAGE}")
    if version is not None:
        if version not in there:
            raise unknown(f"version of {PACKAGE}", version, there)
        return version
    found = next((one for one in there if one in tried()), None)
    if found is None:
        packages.say(f"no version of {PACKAGE} that was tried is there any more: taking {there[0]}")
    return found or there[0]


def _download(version: str | None, target: Path) -> None:
    # the package is for all architectures, and there are most of its versions in the lists of the usual one
    with private_apt.lists(f"{PACKAGE}", architecture="amd64", security=True) as apt:
        chosen = choose(apt.versions(PACKAGE), version)
        files = private_apt.unpack(apt.download(f"{PACKAGE}={chosen}"), apt.folder / "files", "linux-unpack.log")
        shutil.move(files / "usr/src" / ARCHIVE, target / ARCHIVE)
    (target / VERSION).write_text(f"{chosen}\n")
