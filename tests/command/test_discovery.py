# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment is a module and its sheet: it is found by being there, nothing else in the command knows its name, and
the tests of all experiments hold it to what they hold the others to.
"""

import os
import re
import sys

import pytest

from cobnut import completion, experiments, paths, proofs, running
from cobnut.errors import CobnutError
from cobnut.experiments import Kind
from conftest import run_limited

# the demonstration is of one experiment, which is all that it is about
OF_ONE_EXPERIMENT = {"demonstration.py"}
MODULE = """
from cobnut.checks import exactly, judge
from cobnut.experiments import Experiment, Kind, Lab, ipc_path
from cobnut.results import Provenance, Result
from cobnut.sheets import Sheet


def run(lab: Lab) -> Result:
    check = judge("one", 1, "thing", exactly(1), "It is one.")
    return Result("made_up/dropped", None, Provenance("0", None, "none", "now"), [], [check], [])


EXPERIMENT = Experiment(
    name="made_up/dropped",
    sheet=Sheet(title="Found by being there", source="this test", story="", named={declared}),
    kind=Kind.{kind},
    machine="pentium4-1400",
    boards={boards},
    settings={{}},
    long_proof=True,
    run=run,
    plots=lambda result: [],
)
"""

SHEET = """
title = "Found by being there"
source = "This test"
story = "A ping-pong inside one space."
cannot_say = ["Anything, but that it was found."]
any_of.PAIR = ["intra"]

[checks."PAIR.cycles"]
unit = "cycles"
why = "{PAIR}: modelled, one way."

[[plots]]
kind = "lines"
title = "Cycles"
x_title = "size"
y_title = "cycles"
series = { "intra.cycles" = "intra" }
"""
MEASURING = """
from cobnut import sheets
from cobnut.checks import at_most
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.pingpong import PingPong, measure
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)


def run(lab: Lab) -> Result:
    found = measure(lab, [PingPong.of(lab, "intra")])[0]
    cycles = found.cycles(0)
    series = [Series("intra.cycles", "cycles", [0], [cycles])]
    return lab.result(series, [SHEET.judge("intra.cycles", cycles, at_most(1000))], found.rows("intra"))


EXPERIMENT = Experiment(
    name="dropped/whole",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(20, 4, range(1, 100), "measured round trips"),
        "warmup": Setting(5, 2, range(100), "round trips before them"),
    },
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
"""
# loaded by pytest before it collects
ADDING = """
from pathlib import Path

from cobnut import experiments

experiments.__path__.append(str(Path(__file__).parent))
"""


def outcome_of(folder, module=MEASURING, sheet=SHEET):
    """How the tests of all experiments end for one whose two files are dropped into the package."""
    (folder / "dropped_whole.py").write_text(module)
    (folder / "dropped_whole.toml").write_text(sheet)
    (folder / "adding.py").write_text(ADDING)
    generic = [str(paths.ROOT / f"tests/command/test_{name}.py") for name in ("every_experiment", "experiments")]
    words = [sys.executable, "-m", "pytest", "-q", "-p", "adding", "-p", "no:cacheprovider", "-k", "dropped", *generic]
    there = {"PYTHONPATH": os.pathsep.join((str(paths.LAB), str(folder))), "PYTHONDONTWRITEBYTECODE": "1"}
    return run_limited(words, env={**os.environ, **there})


def test_its_two_files_are_all_that_the_tests_need(tmp_path):
    done = outcome_of(tmp_path)
    assert done.returncode == 0, done.stdout
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) >= 13, done.stdout


MISTAKES = [
    {
        "dropped/whole": ("dropped", "test_its_name_is_a_source_and_a_subject"),
        "Setting(20, 4,": ("Setting(20, 400,", "test_every_setting_may_be_what_it_is"),
        "found.cycles(0)": ("found.cycles(0) or 1", "test_its_short_form_sets_up_and_is_not_ok"),
        "found.rows": ("list", "test_json_has_the_promised_keys"),
        "{PAIR}: modelled": ("{SIZE}: modelled", "test_the_values_in_a_checks_words_can_be_had"),
        "cannot_say = [": ("named = [", "test_its_sheet_says_what_it_is_about"),
    },
    {
        '"pentium4-1400"': ('"sa1100-200"', "test_it_runs_on_its_boards_machine_and_on_each_that_fits"),
        '"PAIR.cycles"': ('"PAIR.other"', "test_no_two_checks_share_a_name"),
    },
]


@pytest.mark.parametrize("mistakes", MISTAKES)
def test_a_mistake_in_one_of_them_fails_a_test(tmp_path, mistakes):
    module, sheet = MEASURING, SHEET
    for right, (wrong, _) in mistakes.items():
        assert (right in MEASURING) != (right in SHEET)
        module, sheet = module.replace(right, wrong), sheet.replace(right, wrong)
    done = outcome_of(tmp_path, module, sheet)
    failed = {line.split("::")[1].split("[")[0] for line in done.stdout.splitlines() if line.startswith("FAILED ")}
    for _, test in mistakes.values():
        assert any(one.startswith(test) for one in failed), (test, done.stdout)


@pytest.fixture
def drop(tmp_path, monkeypatch):
    """A function that drops a module into the package."""
    monkeypatch.setattr(experiments, "__path__", [*experiments.__path__, str(tmp_path)])

    def dropped(name, kind=Kind.REPRODUCTION, boards=("pc",), declared=("one",)):
        (tmp_path / f"{name}.py").write_text(MODULE.format(kind=kind.name, boards=boards, declared=declared))

    return dropped


def test_a_module_is_all_that_an_experiment_needs(drop):
    before = experiments.all_experiments()
    drop("dropped_alone")
    found = experiments.all_experiments()
    assert set(found) - set(before) == {"made_up/dropped"} and list(found) == sorted(found)
    assert "made_up/dropped" in experiments.reproductions()
    assert "made_up/dropped" in running.chosen("all", "pc")[0]
    assert proofs.choose(["made_up/dropped"], None) == [proofs.Proof("made_up/dropped", "pc")]
    assert completion.experiments("made") == completion.proofs_("made") == ["made_up/dropped"]
    assert running.planned("made_up/dropped", board=None, machine=None, given=[], quick=True).board.name == "pc"


@pytest.mark.parametrize("declared", [("two",), ("two", "ONE")])
def test_a_run_with_checks_that_are_not_declared_ends_with_an_error(drop, monkeypatch, tmp_path, declared):
    monkeypatch.setattr(running.build, "everything", lambda board: None)
    drop(f"dropped_vague_{len(declared)}", declared=declared)
    asked = {"board": None, "machine": None, "given": [], "quick": True, "report_folder": tmp_path / "reports"}
    if len(declared) == 1:
        with pytest.raises(CobnutError, match="does not declare its checks one; report: "):
            running.run("made_up/dropped", **asked)
    else:
        assert running.run("made_up/dropped", **asked).result.ok


def test_its_kind_says_whether_all_runs_it(drop):
    drop("dropped_proof", Kind.PROOF)
    assert "made_up/dropped" in experiments.all_experiments()
    assert "made_up/dropped" not in experiments.reproductions()


def test_modules_of_one_name_are_one_experiment_on_several_boards(drop):
    drop("dropped_first")
    drop("dropped_second", boards=("collie",))
    found = experiments.find("made_up/dropped")
    assert found.all_boards == ("pc", "collie") and found.on("collie").boards == ("collie",)


def test_two_experiments_of_one_name_on_one_board_are_refused(drop):
    drop("dropped_here")
    drop("dropped_there")
    with pytest.raises(ValueError, match="two experiments are called made_up/dropped"):
        experiments.all_experiments()


def test_nothing_but_its_module_knows_an_experiment():
    """By its name or by its module; the modules of experiments use each other."""
    every = experiments.all_experiments()
    modules = {one.run.__module__ for found in every.values() for one in (found, *found.elsewhere)}
    own = {module.rpartition(".")[2] for module in modules}
    known = re.compile(
        "|".join(rf"(?<![\w/]){name}(?!\w)" for name in [*every, *(f"experiments.*{one}" for one in own)])
    )
    package = paths.LAB / "cobnut"
    found = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        if (path.parent != package / "experiments" or path.name == "__init__.py") and path.name not in OF_ONE_EXPERIMENT
        for line in path.read_text(encoding="utf-8").splitlines()
        if known.search(line)
    ]
    assert found == []
