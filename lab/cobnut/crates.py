# SPDX-License-Identifier: GPL-2.0-or-later
"""The crates of others that the laboratory uses, compiled once for all checkouts.

For each of cargo's commands that is used here the cache holds what it leaves of them in a target folder. It is made
with a workspace that has the laboratory's manifests and lock file and no code, so that cargo chooses the same crates
with the same features; and it is copied to build/cargo before that command's first run there. cargo judges it like
everything that it finds there, so the worst that a wrong one can do is to be compiled again.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from cobnut import cache, paths, process
from cobnut.cache import Recipe
from cobnut.process import run_logged

Purpose = Literal["build", "test", "clippy"]
COMMANDS: dict[Purpose, tuple[str, ...]] = {
    "build": ("build",),
    "test": ("test", "--no-run"),
    "clippy": ("clippy", "--all-targets"),
}
OPTIONS = ("--release", "--locked")
LOCK_FILE = "Cargo.lock"
VARIABLES = ("RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_HOME", "HOME")


def recipe(purpose: Purpose, lab: Path = paths.LAB) -> Recipe:
    """All that decides what `purpose` compiles of others, and by which compiler."""
    inputs = {str(path.relative_to(lab)): path.read_text(encoding="utf-8") for path in _manifests(lab)}
    inputs |= {name: os.environ.get(name, "") for name in VARIABLES}
    inputs |= {"compiler": _said("rustc", "-vV"), "cargo": _said("cargo", "-V")}
    return Recipe("crates", inputs | {"command": " ".join([*COMMANDS[purpose], *OPTIONS])})


def seed(purpose: Purpose, line_seen: Callable[[str], None] = lambda line: None) -> None:
    """Gives build/cargo what `purpose` needs of others, if it never had it."""
    seeded = paths.CARGO_TARGET / f"others-for-{purpose}"
    if seeded.exists() or not cache.shared():
        return
    with process.alone(paths.LOCKS / "crates"):
        if seeded.exists():
            return

        def make(folder: Path, _: Path) -> None:
            _compile(purpose, folder, line_seen)

        entry = cache.get(recipe(purpose), make)
        _copy_missing(entry / "target", paths.CARGO_TARGET)
        seeded.touch()


def _manifests(lab: Path) -> list[Path]:
    return sorted([lab / LOCK_FILE, lab / "Cargo.toml", *lab.glob("*/Cargo.toml")])


def _said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL).stdout


def _compile(purpose: Purpose, folder: Path, line_seen: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        workspace = Path(name)
        write_workspace(workspace)
        target = folder / "target"
        command = ["cargo", *COMMANDS[purpose], *OPTIONS, "--manifest-path", str(workspace / "Cargo.toml")]
        run_logged([*command, "--target-dir", str(target)], f"crates-{purpose}.log", line_seen=line_seen)
    for ours in [path for pattern in ("cobnut*", "libcobnut*") for path in target.rglob(pattern)]:
        shutil.rmtree(ours) if ours.is_dir() else ours.unlink(missing_ok=True)
    shutil.rmtree(target / "release/incremental", ignore_errors=True)


def write_workspace(folder: Path) -> None:
    """The laboratory's manifests and lock file, with crates that hold nothing."""
    for path in _manifests(paths.LAB):
        copy = folder / path.relative_to(paths.LAB)
        copy.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, copy)
        if path.parent == paths.LAB:
            continue
        (copy.parent / "src").mkdir()
        for root in ("lib", "main"):
            if (path.parent / "src" / f"{root}.rs").exists():
                (copy.parent / "src" / f"{root}.rs").write_text("fn main() {}\n" if root == "main" else "")


def _copy_missing(source: Path, target: Path) -> None:
    """With their times: cargo compares these, and what is there already is newer."""
    for parent, _, names in os.walk(source):
        folder = target / Path(parent).relative_to(source)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if not (folder / name).exists():
                shutil.copy2(Path(parent, name), folder / name)
