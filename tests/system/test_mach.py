# SPDX-License-Identifier: GPL-2.0-or-later
"""Mach's objects as a server, on the emulators: ports, messages, memory objects, tasks."""

import promises
import pytest

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
