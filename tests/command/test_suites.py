# SPDX-License-Identifier: GPL-2.0-or-later
"""What counts as a difference between the native kernel and the server in others' test suites. None is run here."""

from dataclasses import replace
from pathlib import Path

import pytest

from cobnut.emulators import Outcome
from cobnut.errors import CobnutError
from cobnut.linux import arm_suites, armel, cases, database_suites, images, strace_suite, suites
from cobnut.linux.cases import LEFT_OUT, Case, Ended, parsed
from cobnut.linux.suites import SUITES, Differing

CONSOLE = "case one\nsaid by one\n\nresult one 0\n\ncase two\nsaid by two\n\nresult two 1\n"


def ended(statuses: dict[str, int], console: str = "") -> Ended:
    return Ended(statuses, console, whole=True)


def test_statuses_and_words_are_read_from_the_console():
    found = parsed(CONSOLE)
    assert found.statuses == {"one": 0, "two": 1} and not found.whole
    assert (found.said("one"), found.said("two"), found.said("three")) == ("said by one", "said by two", "")
    assert parsed(f"{CONSOLE}\nall cases ran\n").whole


def test_what_passes_natively_has_to_pass_here():
    native = ended({"good": 0, "bad": 0, "lost": 0, "fails": 1, "left": LEFT_OUT})
    found = Differing(native, ended({"good": 0, "bad": 1, "fails": 0, "left": 0}), {"bad": "a reason"})
    assert found.failed == ["bad", "lost"] and found.unknown == ["lost"]
    assert "5 tests: natively 3 pass, 1 are left out, 1 fail; of those that pass 1 pass here" in found.words


def test_other_kernels_have_other_names():
    found = Differing(ended({"good": 0}), ended({"good": 1}), {}, names=arm_suites.NAMES)
    assert "with the standard kernel 1 pass" in found.words and "0 pass with fast switching, 1 do not" in found.words


def test_an_image_for_arm_has_what_there_is_for_it():
    of_pc, here = images.find("programs"), armel.image("programs")
    assert set(of_pc.packages) - set(here.packages) == set(armel.MISSING)
    assert here.architecture == "armel" and not any("i386" in name for name in here.without)


def test_a_run_in_two_guests_ends_where_the_first_does_not(tmp_path, monkeypatch):
    suite = replace(arm_suites.SUITES["arm-programs"], name="made-up")
    monkeypatch.setattr(suites, "REPORTS", tmp_path)
    monkeypatch.setattr(suites, "_ensure", lambda _: tmp_path)
    (tmp_path / "programs.sh").write_text("one() {\n}\ntwo() {\n}\n")
    started = []

    def guest(console: str) -> cases.Guest:
        def start(command: str, files: Path) -> Outcome:
            started.append((files / cases.LIST).read_text())
            return Outcome(0, console, "", 1.0)

        return start

    whole, cut = guest(f"{CONSOLE}\nall cases ran\n"), guest(CONSOLE)
    found = suites.compare(suite, {"standard": whole, "fast": cut})
    assert found.failed == [] and started[0].startswith("one\t") and started[0] == started[1]
    assert (tmp_path / "made-up-fast.log").read_text() == CONSOLE
    with pytest.raises(CobnutError, match="the standard kernel has not come to its end"):
        suites.compare(suite, {"standard": cut, "fast": whole})


def test_what_is_said_counts_where_it_is_compared():
    native, here = parsed(CONSOLE), parsed(CONSOLE.replace("said by one", "another"))
    assert Differing(native, here, {}).failed == []
    assert Differing(native, here, {}, compared=True).failed == ["one"]


def test_each_suite_has_an_image_and_each_known_difference_a_suite():
    for suite in SUITES.values():
        images.find(suite.image)
    for suite in arm_suites.SUITES.values():
        armel.image(suite.image)
    assert set(suites.known()) <= {*SUITES, *arm_suites.SUITES}
    assert all(reason for tests in suites.known().values() for reason in tests.values())


def test_tests_are_found_in_their_folders(tmp_path):
    (tmp_path / "tests").mkdir()
    for name in ("run-alias", "run-all", "alias.tests"):
        (tmp_path / "tests" / name).touch()
    assert [case.name for case in suites.bash_cases(tmp_path)] == ["run-alias"]
    for suite in SUITES.values():
        if suite.compared:  # scripts of ours
            suite.make(tmp_path, tmp_path, suite.tools())
    assert len(arm_suites.SUITES["arm-stress"].cases(tmp_path)) > 100
    programs = SUITES["programs"].cases(tmp_path)
    assert len(programs) > 20 and "ask" not in [case.name for case in programs]
    assert Case("limits", "bash -c 'cd /tmp/case; . /files/programs.sh; limits'") in programs
    assert Case("signals", "sh -c 'cd /tmp/case; . /files/java.sh; signals'") in SUITES["java"].cases(tmp_path)
    assert "php_program" in [case.name for case in SUITES["languages"].cases(tmp_path)]
    services = [case.name for case in SUITES["services"].cases(tmp_path)]
    assert "redis" in services and not {"page", "within"} & set(services)
    for name, found, called in (("mathematics", "processes_of_r", "by_r"), ("media", "films_of_ffmpeg", "film")):
        names = [case.name for case in SUITES[name].cases(tmp_path)]
        assert found in names and called not in names
    assert len({case.name for case in SUITES["stress"].cases(tmp_path)}) > 150


def test_tests_of_databases_are_found(tmp_path):
    (tmp_path / "test").mkdir()
    for name in ("lock", "lock2", "speed1", "select1"):
        (tmp_path / "test" / f"{name}.test").touch()
    assert [case.name for case in database_suites.sqlite_cases(tmp_path, ["lock*", "select1"])] == [
        "lock",
        "lock2",
        "select1",
    ]
    (tmp_path / "parallel_schedule").write_text("# one comes first\ntest: one\n\n# test: none\ntest: three two\n")
    assert [case.name for case in database_suites.postgresql_cases(tmp_path)] == ["one", "three", "two"]


def test_tests_of_strace_are_those_of_its_list(tmp_path):
    (tmp_path / strace_suite.LIST).write_text("access.gen.test\ncount-f.test\n")
    access, count = strace_suite.cases(tmp_path)
    assert (access.name, count.name) == ("access.gen", "count-f")
    assert "STRACE=/usr/bin/strace" in access.command and "./run.sh ./access.gen.test" in access.command
    assert "rm -rf -- access.dir" in access.command and access.command.endswith("exit $status")


def test_a_source_without_an_archive_is_refused(tmp_path):
    with pytest.raises(CobnutError, match="no archive"):
        suites._unpacked("bash", [tmp_path / "bash.dsc"], tmp_path / "tree")
