# SPDX-License-Identifier: GPL-2.0-or-later
"""A system goes on while one of its drivers loops, floods others, dies, or is interrupted all the time."""

import promises
import pytest

from cobnut import systems
from conftest import run_cobnut


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_the_others_are_served(emulator):
    done = run_cobnut("boot", "robust", "--emulator", emulator, "--seconds", "600")
    checks = promises.checked(done.stdout)
    wanted = systems.load("robust").description.program["steady"].arguments.split()
    assert promises.broken(checks) == [], done.stdout
    assert [name for name, _ in checks if name.startswith("served.beside.")] == [
        f"served.beside.{one}" for one in wanted
    ]
    assert "steady: 0 failed" in done.stdout and done.returncode == 0
