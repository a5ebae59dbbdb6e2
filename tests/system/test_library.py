# SPDX-License-Identifier: GPL-2.0-or-later
"""The user library from outside: the programs of docs/user-library.md, built by its commands, away from this tree."""

import os
import re
import subprocess

import pytest

import guests
from cobnut import paths
from cobnut.modules import Module

INCLUDE = paths.ROOT / "user/include"
FOR_C = [INCLUDE / "cobnut" / name for name in ("lab.h", "payload.h", "space.h")]
HEADERS = [*sorted((INCLUDE / "l4").glob("*.h")), *FOR_C]
COMPILERS = {"c": ["gcc", "-std=c99"], "c++": ["g++", "-std=c++20"]}


# The text is in a page that nothing else of the program touches.
UNTOUCHED = """
#include <l4/kdebug.h>
alignas(4096) static const char text[4096] = "second: nobody has touched this\\n";
extern "C" int cobnut_main(const char *) { L4_KDB_PrintString(text); return 0; }
"""


def documented(pattern):
    text = (paths.ROOT / "docs/user-library.md").read_text()
    return re.search(rf"```{pattern}\n(.*?)```", text, re.DOTALL).group(1)


def compile_in(folder, second):
    """Builds first.c as documented, and second.cc, by the documented commands."""
    (folder / "first.c").write_text(documented("c"))
    (folder / "second.cc").write_text(second)
    done = subprocess.run(
        ["sh", "-e", "-c", documented("sh")],
        cwd=folder,
        env=os.environ | {"COBNUT": str(paths.ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder where the documented commands have built the documented programs."""
    return compile_in(tmp_path_factory.mktemp("outside"), documented(r"c\+\+"))


def test_text_is_printed_from_a_page_that_nobody_has_touched(tmp_path):
    compile_in(tmp_path, UNTOUCHED)
    outcome = guests.boot(guests.program("root", "off=1"), Module(tmp_path / "second"))
    assert "second: nobody has touched this" in outcome.console


@pytest.mark.parametrize("on", [guests.USUAL, guests.QEMU[0], guests.BOCHS[-1]], ids=str)
def test_programs_from_outside_run(built, on):
    outcome = guests.boot(
        guests.program("root", "off=1"), Module(built / "first"), Module(built / "second", "small=16@0"), on=on
    )
    assert "first: hello from Cobnut" in outcome.console
    assert "first: that took at least 10 ms" in outcome.console
    assert "second: nobody called" in outcome.console
    assert outcome.code in (0, None)


def test_what_write_a_server_shows_can_be_compiled(tmp_path):
    shown = re.findall(r"```c\n(.*?)```", (paths.ROOT / "docs/write-a-program.md").read_text(), re.DOTALL)
    assert len(shown) == 2
    for number, text in enumerate(shown):
        source = tmp_path / f"{number}.c"
        source.write_text(text)
        command = [*COMPILERS["c"], "-m32", "-ffreestanding", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}"]
        done = subprocess.run([*command, "-fsyntax-only", str(source)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("language", COMPILERS)
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_each_header_stands_alone(tmp_path, header, language):
    """Every public header compiles by itself, without warnings, and reads no header but public ones."""
    command = [
        *COMPILERS[language],
        "-m32",
        "-ffreestanding",
        "-pedantic",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{INCLUDE}",
    ]
    source = tmp_path / "alone"
    source.write_text(f"#include <{header.relative_to(INCLUDE)}>\n")
    done = subprocess.run(
        [*command, "-M", "-x", language, str(source), "-o", str(tmp_path / "needs")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    needs = [word for word in (tmp_path / "needs").read_text().split() if word.endswith(".h")]
    public = [str(path) for path in FOR_C]
    assert needs and all(word.startswith(f"{INCLUDE}/l4/") or word in public for word in needs), needs
    done = subprocess.run(
        [*command, "-fsyntax-only", "-x", language, str(source)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
