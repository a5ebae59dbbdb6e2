# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs an experiment's boots. No emulator runs here."""

import threading
import time
from dataclasses import replace

import pytest

import made_up
from cobnut import progress
from cobnut.experiments import ipc_path, runner


@pytest.fixture
def lab():
    """A lab whose meter notes what it is told."""

    class Noted(progress.Silent):
        def __init__(self):
            self.expected, self.notes = [], []

        def expect(self, steps):
            self.expected.append(steps)

        def advance(self, steps=1, note=""):
            self.notes.append(note)

    return replace(made_up.lab(ipc_path.EXPERIMENT), meter=Noted())


def test_results_are_in_the_order_of_what_was_wanted_and_by_it(lab):
    def one(number):
        time.sleep(0.05 / number)  # the later, the sooner
        return 10 * number

    assert runner.each(lab, range(1, 7), one, lambda number: f"n{number}") == [10, 20, 30, 40, 50, 60]
    assert list(runner.mapped(lab, "ba", str.upper).items()) == [("b", "B"), ("a", "A")]
    assert lab.meter.expected == [6, 2]
    assert sorted(lab.meter.notes) == [
        "a",
        "b",
        *(f"n{number}" for number in range(1, 7)),
    ]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_more_than_so_many_run_at_a_time(lab, most):
    running, seen, lock = [], [], threading.Lock()

    def one(number):
        with lock:
            running.append(number)
            seen.append(len(running))
        time.sleep(0.02)
        with lock:
            running.remove(number)

    runner.each(lab, range(8), one, at_once=most)
    assert max(seen) == most


def test_what_one_raises_ends_the_whole_and_nothing_is_tried_again(lab):
    begun = []

    def one(number):
        begun.append(number)
        if number == 1:
            raise RuntimeError("broken")
        time.sleep(0.05)
        return number

    with pytest.raises(RuntimeError, match="broken"):
        runner.each(lab, range(100), one)
    assert begun.count(1) == 1 and len(begun) < 10


def test_a_plain_meter_expects_the_most_that_it_was_told(capsys):
    meter = progress._Lines("long work")
    meter.expect(4)
    for _ in range(4):
        meter.advance()
    meter.expect(4)
    meter.advance(4)
    assert capsys.readouterr().err.splitlines() == [
        *(f"long work: {done} of 4" for done in range(1, 5)),
        "long work: 8 of 8",
    ]
    told = progress._Lines("told")
    told.total(8)
    told.expect(4)
    told.advance(4)
    assert capsys.readouterr().err.splitlines() == ["told: 4 of 8"]
