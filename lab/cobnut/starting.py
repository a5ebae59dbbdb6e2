# SPDX-License-Identifier: GPL-2.0-or-later
"""Starting a program of one's own: a folder with its source and what builds it against this tree's user library."""

import re
from dataclasses import dataclass
from pathlib import Path

from cobnut import packages, paths, systems
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
SERVER = paths.ROOT / "examples" / "tally"  # what a new server is a copy of, under another name
SERVER_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")  # of a program in a description
TAKEN = (*systems.INITS_OWN, "server", "test")  # services of init's, and names in the copy


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


@dataclass(frozen=True)
class Server:
    """A server of a system, with its interface and a test."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def interface(self) -> str:
        """Its name in C++."""
        return "".join(word.capitalize() for word in re.split("[-_]", self.name))


def check_server(server: Server) -> None:
    """Likewise."""
    said = f"new server {server.folder}"
    if not SERVER_NAME.fullmatch(server.name):
        raise CobnutError(
            f"{said}: a server cannot be named '{server.name}': lower-case letters, digits, - and _, at most 31"
        )
    if server.name in TAKEN:
        raise CobnutError(f"{said}: the name '{server.name}' is taken")
    _check_folder(said, server.folder)


def write_server(server: Server) -> list[Path]:
    """Copies the example under the server's name and returns the files."""
    originals = sorted(path for path in SERVER.iterdir() if path.is_file())
    texts = {}
    for path in originals:
        text = path.read_text(encoding="utf-8").replace("tally", server.name).replace("Tally", server.interface)
        name = path.name.replace("tally", server.name)
        texts[name] = text.replace("COBNUT ?= ../..", f"COBNUT ?= {paths.ROOT}")
    return _write_files(f"new server {server.folder}", server.folder, texts)


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
    _check_folder(said, program.folder)


def _check_folder(said: str, folder: Path) -> None:
    if not TREE.fullmatch(str(paths.ROOT)):
        raise CobnutError(f"{said}: make does not take the path of this source tree, {paths.ROOT}; please move it")
    try:
        if folder.exists() and not folder.is_dir():
            raise CobnutError(f"{said}: is there already, and is not a folder")
        if folder.exists() and any(folder.iterdir()):
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
    texts = {}
    for name in program.files:
        texts[name] = (paths.TEMPLATES / name).read_text(encoding="utf-8")
        for key, value in values.items():
            texts[name] = texts[name].replace(f"@{key}@", value)
    return _write_files(f"new {program.folder}", program.folder, texts)


def _write_files(said: str, folder: Path, texts: dict[str, str]) -> list[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise CobnutError(f"{said}: cannot be written ({error.strerror})") from None
    return [folder / name for name in texts]


def ensure_server_tools() -> None:
    """Installs what builds a server, for any board that has systems."""
    packages.ensure(packages.BUILD_TOOLS, packages.MAKE, packages.ARM_TOOLS)


def ensure_tools(program: Program) -> None:
    """Installs what builds it."""
    packages.ensure(
        packages.BUILD_TOOLS,
        packages.MAKE if program.build == "make" else (),
        packages.ARM_TOOLS if program.board.processor is ARM else (),
    )
