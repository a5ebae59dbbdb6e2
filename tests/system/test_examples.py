# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of examples/, built by their own Makefile away from this tree."""

import re
import shutil
import subprocess

import pytest

import guests
from cobnut import boards, build, packages, paths
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.modules import Module

TIMEOUT_SECONDS = 180


class Built:
    """The examples as they are built for one board."""

    def __init__(self, board, folder):
        self.board = boards.find(board)
        packages.ensure(packages.MAKE)
        build.images(self.board)
        shutil.copytree(paths.ROOT / "examples", folder, ignore=shutil.ignore_patterns("build"))
        self.folder = folder
        done = subprocess.run(
            ["make", "-C", str(folder), f"COBNUT={paths.ROOT}", f"BOARD={board}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr

    def module(self, name, arguments=""):
        return Module(self.folder / name / "build" / self.board.name / name, arguments)

    def boot(self, *payloads, root=None):
        root = root or Module(self.board.program("root"), "off=1")
        modules = (Module(self.board.program("sigma0")), root, *payloads)
        if self.board.processor is boards.ARM:
            what = Boot(self.board.kernel, modules, memory_mb=self.board.memory_mb or 64)
            outcome = qemu_arm.run(what, self.board.name, timeout=TIMEOUT_SECONDS)
        else:
            what = Boot(self.board.kernel, modules, "", guests.USUAL.cpu)
            outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, repeatable=True)
        assert not outcome.timed_out, outcome.console
        return outcome


@pytest.fixture(scope="module", params=["pc", "versatilepb"])
def built(request, tmp_path_factory):
    return Built(request.param, tmp_path_factory.mktemp("outside") / "examples")


def test_a_server_and_two_clients(built):
    outcome = built.boot(built.module("counter", "server=1"), built.module("adder"), built.module("watcher"))
    counted = [int(value) for value in re.findall(r"^counter: (\d+)$", outcome.console, re.MULTILINE)]
    assert counted == [n * (n + 1) // 2 for n in range(1, 11)]
    assert "adder: 1 to 10 added, the counter is at 55" in outcome.console
    assert "watcher: the counter has come to 55" in outcome.console
    assert "watcher: it refuses what it does not know" in outcome.console
    assert "root: counter" not in outcome.console, "the server has not ended"
    assert outcome.console.rstrip().endswith("root: all programs finished")
    assert outcome.code == 0


def test_a_pager(built):
    console = built.boot(root=built.module("pager")).console
    wanted = [int(place, 16) for place in re.findall(r"of the heap, wanted at ([0-9a-f]{8})", console)]
    assert wanted == [0x10000000 + n * 4096 for n in range(4)]
    assert re.findall(r"pager: page (\d) has (\d)", console) == [("0", "0"), ("1", "1"), ("2", "4"), ("3", "9")]


def test_names(built):
    """The first of a name is found, a payload may have another name than its file, and others are not found."""
    renamed = built.boot(built.module("counter", "server=1 name=other"), built.module("adder"))
    assert "adder: there is no counter" in renamed.console
    assert renamed.code == 1
    found = built.boot(
        Module(built.board.program("hello"), "server=1"),
        built.module("counter", "server=1 name=counter2"),
        built.module("counter", "server=1"),
        built.module("counter", "server=1"),
        built.module("adder"),
        built.module("adder", "name=again"),
    )
    assert found.console.count("root: adder: finished with code 0") == 1
    assert found.console.count("root: again: finished with code 0") == 1
    assert "counter: 110" in found.console, "both have added to the same counter"
    assert found.code == 0


def test_the_makefile_boots_them(built):
    for target, word in (
        ("run", "root: all programs finished"),
        ("run-pager", "pager: page 3 has 9"),
        ("run-tally", "init: the system ends with code 0"),
    ):
        done = subprocess.run(
            ["make", "-C", str(built.folder), target, f"COBNUT={paths.ROOT}", f"BOARD={built.board.name}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert word in done.stdout
