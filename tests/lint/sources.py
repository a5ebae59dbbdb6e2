# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of the tree, without what is built and licence texts."""

from collections.abc import Iterator
from pathlib import Path

from cobnut import paths

PARTS = (".ci", "cmake", "docs", "examples", "kernel", "lab", "libs", "linux", "servers", "systems", "tests", "user")
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
    ".patch",
}
CODE_NAMES = {
    "cobnut",
    "run",
    "fresh-machine",
    "CMakeLists.txt",
    "Makefile",
    "Makefile-os-Cobnut",
    ".clang-format",
    # linux/
    "config",
    "versions",
    "init",
    "inittab",
    "session",
}
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
    """Those of a file, with tabs expanded as Linux and make have them; of a patch what it adds, and the text before
    the first file: the rest is quoted.
    """
    found = (paths.ROOT / path).read_text(encoding="utf-8").expandtabs(8).split("\n")
    return added(found) if path.suffix == ".patch" else found


def added(patch: list[str]) -> list[str]:
    """The lines that are a patch's own; all others are empty, so that numbers of lines stay."""
    first = next((n for n, line in enumerate(patch) if line.startswith(("diff ", "--- "))), len(patch))
    own = (line[1:] if line.startswith("+") and not line.startswith("+++ ") else "" for line in patch[first:])
    return [*patch[:first], *own]
