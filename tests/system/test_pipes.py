# SPDX-License-Identifier: GPL-2.0-or-later
"""Pipes at user level on the emulators: what libs/pipes promises, and what they cost beside calls."""

import promises
import pytest

from conftest import run_cobnut


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_what_pipes_promise(emulator):
    done = run_cobnut("boot", "pipetest", "--emulator", emulator, "--seconds", "300")
    checks = promises.checked(done.stdout)
    assert promises.broken(checks) == []
    assert len(checks) == 33, done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize("pair", ["large_large", "small_small"])
@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_bytes_arrive_by_each_way(emulator, pair):
    """The program compares what arrives; on Bochs segments have limits."""
    for what in ("latency", "bandwidth capacity=4"):
        arguments = f"exchange pair={pair} what={what} rounds=4 warmup=1"
        done = run_cobnut("boot", "--root", arguments, "--emulator", emulator, "--seconds", "300")
        assert done.returncode == 0 and "exchange: done" in done.stdout, done.stdout + done.stderr


def test_a_call_is_cheaper_than_a_pipe():
    done = run_cobnut("run", "haertig97/table4", "--quick")
    assert done.returncode == 0, done.stdout + done.stderr
