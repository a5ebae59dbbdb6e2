# SPDX-License-Identifier: GPL-2.0-or-later
"""What `groups/revocation` makes of what its program and the plugin tell. No emulator runs here."""

from dataclasses import replace
from typing import Any

import pytest

from cobnut.experiments import groups_revocation as revocation
from cobnut.experiments.groups_revocation import Found, Stretch

ROUNDS = 3
CONSOLE = "revoke: 2 spaces, 9 revocations\nrevoke: done\n"
CASES = (revocation.REVOCATION, *revocation.SWITCHES.values())


def measured(case: int) -> dict:
    """Measured iterations have 100 instructions, those that prepare have 900."""
    n = 2 * ROUNDS - 1
    return {
        "case": case,
        "iterations": n,
        "per_iteration": {"instructions_kernel": [100, 900, 100, 900, 100][:n], "entries_irq": [0] * n},
        "cycles_per_iteration": [500.0 + case, 9000.0, 501.0 + case, 9000.0, 502.0 + case],
    }


def output() -> dict:
    return {"regions": [measured(case) for case in CASES]}


def read(regions: Any, console: str = CONSOLE) -> Found:
    return revocation.read("lazy", 2, ROUNDS, regions, console)


def test_every_other_iteration_counts():
    found = read(output())
    assert found.failure is None
    assert found.instructions(revocation.REVOCATION) == 100
    assert found.cycles(revocation.REVOCATION) == 501
    assert found.longest == 502 + max(CASES)


def test_one_with_an_interrupt_in_it_does_not():
    regions = output()
    regions["regions"][0]["per_iteration"]["entries_irq"] = [0, 0, 1, 0, 1]
    assert read(regions).stretches[revocation.REVOCATION] == [Stretch(100, 500)]
    regions["regions"][0]["per_iteration"]["entries_irq"] = [1, 0, 1, 0, 1]
    assert "interrupt" in read(regions).failure


@pytest.mark.parametrize("lost", range(len(CASES)))
def test_a_case_that_is_missing_is_a_failure(lost):
    regions = output()
    del regions["regions"][lost]
    assert "was not measured" in read(regions).failure
    regions = output()
    regions["regions"][lost]["iterations"] = 4
    assert "was not measured" in read(regions).failure


def test_a_program_that_does_not_tell_is_a_failure():
    assert read(output(), "revoke: done\n").failure
    assert read(output(), CONSOLE.replace("2 spaces", "3 spaces")).failure


def found(scheme: str, spaces: int, cycles: float, *, instructions: float = 1000, pieces: float = 1) -> Found:
    """All stretches alike, but for the switch after 32 revocations."""
    one = Stretch(instructions, cycles)
    stretches = {case: [one] for case in CASES} | {
        revocation.SWITCHES["missed_32"]: [replace(one, cycles=pieces * cycles)]
    }
    return Found(scheme, spaces, stretches)


def verdicts(many: Found, other: Found) -> dict[str, bool]:
    every = {
        ("lazy", 2): found("lazy", 2, 5000),
        ("lazy", 1000): many,
        ("eager", 2): found("eager", 2, 4000),
        ("eager", 1000): other,
    }
    return {check.name: check.ok for check in revocation.judge_all((2, 1000), every)}


def test_the_same_among_many_is_ok():
    good = verdicts(found("lazy", 1000, 5000), found("eager", 1000, 90000))
    assert list(good) == ["lazy.revocation.1000", "lazy.longest.1000", "lazy.bound", "1000.revocation", "1000.longest"]
    assert all(good.values())


@pytest.mark.parametrize(
    ("many", "other", "bad"),
    [
        (found("lazy", 1000, 5000, instructions=1100), found("eager", 1000, 90000), {"lazy.revocation.1000"}),
        (found("lazy", 1000, 6000), found("eager", 1000, 90000), {"lazy.longest.1000"}),
        (found("lazy", 1000, 4000, pieces=1.3), found("eager", 1000, 90000), {"lazy.bound"}),
        (found("lazy", 1000, 5000), found("eager", 1000, 4000), {"1000.revocation", "1000.longest"}),
    ],
)
def test_each_check_can_fail(many, other, bad):
    assert {name for name, ok in verdicts(many, other).items() if not ok} == bad


def test_what_was_not_measured_is_never_ok():
    lost = Found("lazy", 1000, failure="made to fail")
    assert not any(verdicts(lost, found("eager", 1000, 90000)).values())
