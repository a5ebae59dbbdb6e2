# SPDX-License-Identifier: GPL-2.0-or-later
"""SQLite's and PostgreSQL's own tests, from Debian's sources: SQLite's need a program of theirs that is compiled with
SQLite in it, PostgreSQL's a library with functions that the tests call.
"""

import re
import shutil
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from cobnut import paths, private_apt
from cobnut.linux import compilers
from cobnut.linux.cases import Case
from cobnut.linux.compilers import LOG, Tools
from cobnut.process import run_logged

COMPILER = ("gcc", "-m32", "-O1", "-w")
LIBRARIES = "usr/lib/i386-linux-gnu"
TCL = ("libtcl8.6", "tcl8.6", "tcl8.6-dev", "zlib1g", "zlib1g-dev")
TCL_SCRIPTS = "usr/share/tcltk/tcl8.6"
TESTFIXTURE = "testfixture"
MOST_BYTES = 1 << 20  # of a file of SQLite's tests: larger ones are collections for fuzzers
POSTGRESQL = "15"  # the version of the release
POSTGRESQL_PARTS = ("data", "expected", "sql", "parallel_schedule", "resultmap")
POSTGRESQL_SCRIPT = paths.ROOT / "linux" / "guests" / "postgresql.sh"


def sqlite_folder(tree: Path, target: Path, _: Tools) -> None:
    """SQLite's tests, with the program that runs them and with what this needs of Tcl."""
    root = _unpacked(tree.parent / "tcl", "Tcl", TCL)
    libraries, more = root / LIBRARIES, root / "lib/i386-linux-gnu"
    # Tcl's own shell for 32 bits makes sources, so that the machine needs none
    shell = f"env LD_LIBRARY_PATH={libraries}:{more} TCL_LIBRARY={root / TCL_SCRIPTS} {root / 'usr/bin/tclsh8.6'}"
    compiler = f"{' '.join(COMPILER)} -I{root / 'usr/include/tcl8.6'}"
    words = (f"--with-tcl={libraries / 'tcl8.6'}", "--disable-shared", "--disable-readline")
    compilers.configure(tree, compiler, *words)
    linked = f"LIBTCL=-L{libraries} -ltcl8.6 -lz -Wl,-rpath-link,{more}"
    compilers.make(tree, f"TCLSH_CMD={shell}", linked, "BCC=gcc", TESTFIXTURE)
    shutil.copy(tree / TESTFIXTURE, target)
    for path in libraries.glob("libtcl8.6.so*"):
        shutil.copy(path, target, follow_symlinks=False)
    shutil.copytree(root / TCL_SCRIPTS, target / "tcl8.6")
    (target / "test").mkdir()
    for path in (tree / "test").iterdir():
        if path.is_file() and path.stat().st_size <= MOST_BYTES:
            shutil.copy(path, target / "test")


def sqlite_cases(files: Path, patterns: Sequence[str]) -> list[Case]:
    """One for each file of SQLite's that one of the `patterns` names."""
    names = sorted(path.stem for path in (files / "test").glob("*.test"))
    setting = "LD_LIBRARY_PATH=/files TCL_LIBRARY=/files/tcl8.6"
    return [
        Case(name, f"cd /tmp/case; {setting} /files/{TESTFIXTURE} /files/test/{name}.test")
        for name in names
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    ]


def postgresql_folder(tree: Path, target: Path, _: Tools) -> None:
    """PostgreSQL's tests, with the library that they load. What runs them is in the image."""
    tests = tree / "src/test/regress"
    for name in POSTGRESQL_PARTS:
        copy = shutil.copytree if (tests / name).is_dir() else shutil.copy
        copy(tests / name, target / name)
    root = _unpacked(tree.parent / "server", "PostgreSQL's tests", (f"postgresql-server-dev-{POSTGRESQL}",))
    include = root / f"usr/include/postgresql/{POSTGRESQL}/server"
    shared = ("-fPIC", "-shared", f"-I{include}", "-o", str(target / "regress.so"))
    run_logged([*COMPILER, *shared, str(tests / "regress.c")], LOG)
    shutil.copy(POSTGRESQL_SCRIPT, target)


def postgresql_cases(files: Path) -> list[Case]:
    """One for each test, in the order of the schedule: later ones use tables of earlier ones."""
    groups = re.findall(r"^test: (.*)$", (files / "parallel_schedule").read_text(), re.MULTILINE)
    command = f". /files/{POSTGRESQL_SCRIPT.name}; regress {{}}"
    return [Case(name, command.format(name)) for group in groups for name in group.split()]


def _unpacked(folder: Path, title: str, packages: Sequence[str]) -> Path:
    """These packages for 32 bits and no others, below `folder`."""
    with private_apt.lists(f"what compiles {title}") as apt:
        return private_apt.unpack(apt.download(*packages), folder, LOG)
