# SPDX-License-Identifier: GPL-2.0-or-later
"""littlefs, the file system of servers/store: its source as the crate `littlefs2-sys` has it, unpacked into the cache.

Nothing of it is changed. Debian has no package with it.
"""

import json
import tempfile
from pathlib import Path
from shutil import copytree

from cobnut import cache, packages
from cobnut.cache import Recipe
from cobnut.errors import CobnutError
from cobnut.process import run_logged

CRATE, VERSION = "littlefs2-sys", "0.4.0"
SHA256 = "999d08bb7fae46d63ecb98d2474d28f7af1a6c928a51b4dfe5f1804abf9afc46"  # of the crate, which cargo checks
MANIFEST = f"""[package]
name = "fetch"
version = "0.1.0"
edition = "2021"
[dependencies]
{CRATE} = {{ version = "={VERSION}", default-features = false }}
"""


def recipe() -> Recipe:
    """The crate that is asked for."""
    return Recipe("littlefs", {"crate": CRATE, "version": VERSION, "sha256": SHA256})


def ensure() -> Path:
    """Makes sure of the source, downloading it if it is missing; its folder, which has lfs.c."""
    return cache.get(recipe(), lambda folder, _: _download(folder))


def _download(target: Path) -> None:
    packages.ensure_rust()
    packages.say("downloading the source of littlefs (cargo)")
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        package = Path(name)
        (package / "src").mkdir()
        (package / "src/lib.rs").touch()
        (package / "Cargo.toml").write_text(MANIFEST, encoding="utf-8")
        vendor = package / "vendor"
        command = ["cargo", "vendor", "--manifest-path", str(package / "Cargo.toml"), str(vendor)]
        run_logged(command, "littlefs-fetch.log")
        checksums = json.loads((vendor / CRATE / ".cargo-checksum.json").read_text(encoding="utf-8"))
        if checksums["package"] != SHA256:
            raise CobnutError(f"the crate {CRATE} {VERSION} is not the one that is known")
        copytree(vendor / CRATE / "littlefs", target, dirs_exist_ok=True)
