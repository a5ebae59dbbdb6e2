# SPDX-License-Identifier: GPL-2.0-or-later
"""A file system from Debian's packages, as entries of a cpio archive: nothing is unpacked on this machine, so owners
and permissions need no privileges, and no script of a package runs. What such scripts would make is made here.
"""

import stat
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from cobnut import cpio
from cobnut.cpio import Entry
from cobnut.errors import CobnutError

LEFT_OUT = (
    *("usr/share/bug", "usr/share/doc", "usr/share/info", "usr/share/lintian", "usr/share/locale", "usr/share/man"),
    *("var/lib/dpkg", "var/cache"),
)
MERGED = ("bin", "lib", "sbin")  # are links into usr since Debian 12, where packages still name both
OUR_FILES = {
    "etc/group": "root:x:0:\ntty:x:5:\nshadow:x:42:\nusers:x:100:\nnogroup:x:65534:\n",
    "etc/hosts": "127.0.0.1\tlocalhost cobnut\n::1\tlocalhost\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "etc/passwd": (
        "root:x:0:0:root:/root:/bin/sh\nuser:x:1000:100:user:/tmp:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
    ),
}
OUR_FOLDERS = ("dev", "etc", "etc/cobnut", "files", "mnt", "proc", "root", "run", "sys", "tmp", "usr", "var", "var/tmp")
KINDS = {tarfile.REGTYPE: cpio.FILE, tarfile.AREGTYPE: cpio.FILE, tarfile.DIRTYPE: cpio.FOLDER}


def made_of(
    packages: Iterable[Path],
    links: Sequence[tuple[str, str]] = (),
    without: Sequence[str] = (),
    users: Sequence[tuple[str, int]] = (),
) -> list[Entry]:
    """What the archives of `packages` hold and what every guest needs, folders before what is in them; links as
    (place, target), where a package has not put something else. What a pattern of `without` names is left out, and
    what is below it. `users`, as (name, number), are among those of every guest.
    """
    left_out = (*LEFT_OUT, *without)
    found = {name: cpio.folder(name) for name in OUR_FOLDERS}
    for name in MERGED:
        found[f"usr/{name}"] = cpio.folder(f"usr/{name}")
        found[name] = cpio.link(name, f"usr/{name}")
    for package in packages:
        for entry in _contents(package, found, left_out):
            if entry.name not in found or stat.S_IFMT(entry.mode) != cpio.FOLDER:
                found[entry.name] = entry
    for name, text in OUR_FILES.items():
        found.setdefault(name, cpio.file(name, (text + _lines(name, users)).encode()))
    found["dev/console"] = cpio.device("dev/console", 5, 1)  # what the kernel opens for the first process
    found["dev/null"] = cpio.device("dev/null", 1, 3)
    for place, target in links:
        name = _merged(place)
        found.setdefault(name, cpio.link(name, target))
    for name in list(found):
        for above in Path(name).parents:
            found.setdefault(str(above), cpio.folder(str(above)))
    del found["."]
    return [found[name] for name in sorted(found, key=lambda name: name.split("/"))]


def _lines(name: str, users: Sequence[tuple[str, int]]) -> str:
    """What a file of OUR_FILES says more of users that only some guests have."""
    form = {"etc/group": "{0}:x:{1}:\n", "etc/passwd": "{0}:x:{1}:{1}:{0}:/nonexistent:/bin/false\n"}.get(name, "")
    return "".join(form.format(user, number) for user, number in users)


def _contents(package: Path, found: dict[str, Entry], left_out: Sequence[str]) -> Iterator[Entry]:
    """The entries of one package; hard links become files of their own, of which `found` has the first."""
    with subprocess.Popen(
        ["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                for member in archive:
                    name = _merged(member.name)
                    if name and not _named(name, left_out):
                        yield from _entry(archive, member, name, found)
        except tarfile.TarError as error:
            raise CobnutError(f"package {package.name}: cannot be read ({error})") from None
    if process.returncode:
        raise CobnutError(f"package {package.name}: is damaged (dpkg-deb says so)")


def _entry(archive: tarfile.TarFile, member: tarfile.TarInfo, name: str, found: dict[str, Entry]) -> Iterator[Entry]:
    owner = (member.uid, member.gid)
    if member.issym():
        yield replace(cpio.link(name, member.linkname), owner=owner)
    elif member.islnk():
        if (target := _merged(member.linkname)) in found:
            yield replace(found[target], name=name)
    elif member.type in KINDS:
        held = archive.extractfile(member) if member.isreg() else None
        yield Entry(name, KINDS[member.type] | member.mode & 0o7777, held.read() if held else b"", owner=owner)


def _merged(name: str) -> str:
    """A path from the root without `./` before it, where it is since Debian 12; empty for the root and such a link."""
    name = name.removeprefix("./").strip("/")
    first, _, rest = name.partition("/")
    if first in MERGED:
        return f"usr/{name}" if rest else ""
    return "" if name == "." else name


def _named(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, one) or fnmatchcase(name, f"{one}/*") for one in patterns)
