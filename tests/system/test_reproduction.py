# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments themselves, quickly: every check, the report in a browser, and that a second run gives the same
numbers.
"""

import json
import re

import pytest

import browser
from cobnut import experiments
from conftest import run_cobnut

ALL = experiments.reproductions()


@pytest.fixture(scope="module", params=list(ALL))
def finished(request, tmp_path_factory):
    """One quick run of each experiment by the command: its name, its JSON and the folder of its report."""
    folder = tmp_path_factory.mktemp("run")
    files = ["--json", str(folder / "result.json"), "--report", str(folder)]
    done = run_cobnut("run", request.param, "--quick", *files)
    assert done.returncode in (0, 1), done.stderr
    return request.param, json.loads((folder / "result.json").read_text()), folder, done


def test_its_checks(finished):
    """The path's targets are ours to reach. What a paper found is a prediction: where it is missed, that has to be
    known.
    """
    name, result, _, done = finished
    assert result["checks"] and all(check["measured"] is not None for check in result["checks"])
    assert not [check for check in result["checks"] if check["verdict"] == "failed"]
    assert done.returncode == 0
    missed = {check["name"]: check for check in result["checks"] if not check["ok"]}
    if name == "ipc/path":
        assert set(missed) == {"one_way.small_small.published"}
    for check in missed.values():
        assert check["verdict"] == "known_miss" and ALL[name].sheet.known_misses[check["name"]].reason in check["why"]
        assert f"known miss: {check['name']}" in done.stdout


def test_strict_fails_known_misses_too(cobnut, tmp_path):
    """Without --strict the same run succeeds: test_its_checks."""
    done = cobnut("run", "liedtke95/table1", "--quick", "--report", str(tmp_path), "--strict")
    assert done.returncode == 1 and "known miss: Pentium.segment_switch" in done.stdout


def test_small_spaces_are_ahead_at_every_size(finished):
    name, result, _, _ = finished
    if name == "uhlig02/fig4":
        ratios = {series["name"]: series["y"] for series in result["series"] if series["name"].endswith(".ratio")}
        assert list(ratios) == ["a.ratio", "b.ratio", "c.ratio"]
        assert all(ratio > 1 for ratios_of_part in ratios.values() for ratio in ratios_of_part)


def test_the_ledger_adds_up(finished):
    result = finished[1]
    assert result["ledger"]
    for row in result["ledger"]:
        assert round(1000 * sum(row["entries"].values())) == round(1000 * row["total"])


def test_provenance_is_complete(finished):
    origin = finished[1]["provenance"]
    assert all(origin[key] for key in ("revision", "machine_file_sha256", "emulator", "date"))
    assert origin["emulator"].startswith("QEMU ")


def test_the_report_renders(finished):
    name, result, folder, _ = finished
    rendered = browser.render(folder / f"{name.replace('/', '-')}.html")
    assert rendered.complaints == []
    pictures = re.split(r'<div id="plot\d+"', rendered.dom)[1:]
    assert pictures and all("main-svg" in picture for picture in pictures)
    assert all(check["name"] in rendered.dom for check in result["checks"])


def test_a_second_run_gives_the_same_numbers(cobnut, tmp_path):
    results = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.json"
        cobnut("run", "ipc/path", "--quick", "--json", str(path), "--report", str(tmp_path))
        result = json.loads(path.read_text())
        del result["provenance"]["date"]
        results.append(result)
    assert results[0] == results[1]


def test_without_sysenter_the_ipc_is_as_short(cobnut, tmp_path):
    path = tmp_path / "int.json"
    done = cobnut("run", "ipc/path", "--quick", "--set", "sysenter=0", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout
    checks = {check["name"]: check for check in json.loads(path.read_text())["checks"]}
    assert checks["one_way.small_small.entries_int"]["measured"] == 1
    assert checks["one_way.small_small.instructions"]["measured"] <= 60
