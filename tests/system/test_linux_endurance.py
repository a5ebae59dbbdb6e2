# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux as a server under programs that mean harm and under many processes: it works as before, its log has no fault
of its own, and the microkernel has got everything back. Longer forms: `./cobnut test long linux/fuzz linux/forks
linux/sharers linux/endurance linux/workplace`.
"""

import os
import re

import pytest
from guest_programs import compiled

from cobnut.emulators import qemu
from cobnut.linux import books, endurance, guest, workplace
from cobnut.linux.books import MORE_PAGES, OF_ITS_OWN, Books
from cobnut.linux.guest import Wish
from conftest import LIMIT_SECONDS, run_cobnut

SEED = os.environ.get("FUZZ_SEED", "1")
ROUNDS = os.environ.get("FUZZ_ROUNDS", "30")
NUMBERS, POINTERS = 460, 21  # as fuzz.c has them
FORKS = int(os.environ.get("FORKS", "1000"))
SHARERS = int(os.environ.get("SHARERS", "50"))
SHARED_MB, SHARERS_MEMORY_MB = 40, 512


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name in ("fuzz", "forks", "sharers"):
        compiled(name, folder)
    return folder


@pytest.mark.parametrize(
    "words", [("--kernel", "native"), ("--small", "none"), ("--small", "server"), ("--small", "all")], ids=" ".join
)
def test_no_call_harms_the_system(programs, words):
    # a log that is marked, so that none would be seen as well
    command = f"dmesg -c >/dev/null; ./fuzz {SEED} {ROUNDS}; echo status $?; echo mark >/dev/kmsg; dmesg"
    done = run_cobnut("linux", "--files", str(programs), "--run", command, *words)
    assert done.returncode == 0, done.stderr
    assert "fuzz: all works\nstatus 0\n" in done.stdout and done.stdout.endswith("mark\n"), done.stdout
    calls = re.search(r"fuzz: (\d+) calls by (\d+) workers, each number", done.stdout)
    assert calls and int(calls[1]) > (NUMBERS - 2) * POINTERS and int(calls[2]) > int(ROUNDS), done.stdout
    assert not OF_ITS_OWN.search(done.stdout), done.stdout


def books_after(forks: int, programs, folder, small: str) -> Books:
    """What the microkernel's books say when Linux has had so many processes and has ended."""
    folder.mkdir()
    boot = guest.prepare(Wish(run=f"./forks {forks}", files=programs, small=small), folder)
    ended = qemu.run(guest.with_root(boot, books.ASKED), timeout=LIMIT_SECONDS)
    assert f"{forks} forks, 0 bad" in ended.console, ended.console
    _, at_the_end = books.told(ended.console)
    return at_the_end


@pytest.mark.parametrize("small", ["none", "all"])
def test_forks_leave_nothing_in_the_books(programs, tmp_path, small):
    few, many = (books_after(forks, programs, tmp_path / str(forks), small) for forks in (32, FORKS))
    assert many.faults == 0 and many.pages <= few.pages + MORE_PAGES and many.objects <= few.objects + FORKS // 20


def test_many_map_the_same_and_live_at_once(programs):
    """Each with 10,000 pages: more mappings than the microkernel has memory for at a time."""
    command = f"./sharers {SHARERS} {SHARED_MB}; dmesg"
    done = run_cobnut("linux", "--files", str(programs), "--memory", str(SHARERS_MEMORY_MB), "--run", command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{SHARERS} at once, {SHARERS} to the end\n"), done.stdout
    assert not OF_ITS_OWN.search(done.stdout) and "maps no page" not in done.stdout, done.stdout


def test_a_piece_of_a_day_leaves_nothing_in_the_books(tmp_path, monkeypatch):
    monkeypatch.setattr(endurance, "REPORTS", tmp_path)
    piece = endurance.run_piece(1, endurance.PLACEMENTS.index("all"), 20)
    assert piece.placement == "all"
    # what has begun and not ended is not counted
    assert all(piece.operations[name] for name in endurance.STRESSORS)


def test_a_desktop_that_has_all_to_do_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(workplace, "REPORTS", tmp_path)
    piece = workplace.run_piece(1, 0, 5)
    assert all(piece.operations[kind] for kind in workplace.KINDS)
