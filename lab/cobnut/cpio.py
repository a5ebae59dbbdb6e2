# SPDX-License-Identifier: GPL-2.0-or-later
"""Writing an initial file system for Linux: a cpio archive of the "newc" format (Linux,
Documentation/driver-api/early-userspace).
"""

import stat
from dataclasses import dataclass

FOLDER, FILE, DEVICE, LINK = stat.S_IFDIR, stat.S_IFREG, stat.S_IFCHR, stat.S_IFLNK
ALIGNMENT = 4  # of one archive that follows another
LAST = "TRAILER!!!"
MAGIC = b"070701"


@dataclass(frozen=True)
class Entry:
    """A folder, a file, a symbolic link or a character device. `mode` holds kind and permissions, `content` a link's
    target as well, `device` major and minor, `owner` user and group.
    """

    name: str
    mode: int
    content: bytes = b""
    device: tuple[int, int] = (0, 0)
    owner: tuple[int, int] = (0, 0)


def folder(name: str) -> Entry:
    return Entry(name, FOLDER | 0o755)


def program(name: str, content: bytes) -> Entry:
    return Entry(name, FILE | 0o755, content)


def file(name: str, content: bytes) -> Entry:
    return Entry(name, FILE | 0o644, content)


def link(name: str, target: str) -> Entry:
    return Entry(name, LINK | 0o777, target.encode())


def device(name: str, major: int, minor: int) -> Entry:
    return Entry(name, DEVICE | 0o600, device=(major, minor))


def archive(entries: list[Entry]) -> bytes:
    """The archive; a folder has to come before what is in it."""
    parts = [_record(number, entry) for number, entry in enumerate([*entries, Entry(LAST, 0)], start=1)]
    return b"".join(parts)


def _record(number: int, entry: Entry) -> bytes:
    name = entry.name.encode() + b"\0"
    # inode, mode, uid, gid, links, time, size, device of the file, device that it stands for, name's size, no checksum
    fields = (number, entry.mode, *entry.owner, 1, 0, len(entry.content), 0, 0, *entry.device, len(name), 0)
    head = MAGIC + "".join(f"{field:08x}" for field in fields).encode()
    return _padded(head + name) + _padded(entry.content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % ALIGNMENT)
