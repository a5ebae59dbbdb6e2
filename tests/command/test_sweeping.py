# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps over the ranges of a machine's numbers, on an experiment that computes instead of measuring."""

from dataclasses import replace

import pytest

import made_up
from cobnut import boards, machines, running, sweeping
from cobnut.checks import exactly, judge
from cobnut.errors import CobnutError
from cobnut.experiments import Lab, ipc_path
from cobnut.experiments.records import Recorded, Records
from cobnut.progress import Silent
from cobnut.results import Provenance, Result

MACHINE = "pentium4-1400"
FIXED, DOUBLE = "fixed", "double"


def experiment():
    """One check that is twice the number of DTLB entries, one that never moves, one that is not measured."""

    def run(lab: Lab) -> Result:
        entries = float(lab.overrides.get("dtlb.entries", 64))
        checks = [
            judge(DOUBLE, 2 * entries, "entries", exactly(128), "twice"),
            judge(FIXED, 5, "", exactly(5), "five"),
            judge("none", None, "", exactly(5), "nothing"),
        ]
        return Result("made/up", "machine", Provenance("", None, "", ""), [], checks, [])

    return replace(ipc_path.EXPERIMENT, run=run)


def swept(*words: str) -> Result:
    lab = replace(made_up.lab(ipc_path.EXPERIMENT), model=machines.load(MACHINE))
    wanted = sweeping.parse(words, lab.machine)
    return sweeping.run(experiment(), lab, experiment().run(lab), wanted, Silent())


def test_both_ends_are_measured_and_the_rest_stays():
    result = swept("dtlb.entries=32:96", "dtlb.associativity=1:2")
    assert result.find("sweep.double.low").x == ["dtlb.entries", "dtlb.associativity"]
    assert result.find("sweep.double.low").y == [64, 128]
    assert result.find("sweep.double.high").y == [192, 128]
    assert result.find("sweep.double.value").y == [128, 128]
    assert result.find("sweep.none.low") is None
    assert [check.name for check in result.checks] == [DOUBLE, FIXED, "none"]


def test_only_what_moves_is_shown():
    result = swept("dtlb.entries=32:96", "dtlb.associativity=1:2")
    assert sweeping.moved(result) == [(DOUBLE, 128, 64, 192, "dtlb.entries")]
    assert [plot.title for plot in sweeping.plots(result)] == ["double: what it hinges on"]


def test_what_moves_nothing_is_named():
    wanted = ["dtlb.entries=32:96", "dtlb.associativity=1:2"]
    sweeps = sweeping.parse(wanted, machines.load(MACHINE))
    assert (
        sweeping.idle(swept(*wanted), sweeps) == "sweep: these numbers moved no check: dtlb.associativity (none at all)"
    )
    assert sweeping.idle(swept(wanted[0]), sweeps[:1]) == ""
    still = swept(wanted[1])
    little = [replace(one, y=[128.5]) if one.name == "sweep.double.low" else one for one in still.series]
    assert "dtlb.associativity (none by 1 % or more)" in sweeping.idle(replace(still, series=little), sweeps[1:])


def test_a_range_left_out_is_the_machines_own():
    machine = machines.load(MACHINE)
    own = machine.parameters["dtlb.entries"]
    assert own.open
    assert sweeping.parse(["dtlb.entries"], machine) == [
        sweeping.Sweep("dtlb.entries", own.text("low"), own.text("high"))
    ]


def test_all_is_every_range_and_what_is_said_last_holds():
    machine = machines.load(MACHINE)
    found = {sweep.parameter: sweep for sweep in sweeping.parse(["all", "dtlb.entries=1:2"], machine)}
    assert set(found) == {name for name, parameter in machine.parameters.items() if parameter.open}
    assert found["dtlb.entries"] == sweeping.Sweep("dtlb.entries", "1", "2")


@pytest.mark.parametrize("board", ["collie", "versatilepb"])
@pytest.mark.parametrize("name", ["ipc/path", "wiggins03/flushes"])
def test_guests_with_an_arm_processor_are_swept_as_well(name, board):
    plan = running.planned(name, board=board, machine=None, given=[], quick=True, sweep=["all"])
    assert plan.board.processor is boards.ARM


def test_what_is_not_recorded_is_not_swept():
    with pytest.raises(CobnutError, match="sanitize/stress does not record its guests"):
        running.planned("sanitize/stress", board="collie", machine=None, given=[], quick=True, sweep=["all"])


def test_a_guest_is_recorded_once():
    records, made = Records(), []

    def make(path):
        made.append(path)
        return Recorded(path, None, 1.0)

    assert records.of("a", make) == records.of("a", make)
    records.of("b", make)
    assert len(made) == records.count == 2 and made[0] != made[1]
