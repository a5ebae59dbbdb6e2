# SPDX-License-Identifier: GPL-2.0-or-later
"""An experiment is one module: it is found by being there, and nothing else in the command knows its name."""

import re

import pytest

from cobnut import completion, experiments, paths, proofs, running
from cobnut.errors import CobnutError
from cobnut.experiments import Kind

# the demonstration is of one experiment, which is all that it is about
OF_ONE_EXPERIMENT = {"demonstration.py"}
MODULE = """
from cobnut.checks import exactly, judge
from cobnut.experiments import Experiment, Kind, Lab, ipc_path
from cobnut.results import Provenance, Result


def run(lab: Lab) -> Result:
    check = judge("one", 1, "thing", exactly(1), "It is one.")
    return Result("made_up/dropped", None, Provenance("0", None, "none", "now"), [], [check], [])


EXPERIMENT = Experiment(
    name="made_up/dropped",
    title="Found by being there",
    source="this test",
    kind=Kind.{kind},
    machine="pentium4-1400",
    boards={boards},
    settings={{}},
    long_proof=True,
    run=run,
    plots=lambda result: [],
    checks={declared},
    story="",
    cannot_say=(),
)
"""


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
