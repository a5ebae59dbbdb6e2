# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/replay`: what it makes of processor times. No emulator runs here."""

from dataclasses import replace

import pytest

from cobnut.experiments.replay import RANDOM, Cost, judge_guest, series_of

GOOD = Cost(2.0, 1.0, 0.25, 1000, same_as_live=True, same_again=True, same_records=True)


def failed(name: str, cost: Cost) -> list[str]:
    return [check.name for check in judge_guest(name, cost) if not check.ok]


def test_a_fast_and_faithful_replay_passes():
    assert failed("guest", GOOD) == []
    assert len(judge_guest("guest", GOOD)) == 4


def test_a_slow_replay_fails():
    assert failed("guest", replace(GOOD, replay=0.41)) == ["guest.ratio"]


def test_the_random_guest_is_judged_by_its_bytes_alone():
    assert failed(RANDOM, replace(GOOD, replay=1.9)) == []
    assert failed(RANDOM, replace(GOOD, same_as_live=False)) == [f"{RANDOM}.same_as_live"]


@pytest.mark.parametrize("what", ["same_as_live", "same_again", "same_records"])
def test_other_bytes_fail(what):
    assert failed("guest", replace(GOOD, **{what: False})) == [f"guest.{what}"]


def test_the_series_are_over_the_guests():
    series = {one.name: one for one in series_of({"one": GOOD, "two": replace(GOOD, live=4.0)})}
    assert series["ratio"].x == ["one", "two"]
    assert series["ratio"].y == [8.0, 16.0]
