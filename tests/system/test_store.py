# SPDX-License-Identifier: GPL-2.0-or-later
"""The file server that writes: files are there in the next boot, and if a server, a driver or the machine ends in the
middle, the old file or the new one is.
"""

import time

import promises
import pytest
import shells

from conftest import run_cobnut

SECONDS = 240  # of processor time, for one system


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "disk.img"
    path.write_bytes(bytes(1 << 20))
    return path


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_what_it_promises(image, emulator):
    done = run_cobnut("boot", "storetest", "--emulator", emulator, "--seconds", "600", "--disk", str(image))
    checks = promises.checked(done.stdout)
    assert promises.broken(checks) == [], done.stdout
    assert len(checks) == 20, done.stdout
    assert "storechecks: 0 failed" in done.stdout and done.returncode == 0
    assert done.stdout.count("init: store: ended: killed") == done.stdout.count("init: ide: ended: killed") == 12


def running(image):
    return shells.running("store", "--disk", image, seconds=SECONDS)


def test_files_are_there_after_the_machine_was_cut_off(image):
    with running(image) as shell:
        assert "x: not found" in shell.ask("cat x")
        shell.ask("mkdir notes")
        shell.ask("write notes/a first line")
        shell.ask("write notes/a second line")
        assert "\nfirst line\nsecond line" in shell.ask("cat notes/a")
        shell.type("write notes/a " + "; write notes/a ".join(map(str, range(6))) + "\r")
        time.sleep(0.05)  # it is cut off anywhere in these
    with running(image) as shell:
        kept = shell.ask("cat notes/a").split("\n")
        assert kept[1:3] == ["first line", "second line"]
        assert kept[3:] == [str(n) for n in range(len(kept) - 3)], "a beginning of what was written then"
        assert "notes/" in shell.ask("ls")
        assert "notes: too many" in shell.ask("rm notes")
        shell.ask("rm notes/a")
        assert "notes/a: not found" in shell.ask("cat notes/a")
