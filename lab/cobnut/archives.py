# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder as a tar archive for the file server (servers/files): the same bytes for the same files, whoever packs them.

Only what the server takes is packed (servers/files/tar.h): files and folders, each behind the folder that it is in.
"""

import io
import os
import tarfile
import tempfile
from pathlib import Path

from cobnut.errors import CobnutError

MOST_PATH = 128  # bytes, as servers/interfaces/files.h says
MOST_BYTES = 64 << 20


def members(folder: Path) -> list[Path]:
    """Everything below `folder`, sorted, each as its path from there; refuses what the server would."""
    found = sorted(folder.rglob("*"))
    for path in found:
        name = path.relative_to(folder)
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise CobnutError(f"{name}: is neither a file nor a folder")
        if len(os.fsencode(name)) > MOST_PATH:
            raise CobnutError(f"{name}: a path of more than {MOST_PATH} bytes")
        if not os.access(path, os.R_OK):
            raise CobnutError(f"{name}: cannot be read")
    size = sum(path.stat().st_size for path in found if path.is_file())
    if size > MOST_BYTES:
        raise CobnutError(f"{size >> 20} MB, and {MOST_BYTES >> 20} MB is the most")
    return [path.relative_to(folder) for path in found]


def pack(folder: Path) -> bytes:
    """The archive."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in members(folder):
            one = tarfile.TarInfo(path.as_posix())
            if (folder / path).is_dir():
                one.type, one.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(one)
            else:
                content = (folder / path).read_bytes()
                one.size = len(content)
                archive.addfile(one, io.BytesIO(content))
    return out.getvalue()


def write(folder: Path, out: Path) -> Path:
    """Packs a folder into the file `out`, which others may be reading while it changes."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f"{out.name}.", delete=False) as new:
        new.write(pack(folder))
    Path(new.name).replace(out)
    return out
