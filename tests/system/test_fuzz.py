# SPDX-License-Identifier: GPL-2.0-or-later
"""The system-call fuzzer, for a short time: the kernel survives, and its books agree afterwards."""

import re

import pytest

import guests

CALLS = 10_000
ENDED = re.compile(r"fuzz: (\d+) calls, seed (\d+): (\d+) faults in the books, .*: ok")


def fuzz(arguments: str, on: guests.Processor):
    outcome = guests.boot(guests.program("fuzz", arguments), on=on)
    assert outcome.kernel_message is None, outcome.console
    return outcome


@pytest.mark.parametrize("on", [guests.Processor("qemu", "486"), guests.USUAL], ids=str)
def test_random_system_calls(on):
    outcome = fuzz(f"seed=2026 calls={CALLS}", on)
    ended = ENDED.search(outcome.console)
    assert ended, outcome.console
    assert int(ended.group(1)) >= CALLS and int(ended.group(3)) == 0
    assert outcome.code == 0


def test_a_seed_is_one_run():
    first, second = (fuzz("seed=5 calls=2000", guests.USUAL).console for _ in range(2))
    assert first == second


@pytest.mark.parametrize("arguments", ["calls=0", "seed=x", "calls=many"])
def test_wrong_arguments_are_said(arguments):
    outcome = guests.boot(guests.program("fuzz", arguments))
    assert outcome.code == 1
    assert "fuzz: seed=N calls=N small=0|1" in outcome.console
