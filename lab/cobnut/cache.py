# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made from other people's sources, kept outside the checkout: a second one makes none of it again.

An entry is a folder that is named after its kind and the hash of what goes in, so that it never has to be changed. It
is made in a folder beside it and gets its name when it is complete. Where nothing can be written outside, entries are
below build/ like everything else. Nothing but the standard library is imported: Python's packages are such an entry.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cobnut import paths
from cobnut.process import alone

VARIABLE = "COBNUT_CACHE"
INSIDE = paths.BUILD / "cache"
KEPT_DAYS = 60  # since an entry was last used
FORMAT = "1"  # another number where entries are laid out in another way
CONTENTS = "cobnut-entry.json"  # of an entry: `inputs`, and `files` with their sizes
ENTRY = re.compile(r"[a-z]+-[0-9a-f]{16}")
UNFINISHED = "unfinished-"
DAY_SECONDS = 24 * 60 * 60


@dataclass(frozen=True)
class Recipe:
    """What an entry is made from: whatever changes it has to be among `inputs`, by a name for people to read."""

    kind: str
    inputs: Mapping[str, str]

    @property
    def name(self) -> str:
        text = json.dumps([FORMAT, sorted(self.inputs.items())])
        return f"{self.kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def outside() -> Path | None:
    """The folder for all checkouts, if this user has one; it need not exist."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given).absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME") or "")
    if not base.is_absolute():  # which is to be ignored (XDG Base Directory Specification)
        base = Path(os.environ.get("HOME") or "") / ".cache"
    return base / "cobnut" if base.is_absolute() else None


def shared() -> bool:
    """Whether what is made now serves other checkouts, too."""
    return _writable_folder("any") != INSIDE


def get(recipe: Recipe, make: Callable[[Path, Path], None]) -> Path:
    """The folder of `recipe`'s entry, complete. If there is none, `make` fills an empty folder, its first argument,
    that becomes the second one afterwards. Others who want the same entry wait meanwhile.
    """
    for folder in _folders():
        if _complete(folder / recipe.name):  # also where this user may only read
            used(folder / recipe.name)
            return folder / recipe.name
    folder = _writable_folder(recipe.name)
    entry = folder / recipe.name
    with alone(_lock(entry)):
        if not _complete(entry):
            _make(recipe, entry, make)
    prune(folder)
    return entry


def used(entry: Path) -> None:
    """Notes that an entry is in use, which keeps it from being thrown away for its age."""
    with suppress(OSError):
        os.utime(entry / CONTENTS)


def described() -> list[str]:
    """The entries that there are, as lines for people: outside and below build/."""
    return [_line(path) for folder in _folders() for path in _entries_in(folder)]


def clear() -> None:
    """Throws all of them away but what is being made."""
    for folder in _folders():
        for path in [*_entries_in(folder), *folder.glob(f"{UNFINISHED}*")]:
            _throw_away(path)


def prune(folder: Path) -> None:
    """Throws away entries that were not used for long, and those that were begun and never finished."""
    for path in [*_entries_in(folder), *folder.glob(f"{UNFINISHED}*")]:
        if _days_since_use(path) > KEPT_DAYS or path.name.startswith(UNFINISHED):
            _throw_away(path)


def _folders() -> list[Path]:
    there = outside()
    return [INSIDE] if there is None else [there, INSIDE]


def _writable_folder(name: str) -> Path:
    """The first folder where this user can make the entry `name`: its lock may belong to another user."""
    for folder in _folders()[:-1]:
        with suppress(OSError):
            _lock(folder / name).parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder), open(_lock(folder / name), "a", encoding="ascii"):
                return folder
    INSIDE.mkdir(parents=True, exist_ok=True)
    return INSIDE


def _entries_in(folder: Path) -> list[Path]:
    """Nothing else that lies there is touched: the folder may have been used for other things, too."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if ENTRY.fullmatch(path.name) and path.is_dir())


def _lock(entry: Path) -> Path:
    return entry.parent / "lock" / entry.name


def _make(recipe: Recipe, entry: Path, make: Callable[[Path, Path], None]) -> None:
    for left in entry.parent.glob(f"{UNFINISHED}{entry.name}-*"):  # by a process that was killed: the lock is ours
        shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{UNFINISHED}{entry.name}-", dir=entry.parent))
    try:
        make(folder, entry)
        contents = {"inputs": dict(recipe.inputs), "files": dict(_files(folder))}
        (folder / CONTENTS).write_text(json.dumps(contents, indent=1), encoding="utf-8")
        shutil.rmtree(entry, ignore_errors=True)  # a broken one
        folder.rename(entry)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    """Files with their sizes, but for byte code, which Python may write later."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in names:
            path = os.path.join(parent, name)
            yield os.path.relpath(path, folder), os.lstat(path).st_size


def _complete(entry: Path) -> bool:
    """Whether each file is there as it was made, by its size."""
    try:
        contents = json.loads((entry / CONTENTS).read_bytes())
        return all(os.lstat(entry / name).st_size == size for name, size in contents["files"].items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):  # or what says so is broken itself
        return False


def _line(entry: Path) -> str:
    size = sum(os.lstat(Path(parent, name)).st_size for parent, _, names in os.walk(entry) for name in names)
    return f"{entry}: {size >> 20} MB, used {_days_since_use(entry):.0f} days ago"


def _days_since_use(entry: Path) -> float:
    contents = entry / CONTENTS
    with suppress(OSError):
        return (time.time() - (contents if contents.exists() else entry).stat().st_mtime) / DAY_SECONDS
    return 0.0


def _throw_away(path: Path) -> None:
    name = re.sub(rf"^{UNFINISHED}(.*)-[^-]*$", r"\1", path.name)
    with suppress(OSError), _nobody_makes(path.with_name(name)):
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _nobody_makes(entry: Path) -> Iterator[None]:
    """Fails with OSError while another process makes the entry."""
    with open(_lock(entry), "w", encoding="ascii") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
