# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made of the attack programs' rows. No emulator runs here."""

import os
from dataclasses import replace

import pytest

from cobnut import attacks, machines
from cobnut.attacks import Attempt
from cobnut.emulators import Outcome
from cobnut.errors import CobnutError, Skipped
from cobnut.experiments import attack_isolation, attack_isolation_arm, silicon_ratios, silicon_segments
from cobnut.findings import Findings
from cobnut.machines import Parameter
from made_up import MACHINE

CONSOLE = """attack: row small.read refused read fault at 1000000, vector 6 error 0 ip 300042 eax 90909090
attack: row small.port refused port 64
attack: row large.read escaped vector 6 error 0 ip 300042 eax cccccccc
attack: 3 attempts, 2 refused
"""


def test_rows_are_read():
    found = attacks.read(CONSOLE)
    assert [one.status for one in found] == ["refused", "refused", "escaped"]
    assert found[1] == Attempt("small.port", "refused", "port 64")


@pytest.mark.parametrize("lost", ["attack: 3 attempts, 2 refused\n", "attack: row small.port refused port 64\n"])
def test_a_run_that_lost_something_is_none(lost):
    with pytest.raises(ValueError, match="rows are missing"):
        attacks.read(CONSOLE.replace(lost, ""))


def many(status: str, other: str = "refused") -> list[Attempt]:
    return [
        Attempt(f"{kind}.{n}", other if n else status, "vector 13") for kind in ("small", "large") for n in range(70)
    ]


def verdicts(checks) -> dict[str, bool]:
    return {check.name: check.ok for check in checks}


@pytest.mark.parametrize("status", ["escaped", "blind", "unenforced"])
def test_one_attempt_that_is_not_refused_fails(status):
    good = verdicts(attack_isolation.judge_run(attack_isolation.Run("x", many("refused"))))
    assert set(good.values()) == {True}
    bad = list(attack_isolation.judge_run(attack_isolation.Run("x", many(status))))
    assert verdicts(bad) == good | {"x.not_refused": False}
    assert "small.0" in next(check.why for check in bad if not check.ok)


def test_where_the_kernel_chooses_slots_they_have_to_be_used_and_to_change():
    run, refused = attack_isolation.Run, many("refused")
    good = verdicts(attack_isolation.judge_automatic(run("x", refused, 200, 50)))
    assert good == {"x.in_slots": True, "x.changed": True, "x.not_refused": True}
    assert verdicts(attack_isolation.judge_automatic(run("x", refused, 199, 50))) == good | {"x.in_slots": False}
    assert verdicts(attack_isolation.judge_automatic(run("x", refused, 200, 49))) == good | {"x.changed": False}
    assert verdicts(attack_isolation.judge_automatic(run("x", many("escaped"), 200, 50))) == good | {
        "x.not_refused": False
    }


def test_enough_attackers_have_to_be_bound():
    run, refused = attack_isolation.Run, many("refused")
    good = verdicts(attack_isolation.judge_bound(run("x", refused, bound=200)))
    assert good == {"x.in_bound_slots": True, "x.not_refused": True}
    assert verdicts(attack_isolation.judge_bound(run("x", refused, in_slots=200, bound=199))) == good | {
        "x.in_bound_slots": False
    }
    assert verdicts(attack_isolation.judge_bound(run("x", many("escaped"), bound=200))) == good | {
        "x.not_refused": False
    }


def test_on_arm_each_attempt_has_to_be_refused_and_there_have_to_be_enough():
    enough = [Attempt(f"load.slot_{n}", "refused", "fault") for n in range(attack_isolation_arm.LEAST_ATTEMPTS)]
    clean, dirty = (Findings([{"line": "stale"}] * many, [], [], {"accesses": 1}) for many in (0, 1))
    good = {"fast.attempts": True, "fast.not_refused": True, "fast.reports": True}
    assert verdicts(attack_isolation_arm.judge_run("fast", enough, clean)) == good
    assert verdicts(attack_isolation_arm.judge_run("fast", enough, dirty)) == good | {"fast.reports": False}
    assert verdicts(attack_isolation_arm.judge_run("fast", enough[1:], clean)) == good | {"fast.attempts": False}
    bad = attack_isolation_arm.judge_run("fast", [*enough, Attempt("unmap.page_apart", "escaped", "its end")], clean)
    assert verdicts(bad) == good | {"fast.not_refused": False} and "unmap.page_apart" in bad[1].why


def test_few_attempts_fail():
    few = [one for one in many("refused") if not one.name.startswith("large.")] + many("refused")[-5:]
    assert not verdicts(attack_isolation.judge_run(attack_isolation.Run("x", few)))["x.large.attempts"]


def test_an_emulator_without_limits_has_to_let_attempts_through():
    seen = attack_isolation.Run("x", many("unenforced", "unenforced"))
    assert set(verdicts(attack_isolation.judge_without_limits(seen)).values()) == {True}
    blind = attack_isolation.Run("x", many("refused"))
    assert verdicts(attack_isolation.judge_without_limits(blind)) == {"x.let_through": False, "x.not_refused": True}
    escaped = attack_isolation.Run("x", many("escaped", "unenforced"))
    assert not verdicts(attack_isolation.judge_without_limits(escaped))["x.not_refused"]


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (Outcome(0, CONSOLE[:-40], "", 1.0), "rows are missing"),
        (Outcome(None, CONSOLE, "", 1.0, timed_out=True), "does not end"),
        (Outcome(1, CONSOLE + "cobnut: kernel fault 13\n", "", 1.0), "kernel stopped"),
    ],
)
def test_a_run_that_failed_is_said(outcome, word):
    with pytest.raises(CobnutError, match=word):
        attack_isolation._run("x", outcome)


def program(tmp_path, text: str):
    path = tmp_path / "attack"
    path.write_text(text)
    os.chmod(path, 0o755)
    return path


def test_a_machine_without_segments_is_skipped(tmp_path):
    refused = program(tmp_path, "#!/bin/sh\necho 'attack: modify_ldt: Function not implemented' >&2\nexit 3\n")
    with pytest.raises(Skipped, match="no segments for users .*modify_ldt"):
        attacks.run_on_silicon(refused, measure=False)
    other = program(tmp_path, "\x7fELF of another processor")
    with pytest.raises(Skipped, match="no 32-bit programs"):
        attacks.run_on_silicon(other, measure=False)


def test_a_program_that_dies_is_not_skipped(tmp_path):
    with pytest.raises(CobnutError, match="status 7") as failure:
        attacks.run_on_silicon(program(tmp_path, "#!/bin/sh\nexit 7\n"), measure=False)
    assert not isinstance(failure.value, Skipped)


def test_costs_have_to_be_there():
    measured = attacks.costs("attack: cost load_ds 19.9\nattack: cost pipe_round_trip 11778\n")
    assert measured == {"load_ds": 19.9, "pipe_round_trip": 11778}
    traces = {"inside": 99.0, "beyond": 50.0, "absent": 0.0}
    found = verdicts(silicon_segments.judge_all(many("refused"), measured, traces))
    assert found["ticks.load_ds"] and not found["ticks.far_return"] and found["not_refused"]
    assert not verdicts(silicon_segments.judge_all(many("escaped"), measured, traces))["not_refused"]


def test_ratios_are_judged_by_their_order():
    measured = {"load_ds": 20.0, "call_return": 5.0, "far_return": 60.0, "load_walk": 50.0, "load_hit": 10.0}
    assert silicon_ratios.ratios_of(measured) == {"segment_load": 4, "far_return": 12, "page_walk": 5}
    assert verdicts(silicon_ratios.judge_all(measured)) == {"segment_load": True, "far_return": True, "page_walk": True}
    both = measured | {"int_getppid": 90.0, "fast_getppid": 100.0, "load_hit": 60.0}
    found = verdicts(silicon_ratios.judge_all(both))
    assert not found["int"] and not found["page_walk"]
    assert not verdicts(silicon_ratios.judge_all({"load_ds": 20.0}))["segment_load"], "nothing to divide it by"


def test_machine_files_have_the_same_ratios():
    four = silicon_ratios.modelled_ratios(machines.load("pentium4-1400"))
    assert four["int"] == pytest.approx(1000 / 166) and four["segment_load"] == pytest.approx(253 / 6 / 4)
    assert four["page_walk"] == pytest.approx((2 + 17 + 3000 / 64) / (2 + 17))
    assert set(silicon_ratios.modelled_ratios(machines.load("i486"))) == {"segment_load", "far_return", "page_walk"}


def test_what_is_read_ahead_has_to_be_visible():
    output = "attack: speculation inside 100.0\nattack: speculation beyond 99.8\nattack: speculation absent 0.0\n"
    traces = attacks.speculation(output)
    assert traces == {"inside": 100, "beyond": 99.8, "absent": 0}

    def found(**changed: float) -> list[bool]:
        verdict = verdicts(silicon_segments.judge_all([], {}, traces | changed))
        return [verdict["speculation.inside"], verdict["speculation.absent"]]

    assert found() == found(beyond=0) == [True, True]
    assert found(inside=3) == [False, True] and found(absent=80) == [True, False]


def test_models_stand_beside():
    assert silicon_segments.modelled(MACHINE)["load_ds"] == pytest.approx(253 / 6)
    one = MACHINE.parameters | {
        "segments.load_cycles": Parameter(3, ""),
        "segments.far_return_cycles": Parameter(4, ""),
    }
    assert silicon_segments.modelled(replace(MACHINE, parameters=one)) == {
        "load_ds": 3,
        "load_es": 3,
        "load_fs": 3,
        "far_return": 4,
    }
