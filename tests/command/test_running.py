# SPDX-License-Identifier: GPL-2.0-or-later
"""What `run` takes, and that what modelling costs is said only where it can be measured."""

import json
import sys

import pytest

import made_up
from cobnut import cli, experiments, running
from cobnut.errors import CobnutError
from cobnut.experiments import cost


@pytest.mark.parametrize(
    ("idle", "busy", "took"),
    [
        ([0.20, 0.21, 0.22, 0.21, 0.20], [0.60, 0.61, 0.62, 0.61, 0.60], 0.40),
        ([1.90, 0.21, 0.20, 0.21, 0.20], [0.60, 0.61, 0.62, 0.61, 9.00], 0.40),  # the first of a cold machine
        ([0.20, 0.40, 0.30, 0.25, 0.35], [0.30, 0.31, 0.32, 0.31, 0.30], None),  # lost in what boots alike differ by
        ([0.60, 0.60, 0.60, 0.60, 0.60], [0.60, 0.60, 0.60, 0.60, 0.60], None),
    ],
)
def test_a_difference_counts_where_boots_alike_take_about_the_same(idle, busy, took):
    assert cost.round_trips(idle, busy) == (pytest.approx(took) if took else None)


def test_all_are_those_that_the_board_has_and_the_others_are_named():
    every = experiments.reproductions()
    fitting, left_out = running.chosen("all", "collie")
    assert fitting and left_out and sorted([*fitting, *left_out]) == list(every)
    assert all("collie" in every[name].all_boards for name in fitting)
    assert not any("collie" in every[name].all_boards for name in left_out)
    for name in fitting:
        running.planned(name, board="collie", machine=None, given=[], quick=True)
    assert running.chosen("all", None) == (list(every), [])


def test_one_experiment_is_refused_on_a_board_that_it_does_not_know():
    assert running.chosen("ipc/scale", "collie") == (["ipc/scale"], [])
    with pytest.raises(CobnutError, match="ipc/scale runs on pc, not on collie"):
        running.planned("ipc/scale", board="collie", machine=None, given=[], quick=True)
    with pytest.raises(CobnutError, match="unknown board"):
        running.chosen("all", "toaster")


def test_all_reproductions_in_one_go_are_a_list(monkeypatch, tmp_path):
    """With made-up measurements: tests/system/test_reproduction.py measures each of them."""
    made_up.install(monkeypatch)
    monkeypatch.setattr(running.build, "everything", lambda board: None)
    monkeypatch.setattr(running.qemu, "ensure", lambda: "10.0")
    monkeypatch.setattr(running.qemu_arm, "ensure", lambda: "10.0")
    monkeypatch.setattr(running.machines, "check", lambda path, overrides: None)
    monkeypatch.setattr(cli, "end_on_signals", lambda: None)
    path = tmp_path / "all.json"
    words = ["run", "all", "--quick", "--set", "rounds=4", "--json", str(path), "--report", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["cobnut", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code in (0, 1)
    names = list(experiments.reproductions())
    assert [result["experiment"] for result in json.loads(path.read_text())] == names
    assert all((tmp_path / f"{name.replace('/', '-')}.html").exists() for name in names)
