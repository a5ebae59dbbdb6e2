# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of ours for kernels that are not (lab/guests), compiled for 32-bit PCs if their sources are newer."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from cobnut import packages, paths
from cobnut.process import run_logged

SOURCES = paths.LAB / "guests"
MARKS = paths.ROOT / "user/include"
MARK_HEADERS = tuple(MARKS / "cobnut" / name for name in ("lab.h", "rounds.h"))
COMMON = (f"-I{MARKS}", "-m32", "-O2", "-static", "-no-pie", "-fno-pie", "-Wall", "-Wextra", "-Werror")
COMPILER = ("gcc", *COMMON)
FREESTANDING = ("-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables")
CXX_COMPILER = ("g++", *COMMON, *FREESTANDING, "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fcf-protection=none")


def built(target: Path, compiler: Sequence[str], sources: Iterable[Path], headers: Iterable[Path]) -> Path:
    """The program, compiled if it is not or if something that it is made of has changed since."""
    sources = list(sources)
    newest = max(one.stat().st_mtime for one in (*sources, *headers, *MARK_HEADERS))
    if not target.exists() or target.stat().st_mtime < newest:
        packages.ensure(packages.BUILD_TOOLS)
        run_logged([*compiler, "-o", str(target), *map(str, sources)], f"guest-{target.name}.log")
    return target
