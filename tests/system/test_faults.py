# SPDX-License-Identifier: GPL-2.0-or-later
"""A program that goes wrong under `boot`: its status, what is said about it, and where in its source it was."""

import re
import subprocess

import pytest

from cobnut import paths
from conftest import run_cobnut

SOURCE = """#include <cobnut/payload.h>
static int deep(volatile int *p, int n) { volatile char a[512]; a[0] = n; return n ? deep(p, n - 1) + a[0] : *p; }
static __attribute__((noinline)) void poke(volatile int *p) { *p = 3; }
int cobnut_main(const char *line)
{
    int one = 1;
    while (*line && *line != '=') line++;
    switch (line[1]) {
    case 'w': poke(0); break;
    case 's': return deep(&one, 100000);
    case 'u': __asm__ volatile(".long 0xffffffff"); break;
    case 'c': return 7;
    case 'l': for (;;) ;
#ifdef __arm__
    case 'f': __asm__ volatile("mov r2, #77; swi 5"); break;
#endif
    }
    return 0;
}
"""
MAKEFILE = "PROGRAM := crash\nSOURCES := main.c\ninclude {}/user/program.mk\n"
OTHER = """#include <cobnut/payload.h>
int cobnut_main(const char *line)
{
    *(volatile int *)0 = 1;
    return *line;
}
"""
BOARDS = ("pc", "versatilepb")


@pytest.fixture(scope="module", params=BOARDS)
def crash(request, tmp_path_factory):
    """The board, and a program for it that goes wrong as it is told to."""
    folder = tmp_path_factory.mktemp("crash")
    (folder / "main.c").write_text(SOURCE)
    (folder / "Makefile").write_text(f"COBNUT := {paths.ROOT}\n" + MAKEFILE.format(paths.ROOT))
    subprocess.run(["make", "-s", f"BOARD={request.param}"], cwd=folder, check=True)
    return request.param, folder / "build" / request.param / "crash"


@pytest.mark.parametrize(
    ("how", "status", "said"),
    [
        ("write", 1, ["root: crash: ended: write at 00000000 without permission", "crash: in poke at", "main.c:3"]),
        ("stack", 1, ["root: crash: ended: stack overflow: write at 0018", "crash: in deep at", "main.c:2"]),
        ("undefined", 1, ["root: crash: ended: exception ", "crash: in cobnut_main at", "main.c:11"]),
        ("code", 7, ["root: crash: finished with code 7"]),
        ("nothing", 0, ["root: crash: finished with code 0"]),
    ],
)
def test_it_is_said_and_becomes_the_status(crash, how, status, said):
    board, program = crash
    done = run_cobnut("boot", "--board", board, f"{program} how={how}")
    assert done.returncode == status, done.stdout + done.stderr
    assert all(text in done.stdout for text in said), done.stdout


def test_programs_with_one_name_have_places_of_their_own(crash, tmp_path):
    board, program = crash
    (tmp_path / "other.c").write_text(OTHER)
    (tmp_path / "Makefile").write_text(
        f"COBNUT := {paths.ROOT}\n" + MAKEFILE.replace("crash", "other").replace("main.c", "other.c").format(paths.ROOT)
    )
    subprocess.run(["make", "-s", f"BOARD={board}"], cwd=tmp_path, check=True)
    other = tmp_path / "build" / board / "other"
    done = run_cobnut("boot", "--board", board, f"{program} how=write name=one", f"{other} how=it name=one")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "one: in poke at" in done.stdout and "main.c:3" in done.stdout, done.stdout
    assert "one: in cobnut_main at" in done.stdout and "other.c:4" in done.stdout, done.stdout


@pytest.mark.parametrize("crash", ["versatilepb"], indirect=True)
def test_another_systems_call_is_none_of_the_exceptions(crash):
    board, program = crash
    done = run_cobnut("boot", "--board", board, f"{program} how=foreign")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "root: crash: ended: a system call of another system, ef000005, ip " in done.stdout, done.stdout
    assert "crash: in cobnut_main at" in done.stdout


@pytest.mark.parametrize("crash", ["pc"], indirect=True)
def test_it_becomes_the_status_on_bochs_too(crash):
    _, program = crash
    done = run_cobnut("boot", "--emulator", "bochs", "hello", f"{program} how=code", f"{program} how=write")
    assert done.returncode == 7, done.stdout + done.stderr
    assert "crash: in poke at" in done.stdout


def test_a_run_ends_after_as_long_as_it_may_take(crash):
    board, program = crash
    done = run_cobnut("boot", "--board", board, "--seconds", "3", f"{program} how=loop")
    assert done.returncode == 0 and "cobnut: ended after 3 s" in done.stderr


def test_a_measured_run_without_marks_has_a_ledger_of_the_whole(crash):
    board, program = crash
    machine = "i486" if board == "pc" else "arm926-400"
    done = run_cobnut("boot", "--board", board, "--machine", machine, f"{program} how=nothing")
    assert done.returncode == 0, done.stderr
    assert f"{machine}: modelled cycles of the whole run" in done.stdout
    ledger = re.findall(r"^  (\S.*?) +([\d,]+)$", done.stdout.partition("of the whole run")[2], re.MULTILINE)
    *parts, total = [int(cycles.replace(",", "")) for _, cycles in ledger]
    assert ledger[-1][0] == "total" and sum(parts) == total > 0
