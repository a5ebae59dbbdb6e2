# SPDX-License-Identifier: GPL-2.0-or-later
"""What the languages' own tools say: formats, lints and types. Their versions are pinned (lab/requirements.txt)."""

import subprocess
import sys
from pathlib import Path

import pytest
import sources

from cobnut import paths

TOOLS = Path(sys.executable).parent
MANIFEST = ("--manifest-path", str(paths.LAB / "Cargo.toml"))


def passes(*command: str | Path) -> None:
    """Runs a tool in the root, which has to find nothing; what it finds is shown."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=paths.ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("what", [("check",), ("format", "--check", "--diff")], ids=["check", "format"])
def test_ruff(what):
    passes(TOOLS / "ruff", what[0], "--no-cache", *what[1:], ".")


def test_mypy():
    passes(TOOLS / "mypy", "--cache-dir", paths.BUILD / "mypy")


def test_rustfmt():
    passes("cargo", "fmt", "--all", *MANIFEST, "--check")


def test_clippy():
    options = ["--release", "--locked", "--all-targets", "--target-dir", paths.CARGO_TARGET]
    passes("cargo", "clippy", *MANIFEST, *options, "--", "-D", "warnings")


def test_clang_format():
    found = [path for path in sources.code(*sources.CXX)]
    assert found
    passes(TOOLS / "clang-format", "--dry-run", "--Werror", "--style=file", *found)
