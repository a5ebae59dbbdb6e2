# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/cost`: what is made of processor times. No emulator runs here, and nothing is timed."""

import pytest

import made_up
from cobnut.errors import CobnutError
from cobnut.experiments import lab_cost
from cobnut.experiments.lab_cost import LINUX, LOOPS, Pair, Way


def lab(**settings: int):
    made = made_up.lab(lab_cost.EXPERIMENT)
    made.settings.update({"pairs": 3, "linux": 0, **settings})
    return made


def test_the_median_of_the_pairs_counts_and_boots_do_not(monkeypatch):
    """A computer that is busy for a while takes longer for both runs of a pair."""
    busy = iter((1, 1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 1, 1, 1, 1, 1, 9) * len(LOOPS))

    def seconds(lab, guest, boot, way):
        loops = boot is not guest.less
        return next(busy) * ({Way.PLAIN: 2.0, Way.IDLE: 2.5, Way.MODELLED: 7.0}[way] if loops else 1.0)

    monkeypatch.setattr(lab_cost, "_seconds", seconds)
    result = lab_cost.run(lab())
    assert [check.name for check in result.checks] == [f"{name}.ratio" for name in LOOPS]
    assert all(check.measured == 6 and not check.ok for check in result.checks), "7 - 1 over 2 - 1, and 4 is the most"
    assert result.find("idle").y == [1.5, 1.5], "what QEMU takes for the callbacks"
    assert result.find("plain").y == [1, 1] and result.find("least").y[0] < 6


@pytest.mark.parametrize(("name", "ratio", "ok"), [(LOOPS[0], 4, True), (LOOPS[0], 4.1, False), (LINUX, 8, True)])
def test_each_guest_has_its_bound(name, ratio, ok):
    assert lab_cost.judge_guest(name, [Pair(1, 1, ratio)]).ok is ok


def test_round_trips_that_do_not_show_are_no_ratio(monkeypatch):
    monkeypatch.setattr(lab_cost, "_seconds", lambda *_: 1.0)
    with pytest.raises(CobnutError, match="--set rounds="):
        lab_cost.run(lab())


def test_a_guest_that_fails_is_not_timed(monkeypatch, tmp_path):
    guest = lab_cost.guests_of(lab(), tmp_path)[LOOPS[0]]
    outcome = lab_cost.Outcome(1, "pingpong: FAIL x\n", "", 1.0)
    monkeypatch.setattr(lab_cost.qemu, "run", lambda *_, **__: outcome)
    with pytest.raises(CobnutError, match="FAIL x"):
        lab_cost.seconds(lab(), guest, Way.PLAIN)
