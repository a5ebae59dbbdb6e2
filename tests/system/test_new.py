# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of one's own: what `./cobnut new` writes is built and booted by the commands of its README."""

import os
import re
import subprocess

import pytest

from cobnut import paths
from conftest import run_cobnut, run_limited


def commands(folder, number):
    """The commands of a README, as it shows them first (0: the board that was asked for) or second (1: another)."""
    return re.findall(r"```sh\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)[number]


def shell(folder, text):
    done = run_limited(["sh", "-e", "-c", text], cwd=folder, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize(
    ("language", "build", "board"),
    [
        ("c", "make", "pc"),
        ("c++", "make", "pc"),
        ("c", "cmake", "pc"),
        ("c++", "cmake", "pc"),
        ("c", "cmake", "versatilepb"),
        ("c++", "make", "collie"),
    ],
)
def test_a_new_program_is_built_and_boots(tmp_path, language, build, board):
    folder = tmp_path / "below" / "first-try"
    done = run_cobnut("new", str(folder), "--language", language, "--build", build, "--board", board)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(str(path) for path in folder.iterdir())
    assert "@" not in "".join(path.read_text() for path in folder.iterdir())
    booted = shell(folder, commands(folder, 0))
    assert "warning" not in booted.stdout + booted.stderr
    assert "first-try: hello, started as: first-try" in booted.stdout
    assert re.search(r"first-try: I am thread \d+, my pager is thread \d+", booted.stdout)
    assert "root: first-try: finished with code 0" in booted.stdout


@pytest.mark.parametrize("build", ["make", "cmake"])
def test_the_same_program_on_another_board(tmp_path, build):
    assert run_cobnut("new", ".", "--build", build, cwd=tmp_path).returncode == 0
    booted = shell(tmp_path, commands(tmp_path, 1))
    assert "hello, started as" in booted.stdout and "finished with code 0" in booted.stdout


def test_an_unknown_board_or_kind_is_refused(tmp_path):
    run_cobnut("new", str(tmp_path / "mine"))
    for words in ("BOARD=toaster", "KIND=toaster"):
        done = subprocess.run(["make", words], cwd=tmp_path / "mine", capture_output=True, text=True, check=False)
        assert done.returncode and "'toaster' (known: p" in done.stderr


def test_what_is_there_stays(tmp_path):
    (tmp_path / "notes").write_text("mine")
    assert run_cobnut("new", str(tmp_path)).returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_make_and_cmake_have_the_same_flags():
    """Those that decide about the code and where it is put."""
    mk, cmake = ((paths.ROOT / "user" / name).read_text() for name in ("flags.mk", "flags.cmake"))
    flag = re.compile(r"-(?:f[a-z][\w=-]+|m(?:no-[\w-]+|32|arch=\w+|arm)|z,[\w=-]+|nostdlib|static|no-pie|O\d)")
    assert set(flag.findall(mk)) == set(flag.findall(cmake))
