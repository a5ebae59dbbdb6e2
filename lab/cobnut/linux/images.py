# SPDX-License-Identifier: GPL-2.0-or-later
"""Images: which of Debian's packages a guest's file system is made of, as files in linux/guests say."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from cobnut import paths
from cobnut.errors import CobnutError, unknown

FOLDER = paths.ROOT / "linux" / "guests"
DEFAULT = "minimal"
DEFAULT_MEMORY_MB = 224  # as a server in a small space takes it, too
KEYS = {
    "description": str,
    "packages": list,
    "alone": list,
    "components": str,
    "shell": str,
    "links": dict,
    "users": dict,
    "files": dict,
    "extends": str,
    "without": list,
    "memory_mb": int,
    "append": str,
    "cpu": str,
}
NEEDED = ("description", "packages")


@dataclass(frozen=True)
class Image:
    """A file system: packages with all that they depend on, and packages `alone`, from these components of Debian's
    archive. It has everything of them but `rootfs.LEFT_OUT` and what the patterns `without` name; links as
    (place, target); users that scripts of packages would make, as (name, number), each with a group of its own; and
    files of linux/guests, as (place, name).
    `memory_mb` is what Linux gets with it by default, `append` are options of Linux that it needs, and `cpu` is QEMU's
    name of a processor that has all instructions of its programs, if the usual one has not.
    """

    name: str
    description: str
    packages: tuple[str, ...]
    alone: tuple[str, ...]
    components: str
    shell: str
    links: tuple[tuple[str, str], ...]
    without: tuple[str, ...]
    memory_mb: int
    users: tuple[tuple[str, int], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    architecture: str = "i386"  # Debian's name of it
    append: str = ""
    cpu: str = ""


COMPONENTS = "main"
NOTHING = Image("", "", (), (), COMPONENTS, "/bin/sh", (), (), DEFAULT_MEMORY_MB)  # what an image starts from


def known(folder: Path = FOLDER) -> list[str]:
    """The images that there are."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def find(name: str, folder: Path = FOLDER) -> Image:
    """The image called `name`, with the packages and links of the one that it extends."""
    if name not in known(folder):
        raise unknown("image", name, known(folder))
    path = folder / f"{name}.toml"
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CobnutError(f"image {name}: {paths.shown(path)} cannot be read ({error})") from None
    for key, value in tree.items():
        if key not in KEYS:
            raise CobnutError(f"image {name}: unknown key '{key}' (known: {', '.join(KEYS)})")
        if not isinstance(value, KEYS[key]):
            raise CobnutError(f"image {name}: {key} is not of the kind '{KEYS[key].__name__}'")
    for key in NEEDED:
        if key not in tree:
            raise CobnutError(f"image {name}: has no {key}")
    if tree.get("extends") == name:
        raise CobnutError(f"image {name}: extends itself")
    base = find(tree["extends"], folder) if "extends" in tree else NOTHING
    return Image(
        name,
        tree["description"],
        tuple(sorted({*base.packages, *map(str, tree["packages"])})),
        tuple(sorted({*base.alone, *map(str, tree.get("alone", ()))})),
        tree.get("components", base.components),
        tree.get("shell", base.shell),
        tuple(sorted({**dict(base.links), **{place: str(to) for place, to in tree.get("links", {}).items()}}.items())),
        tuple(map(str, tree.get("without", ()))),
        tree.get("memory_mb", base.memory_mb),
        tuple(sorted({**dict(base.users), **tree.get("users", {})}.items())),
        tuple(sorted({**dict(base.files), **tree.get("files", {})}.items())),
        append=tree.get("append", base.append),
        cpu=tree.get("cpu", base.cpu),
    )
