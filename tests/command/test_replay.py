# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/replay`: what it makes of processor times. No emulator runs here."""

from dataclasses import replace
from pathlib import Path

import pytest

import made_up
from cobnut import boards
from cobnut.emulators import Boot
from cobnut.emulators.ending import End
from cobnut.errors import CobnutError
from cobnut.experiments import given, lab_cost
from cobnut.experiments import replay as lab_replay
from cobnut.experiments.replay import SLOW, Cost, judge_guest, series_of
from cobnut.guests import Guest

GOOD = Cost(2.0, 1.0, 0.25, 1000, same_as_live=True, same_again=True, same_records=True)


def failed(name: str, cost: Cost) -> list[str]:
    return [check.name for check in judge_guest(name, cost) if not check.ok]


def test_a_fast_and_faithful_replay_passes():
    assert failed("guest", GOOD) == []
    assert len(judge_guest("guest", GOOD)) == 4


def test_a_slow_replay_fails():
    assert failed("guest", replace(GOOD, replay=0.41)) == ["guest.ratio"]


@pytest.mark.parametrize("name", SLOW)
def test_a_guest_that_does_not_repeat_itself_is_judged_like_others_and_says_why(name):
    assert failed(name, GOOD) == []
    slow = [check for check in judge_guest(name, replace(GOOD, replay=1.9)) if not check.ok]
    assert [check.name for check in slow] == [f"{name}.ratio"]
    assert slow[0].why.endswith(SLOW[name])


@pytest.mark.parametrize("what", ["same_as_live", "same_again", "same_records"])
def test_other_bytes_fail(what):
    assert failed("guest", replace(GOOD, **{what: False})) == [f"guest.{what}"]


def test_the_series_are_over_the_guests():
    series = {one.name: one for one in series_of({"one": GOOD, "two": replace(GOOD, live=4.0)})}
    assert series["ratio"].x == ["one", "two"]
    assert series["ratio"].y == [8.0, 16.0]


@pytest.mark.parametrize("experiment", [lab_replay, lab_cost])
def test_a_kernel_that_is_given_is_the_only_guest(experiment, tmp_path):
    kernel = tmp_path / "kernel"
    kernel.write_bytes(b"\x7fELF")
    names = (("kernel", str(kernel)),)
    guest = Guest(boards.find("pc"), Boot(kernel, (), "quiet"), names, foreign=True)
    lab = replace(made_up.lab(experiment.EXPERIMENT), guest=guest)
    [(name, found)] = experiment.guests_of(lab, Path("/nowhere")).items()
    assert name == given.IMAGE and found.names == names
    assert (found.boot.options, found.boot.memory_mb) == ("quiet", given.MEMORY.value)
    with pytest.raises(CobnutError, match="--until"):
        experiment.guests_of(replace(lab, guest=replace(guest, end=End(None, "done"))), Path("/nowhere"))
