# SPDX-License-Identifier: GPL-2.0-or-later
"""Mach's objects as a server, on the emulators: ports, messages, memory objects, tasks."""

from dataclasses import replace

import promises
import pytest

from cobnut import gnumach
from cobnut.emulators import qemu
from cobnut.errors import CobnutError
from cobnut.experiments import mach_primitives, pingpong
from cobnut.modules import Module
from conftest import run_cobnut


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_what_machs_objects_promise(emulator):
    done = run_cobnut("boot", "machtest", "--emulator", emulator, "--seconds", "300")
    checks = promises.checked(done.stdout)
    assert promises.broken(checks) == []
    assert len(checks) == 93, done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_what_a_task_writes_is_in_the_file(emulator, tmp_path):
    disk = tmp_path / "disk.img"
    disk.write_bytes(bytes(1 << 20))
    done = run_cobnut("boot", "machdisk", "--emulator", emulator, "--seconds", "300", "--disk", str(disk))
    checks = promises.checked(done.stdout)
    assert promises.broken(checks) == [] and len(checks) == 7, done.stdout
    assert done.returncode == 0


def test_primitives_stay_within_their_limits():
    done = run_cobnut("run", "mach/primitives", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr


def test_of_gnu_mach_that_says_nothing_one_line_is_left():
    there = gnumach.boot("pentium", 64)
    mute = replace(there, modules=(Module(there.modules[0].path, "${host-port} $(task-create) $(task-resume)"),))
    outcome = qemu.run(mute, timeout=60, repeatable=True)
    failure = pingpong.guest_failure(outcome, gnumach.PROGRAM)
    assert failure == "the guest ended with None and without 'primitives: done'"
    ours = {name: mach_primitives.Row(name, None, 133, None) for name in mach_primitives.ROWS}
    theirs = {name: replace(row, failure=failure) for name, row in ours.items()}
    checks = {check.name: check for check in mach_primitives.judge("large", ours, theirs)}
    assert not checks["large.rpc.over_gnumach"].ok
    assert failure in checks["large.rpc.over_gnumach"].why


def test_of_gnu_mach_that_is_not_there_one_line_is_left(tmp_path, monkeypatch):
    monkeypatch.setenv("COBNUT_CACHE", str(tmp_path))
    monkeypatch.setenv("COBNUT_NO_INSTALL", "1")
    with pytest.raises(CobnutError, match="^not downloaded, as COBNUT_NO_INSTALL is set: GNU Mach for i386$"):
        gnumach.boot("pentium", 64)
