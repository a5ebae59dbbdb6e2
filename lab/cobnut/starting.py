# SPDX-License-Identifier: GPL-2.0-or-later
"""Starting a program of one's own: a folder with its source and what builds it against this tree's user library."""

import re
from dataclasses import dataclass
from pathlib import Path

from cobnut import packages, paths
from cobnut.boards import ARM, Board
from cobnut.errors import CobnutError, unknown

MAIN = {"c": "main.c", "c++": "main.cc"}
BUILD_FILES = {"make": "Makefile", "cmake": "CMakeLists.txt"}
COMMANDS = {
    "make": "make run",
    "cmake": "cmake -G Ninja -B build\ncmake --build build --target run",
}
OTHER_BOARD = {
    "make": "make run BOARD=@OTHER_BOARD@",
    "cmake": "cmake -G Ninja -B build-@OTHER_BOARD@ -D BOARD=@OTHER_BOARD@\n"
    "cmake --build build-@OTHER_BOARD@ --target run",
}
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,46}")  # of a program: a name in C strings, Makefiles and command lines
TREE = re.compile(r"[\w+,.@~/-]+")  # what make takes as it is


@dataclass(frozen=True)
class Program:
    """What is to be written."""

    folder: Path
    language: str
    build: str
    board: Board

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def files(self) -> tuple[str, ...]:
        """Their names, which are those of the templates as well."""
        return MAIN[self.language], BUILD_FILES[self.build], "README.md"


def check(program: Program) -> None:
    """Refuses what cannot be written, or not be built afterwards."""
    if program.language not in MAIN:
        raise unknown("language", program.language, MAIN)
    if program.build not in BUILD_FILES:
        raise unknown("build tool", program.build, BUILD_FILES)
    said = f"new {program.folder}"
    if not NAME.fullmatch(program.name):
        raise CobnutError(
            f"{said}: a program cannot be named '{program.name}': letters, digits, - and _, a letter first, at most 47"
        )
    if not TREE.fullmatch(str(paths.ROOT)):
        raise CobnutError(f"{said}: make does not take the path of this source tree, {paths.ROOT}; please move it")
    try:
        if program.folder.exists() and not program.folder.is_dir():
            raise CobnutError(f"{said}: is there already, and is not a folder")
        if program.folder.exists() and any(program.folder.iterdir()):
            raise CobnutError(f"{said}: the folder is not empty")
    except OSError as error:
        raise CobnutError(f"{said}: {error.strerror}") from None


def write(program: Program) -> list[Path]:
    """Writes it and returns the files."""
    values = {
        "NAME": program.name,
        "MAIN": MAIN[program.language],
        "BOARD": program.board.name,
        "COBNUT": str(paths.ROOT),
        "COMMANDS": COMMANDS[program.build],
        "OTHER": OTHER_BOARD[program.build],
        "OTHER_BOARD": "pc" if program.board.processor is ARM else "versatilepb",
    }
    written = []
    try:
        program.folder.mkdir(parents=True, exist_ok=True)
        for name in program.files:
            text = (paths.TEMPLATES / name).read_text(encoding="utf-8")
            for key, value in values.items():
                text = text.replace(f"@{key}@", value)
            written.append(program.folder / name)
            written[-1].write_text(text, encoding="utf-8")
    except OSError as error:
        raise CobnutError(f"new {program.folder}: cannot be written ({error.strerror})") from None
    return written


def ensure_tools(program: Program) -> None:
    """Installs what builds it."""
    packages.ensure(
        packages.BUILD_TOOLS,
        packages.MAKE if program.build == "make" else (),
        packages.ARM_TOOLS if program.board.processor is ARM else (),
    )
