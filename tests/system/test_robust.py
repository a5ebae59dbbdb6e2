# SPDX-License-Identifier: GPL-2.0-or-later
"""A system goes on while one of its drivers loops, floods others, dies, or is interrupted all the time."""

import re

import pytest

from cobnut import systems
from conftest import run_cobnut


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_the_others_are_served(emulator):
    done = run_cobnut("boot", "robust", "--emulator", emulator, "--seconds", "600")
    checks = re.findall(r"^(ok|FAIL) (\S+)", done.stdout.replace("\r", ""), re.MULTILINE)
    wanted = systems.load("robust").description.program["steady"].arguments.split()
    assert [name for verdict, name in checks if verdict != "ok"] == [], done.stdout
    assert [name for _, name in checks if name.startswith("served.beside.")] == [
        f"served.beside.{one}" for one in wanted
    ]
    assert "steady: 0 failed" in done.stdout and done.returncode == 0
