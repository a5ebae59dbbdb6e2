# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong usage is answered with status 2 and one clear line."""

import os
import stat

import pytest

from conftest import ROOT, assert_refused


def test_list_names_experiments_machines_and_boards(cobnut):
    done = cobnut("list")
    assert done.returncode == 0
    for name in ("uhlig02/fig4", "ipc/path", "pentium4-1400", "pc"):
        assert f"  {name} " in done.stdout


def test_works_from_another_folder(cobnut, tmp_path):
    assert cobnut("list", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "no/such"], ["unknown experiment", "no/such", "uhlig02/fig4"]),
        (["run", "ipc/path", "--machine", "z80"], ["unknown machine", "z80", "pentium4-1400"]),
        (["run", "ipc/path", "--machine", "no/such.toml"], ["no/such.toml", "no such file"]),
        (["run", "ipc/path", "--board", "toaster"], ["unknown board", "toaster", "pc"]),
        (["run", "ipc/path", "--set", "rounds"], ["rounds", "K=V"]),
        (["run", "ipc/path", "--set", "rounds=many"], ["many", "whole number"]),
        (["run", "ipc/path", "--set", "rounds=0"], ["at least 1"]),
        (["run", "ipc/path", "--set", "colour=1"], ["colour", "rounds"]),
        (["run", "ipc/path", "--set", "itlb.entries=lots"], ["lots", "not a number"]),
        (["run", "ipc/path", "--report", str(ROOT / "cobnut")], ["--report", "not a folder"]),
        (["run", "ipc/path", "--json", str(ROOT)], ["--json", "cannot be written"]),
        (["run"], ["EXPERIMENT"]),
        (["build", "--board", "toaster"], ["unknown board", "toaster"]),
        (["boot"], ["at least one module"]),
        (["boot", "--emulator", "abacus", "hello"], ["unknown emulator", "abacus", "bochs"]),
        (["boot", "--memory", "0", "hello"], ["--memory 0"]),
        (["boot", "--cpu", "z80", "hello"], ["z80"]),
        (["boot", "no-such-program"], ["no-such-program", "no such file"]),
        (["test", "nothing"], ["unknown part", "nothing", "system"]),
        (["frobnicate"], ["frobnicate"]),
        (["run", "ipc/path", "--frobnicate"], ["--frobnicate"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and len(" ".join(value)) < 40 else "",
)
def test_wrong_usage_is_one_line(cobnut, arguments, words):
    assert_refused(cobnut(*arguments), *words)


def test_an_old_emulator_is_refused(cobnut, tmp_path):
    fake = tmp_path / "qemu-system-i386"
    fake.write_text("#!/bin/sh\necho 'QEMU emulator version 7.2.17 (Debian 1:7.2+dfsg-7)'\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    path = f"{tmp_path}:{os.environ['PATH']}"
    assert_refused(cobnut("boot", "hello", env={"PATH": path}), "7.2.17", "too old", "10")
    assert_refused(cobnut("run", "ipc/path", env={"PATH": path}), "7.2.17", "too old", "10")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda text: text.replace("clock_mhz = { value = 1400", "clock_mhz = { value = -5"), "clock_mhz"),
        (lambda text: "\n".join(line for line in text.splitlines() if not line.startswith("clock_mhz")), "clock_mhz"),
        (lambda text: text + "\n[[[\n", "bad.toml"),
    ],
    ids=["absurd", "missing", "not TOML"],
)
def test_a_bad_machine_file_is_refused(cobnut, tmp_path, change, word):
    good = (ROOT / "lab" / "machines" / "pentium4-1400.toml").read_text()
    bad = tmp_path / "bad.toml"
    bad.write_text(change(good))
    assert_refused(cobnut("run", "ipc/path", "--machine", str(bad)), word)


def test_a_number_of_the_machine_that_makes_no_sense_is_refused(cobnut):
    assert_refused(cobnut("run", "ipc/path", "--set", "itlb.entries=-1"), "itlb.entries")
