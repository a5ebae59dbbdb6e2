# SPDX-License-Identifier: GPL-2.0-or-later
"""The system-call fuzzer, for a short time: the kernel survives, and its books agree afterwards."""

import dataclasses
import re

import pytest

import guests
import made_up
from cobnut.emulators import qemu
from cobnut.experiments import fuzz_syscalls

CALLS = 10_000
ENDED = re.compile(r"fuzz: (\d+) calls, seed (\d+): (\d+) faults in the books, .*: ok")


def fuzz(arguments: str, on: guests.Processor, memory_mb: int = 64):
    outcome = guests.boot(guests.program("fuzz", arguments), on=on, memory_mb=memory_mb)
    assert outcome.kernel_message is None, outcome.console
    return outcome


@pytest.mark.parametrize("memory_mb", [64, 9], ids=["plenty", "little"])
@pytest.mark.parametrize("on", [guests.Processor("qemu", "486"), guests.USUAL], ids=str)
def test_random_system_calls(on, memory_mb):
    hoard = int(memory_mb < 64)
    outcome = fuzz(f"seed=2026 calls={CALLS} hoard={hoard}", on, memory_mb)
    ended = ENDED.search(outcome.console)
    assert ended, outcome.console
    assert int(ended.group(1)) >= CALLS and int(ended.group(3)) == 0
    assert outcome.code == 0


def test_hoarding_uses_up_the_kernels_memory():
    outcome = fuzz("seed=3 calls=50000 hoard=1", guests.USUAL, 9)
    counted = {(call, int(code)): int(count) for call, code, count in fuzz_syscalls.OUTCOME.findall(outcome.console)}
    assert counted[("thread_control", 8)] > 0, outcome.console


def test_a_seed_is_one_run():
    first, second = (fuzz("seed=5 calls=2000", guests.USUAL).console for _ in range(2))
    assert first == second


def test_the_experiment_in_its_short_form():
    lab = dataclasses.replace(made_up.lab(fuzz_syscalls.EXPERIMENT), emulator=qemu.version()[1])
    result = fuzz_syscalls.EXPERIMENT.run(lab)
    assert [check for check in result.checks if not check.ok] == []
    # one that comes up now and then is one that another kernel's run can miss
    rare = {fuzz_syscalls.said(key) for key in fuzz_syscalls.RARE}
    results = next(series for series in result.series if series.name == "results")
    counts = {str(name): count or 0 for name, count in zip(results.x, results.y, strict=True)}
    scarce = {name: count for name, count in counts.items() if count < 5 and name not in rare}
    assert scarce == {}


@pytest.mark.parametrize("arguments", ["calls=0", "seed=x", "calls=many", "hoard=no"])
def test_wrong_arguments_are_said(arguments):
    outcome = guests.boot(guests.program("fuzz", arguments))
    assert outcome.code == 1
    assert "fuzz: seed=N calls=N small=0|1 hoard=0|1" in outcome.console
