# SPDX-License-Identifier: GPL-2.0-or-later
"""Which long proofs `test long` makes, and how they count. None of them is made here."""

from types import SimpleNamespace

import pytest

from cobnut import boards, experiments, proofs, running, testing
from cobnut.checks import exactly, judge
from cobnut.errors import CobnutError, Skipped
from cobnut.results import Provenance, Result
from conftest import assert_refused, run_cobnut


def listed(*words: str) -> list[str]:
    done = run_cobnut("test", "long", *words, "--list")
    assert done.returncode == 0 and done.stderr == ""
    return done.stdout.splitlines()


def test_the_list_names_each_proof_on_each_of_its_boards():
    lines = listed()
    assert len(lines) == len(set(lines)) == len(proofs.all_proofs())
    for name in ("sanitize/mutations", "latency/worst", "sanitize/stress", "attack/isolation"):
        assert {f"{name} --board {board}" for board in boards.BOARDS} <= set(lines)
    assert "wiggins03/fig4 --board collie" in lines and "wiggins03/fig4 --board pc" not in lines
    tests = {
        "groups/starts",
        "linux/crash",
        "linux/endurance",
        "linux/forks",
        "linux/fuzz",
        "linux/series",
        "linux/workplace",
        "linux/suites/bash",
        "linux-arm/suites/programs",
        "linux/suites/postgresql",
        "linux/suites/sqlite",
        "x2test",
        "latency/area",
        "net/frames",
        "net/throughput",
    }
    assert tests <= set(lines), "they run on no board"


def test_what_the_list_says_names_one_proof():
    for proof in proofs.all_proofs():
        assert proofs.choose([proof.name], proof.board) == [proof]


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (["uhlig02/fig9"], ["uhlig02/fig9 --board pc"]),
        (["groups/starts"], ["groups/starts"]),
        (["sanitize/mutations", "--board", "collie"], ["sanitize/mutations --board collie"]),
        (
            ["wiggins03/fig5", "groups/policy"],
            ["groups/policy --board pc", "wiggins03/fig5 --board collie", "wiggins03/fig5 --board versatilepb"],
        ),
    ],
)
def test_some_can_be_chosen(words, chosen):
    assert listed(*words) == chosen


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["long", "sanitize/mutation"], ["unknown long proof 'sanitize/mutation'", "did you mean"]),
        (["long", "ipc/path"], ["unknown long proof 'ipc/path'"]),
        (["long", "uhlig02/fig9", "--board", "collie"], ["--board collie", "uhlig02/fig9"]),
        (["long", "groups/starts", "--board", "pc"], ["--board pc", "groups/starts"]),
        (["long", "--board", "toaster"], ["unknown board 'toaster'"]),
        (["unit", "uhlig02/fig9"], ["long alone"]),
        (["unit", "--list"], ["long alone"]),
        (["--board", "pc"], ["long alone"]),
    ],
)
def test_wrong_words_are_refused(words, complaint):
    assert_refused(run_cobnut("test", *words), *complaint)


def test_every_board_and_experiment_is_known():
    found = [proof for proof in proofs.all_proofs() if isinstance(proof, proofs.Proof)]
    assert len(found) > 10
    for proof in found:
        assert proof.board in experiments.find(proof.name).on(proof.board).boards


def test_they_are_no_part_of_all_tests(monkeypatch, capsys):
    monkeypatch.setattr(testing, "PARTS", {"none": lambda: testing.Count(1, 0)})
    monkeypatch.setattr(proofs, "make", lambda proof: pytest.fail("made"))
    assert testing.run(None) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 0 failed"


def ended(monkeypatch, capsys, how):
    """The exit status and the lines of a run of the proofs on collie, in which each ends so."""
    monkeypatch.setattr(running, "run", how)
    code = testing.run("long", ["latency/worst", "wiggins03/fig4"], "collie")
    return code, capsys.readouterr().out.splitlines()


def result(measured: float) -> SimpleNamespace:
    checks = [judge("count", measured, "things", exactly(1), "one")]
    return SimpleNamespace(result=Result("x", None, Provenance("", "", "", ""), [], checks, []))


def test_each_counts_as_one_test_with_a_line_of_its_own(monkeypatch, capsys):
    def full(name, *, board, machine, given, quick, report_folder):
        assert (board, machine, given, quick) == ("collie", None, [], False)
        return result(1 if name == "wiggins03/fig4" else 2)

    code, lines = ended(monkeypatch, capsys, full)
    assert code == 1 and lines[-1] == "1 passed, 1 failed"
    assert any(line.startswith("ok: wiggins03/fig4 --board collie: ") for line in lines)
    assert any(line.startswith("not ok: latency/worst --board collie: ") for line in lines)


def test_what_keeps_one_from_being_made_fails_that_one_alone(monkeypatch, capsys):
    def broken(name, **_):
        if name == "wiggins03/fig4":
            raise CobnutError("no emulator")
        return result(1)

    code, lines = ended(monkeypatch, capsys, broken)
    assert code == 1 and lines[-1] == "1 passed, 1 failed"
    assert any(line.startswith("not ok: wiggins03/fig4 --board collie: no emulator, ") for line in lines)


@pytest.mark.parametrize(
    ("status", "says", "holds"),
    [(0, "[  PASSED  ] 1 test.", True), (0, "[  PASSED  ] 0 tests.", False), (1, "[  FAILED  ] 1 test", False)],
)
def test_a_unit_test_has_to_run_and_to_pass(monkeypatch, tmp_path, capsys, status, says, holds):
    program = tmp_path / "host/kernel/tests/kernel_tests"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$1 $STARTS {says}"\nexit {status}\n')
    program.chmod(0o755)
    monkeypatch.setattr(proofs.paths, "BUILD", tmp_path)
    monkeypatch.setattr(proofs.build, "host_tests", lambda: None)
    (proof,) = proofs.choose(["groups/starts"], None)
    assert proofs.make(proof) is holds
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith(f"{'ok' if holds else 'not ok'}: groups/starts: ")
    assert holds or lines[0].startswith("--gtest_filter=Groups.AreFoundFromAnyStartAndKept 100 [")


def test_nothing_passes_by_being_left_out(monkeypatch, capsys):
    def skipped(name, **_):
        raise Skipped("not here")

    code, lines = ended(monkeypatch, capsys, skipped)
    assert code == 1 and lines[-1] == "0 passed, 1 failed"
    assert any(line.startswith("left out: latency/worst --board collie: not here, ") for line in lines)
