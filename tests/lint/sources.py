# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that somebody has written: all of the tree but what is built, and licence texts."""

from collections.abc import Iterator
from pathlib import Path

from cobnut import paths

PARTS = (".ci", "cmake", "docs", "examples", "kernel", "lab", "tests", "user")
CODE = {
    ".py",
    ".rs",
    ".cpp",
    ".hpp",
    ".cc",
    ".hh",
    ".h",
    ".c",
    ".S",
    ".inc",
    ".def",
    ".ld",
    ".mk",
    ".cmake",
    ".sh",
    ".toml",
}
CODE_NAMES = {"cobnut", "run", "fresh-machine", "CMakeLists.txt", "Makefile", ".clang-format"}
CXX = {".cpp", ".hpp", ".cc", ".h", ".c"}
PROSE = {".md"}
LEFT_OUT = {"__pycache__", "target", "build"}


def files() -> Iterator[Path]:
    """Every such file, as a path from the root."""
    for found in [*paths.ROOT.glob("*"), *(one for part in PARTS for one in (paths.ROOT / part).rglob("*"))]:
        path = found.relative_to(paths.ROOT)
        if found.is_file() and not LEFT_OUT.intersection(path.parts):
            yield path


def code(*kinds: str) -> list[Path]:
    """Those with code, or with code of `kinds`."""
    return sorted(
        path for path in files() if (path.suffix in kinds if kinds else path.suffix in CODE or path.name in CODE_NAMES)
    )


def prose() -> list[Path]:
    """Those for people."""
    return sorted(path for path in files() if path.suffix in PROSE)


def lines(path: Path) -> list[str]:
    return (paths.ROOT / path).read_text(encoding="utf-8").split("\n")
