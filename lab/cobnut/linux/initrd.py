# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's initial file system: an image, made once and kept in the cache, and behind it what one run adds to it.
Linux unpacks one archive after the other.
"""

import gzip
import os
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, cpio, private_apt
from cobnut.cache import Recipe
from cobnut.cpio import Entry
from cobnut.errors import CobnutError
from cobnut.linux import images, rootfs
from cobnut.linux.images import Image

ARCHIVE = "image.cpio"
FORMAT = "1"  # another number where rootfs makes something else of the same packages
MB = 1 << 20
MOST_MB = 1024  # of files
# of ours: in linux/guests, and in the guest
SCRIPTS = {
    "init": "init",
    "session": "etc/cobnut/session",
    "address": "etc/cobnut/address",
    "inittab": "etc/inittab",
}
ENDS = {"armel": "reboot"}  # how a machine's run ends that Linux cannot switch off
SWITCHES = ("halt", "poweroff", "reboot")  # a guest that starts again ends, too


@dataclass(frozen=True)
class Extra:
    """What one run adds: a command instead of a shell, a folder whose files are at /files, and whether eth0 gets an
    address from the network that it is on.
    """

    command: str | None = None
    files: Path | None = None
    address: bool = False


def recipe(image: Image) -> Recipe:
    """What is asked of Debian and what is made of it; newer versions of packages are not looked for."""
    inputs = {
        "release": private_apt.RELEASE,
        "packages": " ".join(image.packages),
        "without": " ".join(image.without),
        **({"alone": " ".join(image.alone)} if image.alone else {}),
        **({"components": image.components} if image.components != images.COMPONENTS else {}),
        **({"architecture": image.architecture} if image.architecture != "i386" else {}),
        "links": " ".join(f"{place}={target}" for place, target in image.links),
        **({"users": " ".join(f"{name}={number}" for name, number in image.users)} if image.users else {}),
        "format": FORMAT,
    }
    return Recipe("linuximage", inputs)


def base(image: Image) -> Path:
    """The image's archive, made if it is missing."""

    def make(folder: Path, _: Path) -> None:
        wanted = f"the packages of the image {image.name} for {image.architecture}"
        with private_apt.lists(wanted, architecture=image.architecture, components=image.components) as apt:
            archives = [*apt.download_all(image.packages), *(apt.download(*image.alone) if image.alone else ())]
            entries = rootfs.made_of(archives, image.links, image.without, image.users)
        (folder / ARCHIVE).write_bytes(cpio.archive(entries))

    return cache.get(recipe(image), make) / ARCHIVE


@dataclass(frozen=True)
class Written:
    """How many bytes of a guest's memory an archive takes, and what is unpacked of it: both at once for a moment."""

    archive: int
    unpacked: int

    @property
    def both(self) -> int:
        return self.archive + self.unpacked


def write(image: Image, extra: Extra, out: Path, *, most: int) -> Written:
    """Writes what a guest with this image gets to `out`: compressed if it would take more than `most` bytes of memory
    otherwise.
    """
    archive = base(image).read_bytes() + cpio.archive(list(_added(image, extra)))
    unpacked = len(archive)
    if 2 * unpacked > most:
        archive = gzip.compress(archive, 1, mtime=0)
    out.write_bytes(archive)
    return Written(len(archive), unpacked)


def check(extra: Extra) -> None:
    """Refuses what cannot be put into a guest."""
    if extra.command is not None and not extra.command.strip():
        raise CobnutError("--run: an empty command")
    if extra.files is None:
        return
    if not extra.files.is_dir():
        raise CobnutError(f"--files {extra.files}: {'is no folder' if extra.files.exists() else 'no such folder'}")
    size = sum(path.lstat().st_size for path in extra.files.rglob("*"))
    if size > MOST_MB * MB:
        raise CobnutError(f"--files {extra.files}: has {size // MB} MB, and a guest takes {MOST_MB} at most")


def _added(image: Image, extra: Extra) -> Iterator[Entry]:
    for source, place in SCRIPTS.items():
        yield cpio.program(place, (images.FOLDER / source).read_bytes())
    for place, name in image.files:
        content = (images.FOLDER / name).read_bytes()
        yield from (cpio.folder(str(above)) for above in reversed(Path(place).parents[:-1]))
        yield cpio.program(place, content) if content.startswith(b"#!") else cpio.file(place, content)
    for name in SWITCHES:
        yield cpio.link(f"usr/sbin/{name}", "/bin/busybox")
    term = shlex.quote(os.environ.get("TERM") or "vt100")
    settings = {
        "SHELL": shlex.quote(image.shell),
        "TERM": term,
        "ADDRESS": "dhcp" if extra.address else "",
        "END": ENDS.get(image.architecture, "poweroff"),
    }
    yield cpio.file("etc/cobnut/settings", "".join(f"{name}={value}\n" for name, value in settings.items()).encode())
    if extra.command is not None:
        yield cpio.file("etc/cobnut/run", f"{extra.command}\n".encode())
    if extra.files is not None:
        yield from _files(extra.files)


def _files(folder: Path) -> Iterator[Entry]:
    """What is below `folder`, links as they are; sockets and devices of this machine are left out."""
    try:
        for path in sorted(folder.rglob("*")):
            name, mode = f"files/{path.relative_to(folder)}", path.lstat().st_mode
            if stat.S_ISLNK(mode):
                yield cpio.link(name, os.readlink(path))
            elif stat.S_ISDIR(mode):
                yield Entry(name, cpio.FOLDER | stat.S_IMODE(mode))
            elif stat.S_ISREG(mode):
                yield Entry(name, cpio.FILE | stat.S_IMODE(mode), path.read_bytes())
    except OSError as error:
        raise CobnutError(f"--files {folder}: {error.filename}: {error.strerror}") from None
