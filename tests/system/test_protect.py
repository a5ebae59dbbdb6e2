# SPDX-License-Identifier: GPL-2.0-or-later
"""Page protection by a pager at user level: the program counts its traps, on QEMU and on Bochs; and what it costs."""

import pytest

from conftest import run_cobnut


@pytest.mark.parametrize("pair", ["large_large", "small_small"])
@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_protected_pages_trap_and_others_do_not(emulator, pair):
    arguments = f"protect pair={pair} rounds=4 warmup=1"
    done = run_cobnut("boot", "--root", arguments, "--emulator", emulator, "--seconds", "300")
    assert done.returncode == 0 and "protect: done" in done.stdout, done.stdout + done.stderr


def test_operations_stay_within_their_limits():
    done = run_cobnut("run", "haertig97/table5", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
