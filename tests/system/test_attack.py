# SPDX-License-Identifier: GPL-2.0-or-later
"""The attack program: everything is refused where limits hold, and where they do not the program sees that."""

import re

import pytest

import guests
from cobnut import attacks
from cobnut.errors import Skipped
from cobnut.experiments import silicon_ratios, silicon_segments

ROW = re.compile(r"attack: row (\S+) (\w+)")
PLACED = re.compile(r"placed (\d+) exclusive, (\d+) bound, (\d+) large, (\d+) changed")


def attack(arguments: str, on: guests.Processor, options: str = "small=1024") -> dict[str, str]:
    """The status of each attempt, by its name."""
    outcome = guests.boot(guests.program("attack", f"area=1024 {arguments}"), options=options, on=on)
    assert outcome.kernel_message is None, outcome.console
    rows = dict(ROW.findall(outcome.console))
    assert f"attack: {len(rows)} attempts, " in outcome.console, outcome.console[-500:]
    return rows


@pytest.mark.parametrize("on", guests.BOCHS, ids=str)
@pytest.mark.parametrize("kind", ["small", "large"])
def test_everything_is_refused_where_limits_hold(kind, on):
    rows = attack(f"limits=1 kinds={kind}", on)
    assert len(rows) >= 200
    assert [name for name, status in rows.items() if status != "refused"] == []


def where_all_was_refused(placed: str, on: guests.Processor) -> tuple[int, ...]:
    """Of the attackers: how many were in exclusive slots, in bound ones, and in none, and whose slot had changed at
    their end.
    """
    outcome = guests.boot(guests.program("attack", f"area=128 limits=1 placed={placed}"), options="small=128", on=on)
    rows = dict(ROW.findall(outcome.console))
    assert len(rows) >= 200
    assert [name for name, status in rows.items() if status != "refused"] == []
    placed_where = PLACED.search(outcome.console)
    assert placed_where
    return tuple(map(int, placed_where.groups()))


@pytest.mark.parametrize("on", guests.BOCHS, ids=str)
def test_everything_is_refused_where_the_kernel_chooses_the_slots(on):
    exclusive, bound, _, changed = where_all_was_refused("automatic", on)
    assert exclusive + bound >= 200
    assert changed >= 50


@pytest.mark.parametrize("on", guests.BOCHS, ids=str)
def test_everything_is_refused_where_attackers_are_bound_to_a_page_directory(on):
    exclusive, bound, large, _ = where_all_was_refused("bound", on)
    assert exclusive == large == 0
    assert bound >= 200


@pytest.mark.parametrize("on", [guests.Processor("qemu", "486"), guests.USUAL], ids=str)
@pytest.mark.parametrize(("arguments", "kind"), [("", "small"), ("placed=bound", "bound")])
def test_the_program_sees_what_an_emulator_lets_through(arguments, kind, on):
    rows = attack(arguments, on)
    assert {"refused", "unenforced"} == set(rows.values())
    for name in ("read.ds.limit+1", "write.ds.host", "jump.above", "push.below", "movs.from_over_limit"):
        assert rows[f"{kind}.{name}"] == "unenforced"


def test_nothing_escapes_where_the_kernel_has_few_slots_to_choose():
    outcome = guests.boot(guests.program("attack", "area=64 placed=automatic"), options="small=64", on=guests.USUAL)
    rows = dict(ROW.findall(outcome.console))
    assert len(rows) >= 200
    assert "escaped" not in rows.values()
    assert int(re.search(r"placed (\d+) exclusive", outcome.console).group(1)) >= 200


@pytest.mark.parametrize(
    ("option", "only"), [("sysenter=off", ""), ("fastpath=off", "only=call."), ("fastpath=off", "only=entry.")]
)
def test_other_ways_into_the_kernel(option, only):
    assert "escaped" not in attack(only, guests.USUAL, f"small=1024 {option}").values()


def test_the_same_attempts_on_this_machines_processor():
    program = attacks.linux_program()
    try:
        output = attacks.run_on_silicon(program, measure=True)
    except Skipped as reason:
        pytest.skip(str(reason))
    found = attacks.read(output)
    assert len(found) >= 100
    assert [one for one in found if one.status != "refused"] == []
    costs = attacks.costs(output)
    wanted = {*silicon_segments.MEASURED, *(part for one in silicon_ratios.RATIOS for part in (one.above, one.below))}
    assert all(ticks > 0 for ticks in costs.values()) and wanted - set(costs) <= {"fast_getppid"}
    assert set(attacks.speculation(output)) == {"inside", "beyond", "absent"}


@pytest.mark.parametrize("arguments", ["area=x", "kinds=flat", "placed=here"])
def test_wrong_arguments_are_said(arguments):
    outcome = guests.boot(guests.program("attack", arguments))
    assert outcome.code == 2
    assert "attack: limits=0|1 area=MB" in outcome.console
