# SPDX-License-Identifier: GPL-2.0-or-later
"""What holds for every experiment on each of its boards, whatever it is about. They are found as the command finds
them, so a new one is held to it without a line here. No emulator runs.
"""

import re
import subprocess
from pathlib import Path

import pytest

from cobnut import boards, build, checks, experiments, machines, running
from cobnut.emulators import Outcome, bochs, qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab
from cobnut.plots import Pictured
from cobnut.progress import Silent
from cobnut.results import Result

EACH = [
    pytest.param(one, board, id=f"{one.name}-{board}")
    for whole in experiments.all_experiments().values()
    for one in (whole, *whole.elsewhere)
    for board in one.boards
]
every = pytest.mark.parametrize(("one", "board"), EACH)
ENDED_AT_ONCE = Outcome(code=2, console="", errors="", seconds=0.0)


@pytest.fixture(scope="module")
def images():
    """What experiments look into before they boot it."""
    build.all_images()


def quick_lab(one: Experiment, board: str) -> Lab:
    """Of its short form, as `run --quick` sets it up."""
    plan = running.planned(one.name, board=board, machine=None, given=[], quick=True)
    model = machines.read(plan.machine) if plan.machine else None
    settings, _ = experiments.split_settings(one, model, True, [])
    return Lab(one.name, plan.board, model, "no emulator", True, settings, {}, Silent())


@every
def test_its_name_is_a_source_and_a_subject(one, board):
    assert re.fullmatch(r"[a-z0-9]+/[a-z0-9]+", one.name)
    assert isinstance(one.kind, Kind) and boards.find(board).name == board


@every
def test_its_sheet_says_what_it_is_about(one, board):
    sheet = one.sheet
    assert sheet.title and sheet.source and sheet.story and sheet.names
    assert not sheet.title.endswith(".") and sheet.story.endswith((".", ")")), "a heading, and sentences"
    assert one.machine is None or sheet.cannot_say, "what a model leaves out"


@every
def test_the_values_in_a_checks_words_can_be_had(one, board):
    """A word in capitals of the text is one of the check's name; others are given by the judging code."""
    for name, meaning in one.sheet.checks.items():
        words = re.findall(r"\{([A-Z]+)", meaning.why)
        assert set(words) <= set(re.findall("[A-Z]+", name)), name
    for name in one.sheet.any_of:
        assert any(name in re.findall("[A-Z]+", declared) for declared in one.sheet.checks), f"{name} is in no name"


@every
def test_known_misses_have_an_interval_and_a_reason(one, board):
    for name, miss in one.sheet.known_misses.items():
        assert miss.low <= miss.high and miss.reason.endswith((".", ")")), name


@every
def test_every_setting_may_be_what_it_is(one, board):
    for name, setting in one.settings.items():
        values = {setting.value, setting.quick, setting.value if setting.swept is None else setting.swept}
        assert all(value in setting.allowed for value in values) and setting.help, name


@every
def test_it_runs_on_its_boards_machine_and_on_each_that_fits(one, board):
    target = boards.find(board)
    plan = running.planned(one.name, board=board, machine=None, given=[], quick=True)
    assert plan.board.name == board and (plan.machine is None) == (one.machine is None)
    if one.machine is None:
        with pytest.raises(CobnutError, match="is measured on no machine"):
            running.planned(one.name, board=board, machine="pentium-90", given=[], quick=True)
        return
    fitting = one.machines(target.processor)
    assert Path(str(plan.machine)).stem in fitting
    for name in machines.known():
        if name in fitting:
            running.planned(one.name, board=board, machine=name, given=[], quick=True)
        else:
            with pytest.raises(CobnutError, match=f"--machine {name}: .*there are"):
                running.planned(one.name, board=board, machine=name, given=[], quick=True)


@every
def test_no_setting_is_called_like_a_number_of_its_machines(one, board):
    for name in one.machines(boards.find(board).processor) if one.machine else ():
        assert not set(one.settings) & set(machines.read(name).parameters), name


@every
def test_its_short_form_sets_up_and_is_not_ok_where_no_guest_comes_up(one, board, images, monkeypatch):
    """Every boot ends at once with nothing on its console, and no tool can be started: a run may end with an error or
    with checks that failed. What is ok then is ok without having measured anything.
    """
    lab = quick_lab(one, board)

    def refused(*_: object, **__: object):
        raise CobnutError("no tool can be started here")

    for emulator in (qemu, qemu_arm, bochs):
        monkeypatch.setattr(emulator, "run", lambda *_, **__: ENDED_AT_ONCE)
    for name in ("images", "lab", "everything"):
        monkeypatch.setattr(build, name, lambda *_: None)
    monkeypatch.setattr(bochs, "ensure", lambda: None)
    monkeypatch.setattr(bochs, "version", lambda: "no version")
    monkeypatch.setattr(subprocess, "Popen", refused)
    monkeypatch.setattr(subprocess, "run", refused)
    result = failing_result(one, lab)
    if result is not None:
        assert result.failed
        assert checks.undeclared(result.checks, one.sheet.names) == []
        assert one.has_curves or not any(isinstance(plot, Pictured) for plot in one.plots(result))


def failing_result(one: Experiment, lab: Lab) -> Result | None:
    """What its run makes of it; nothing if that is an error of one line."""
    try:
        return one.run(lab)
    except CobnutError as error:
        assert "\n" not in str(error).strip()
        return None
