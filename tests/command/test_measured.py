# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin measured is checked as it is read, and is not changed by that."""

import copy
import json

import pytest

import made_up
from cobnut import measured, tables
from cobnut.errors import CobnutError
from cobnut.experiments.pingpong import PingPong

SPEC = PingPong("small_small", gen="reads", sizes=(0, 2, 1), rounds=2, warmup=1, slot=16, small=512)
WHOLE = made_up.output(SPEC) | {"machine": "made-up", "machine_set": [], "totals": {"cycles": 7}, "more": [1, 2.5]}


def test_nothing_is_changed():
    read = measured.read(json.dumps(WHOLE))
    assert read == WHOLE
    whole = read["regions"][0]["per_iteration"]["instructions_kernel"][0]
    assert whole == 92 and isinstance(whole, int)


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("regions", 0, "iterations"), "many", "regions.0.iterations"),
        (("regions", 1, "ledger", "instructions"), None, "regions.1.ledger.instructions"),
        (("switches", 0, "how"), 3, "switches.0.how"),
        (("regions",), None, "regions"),
    ],
)
def test_what_is_wrong_is_said(path, value, where):
    broken = copy.deepcopy(WHOLE)
    at = broken
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(CobnutError, match=f"what was measured cannot be read: {where}"):
        measured.read(json.dumps(broken))


def test_what_is_missing_is_said():
    with pytest.raises(CobnutError, match="cannot be read: switches: Field required"):
        measured.read(json.dumps({key: value for key, value in WHOLE.items() if key != "switches"}))


def test_a_case_that_came_twice_is_one_with_all_that_is_in_both():
    region = made_up.output(SPEC)["regions"][0]
    again = copy.deepcopy(region)
    again["ledger"]["instructions"] += 5
    again["cycles_total"] += 5
    both = measured.joined([region, again])
    assert both["iterations"] == 2 * region["iterations"]
    assert both["per_iteration"]["cr3_writes"] == 2 * region["per_iteration"]["cr3_writes"]
    assert both["ledger"]["instructions"] == 2 * region["ledger"]["instructions"] + 5
    assert sum(both["ledger"].values()) == both["cycles_total"]
    refills = [sum(one["refills"] for one in some["causes"]) for some in (region, both)]
    assert refills[1] == 2 * refills[0] and len(both["causes"]) == len(region["causes"])


def test_functions_are_shown_the_dearest_first_and_the_others_together(capsys):
    regions = [
        region | {"functions": [{"symbol": f"f{n}", "cycles": (n + case) * region["iterations"]} for n in range(13)]}
        for case, region in enumerate(WHOLE["regions"])
    ]
    tables.show_measured("made-up", json.dumps(WHOLE | {"regions": regions}))
    *_, table = capsys.readouterr().out.partition("by function with its refills\n")
    rows = [line.split() for line in table.splitlines()]
    assert rows[0] == ["function", "case", "0", "case", "1", "case", "2"]
    assert rows[1] == ["f12", "12", "13", "14"] and rows[10] == ["f3", "3", "4", "5"]
    assert rows[11:] == [["3", "others", "3", "6", "9"]]


def test_processes_are_listed_with_their_spaces(capsys):
    tables.show_measured("made-up", json.dumps(WHOLE | {"processes": {"00001000": ["init (1)", "sh (17)"]}}))
    assert "00001000  init (1), sh (17)" in capsys.readouterr().out
    tables.show_measured("made-up", json.dumps(WHOLE))
    assert "processes" not in capsys.readouterr().out
