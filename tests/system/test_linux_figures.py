# SPDX-License-Identifier: GPL-2.0-or-later
"""What unmodified programs of Linux cost, natively and with Linux as a server: the experiments, quickly."""

import json

import pytest

from conftest import run_cobnut

CALLS = (("uhlig02/table2", "--set", "uml=1"), ("haertig97/getpid",))


def run_quickly(name, folder, *words):
    """The result of one quick run."""
    files = ["--json", str(folder / "result.json"), "--report", str(folder)]
    done = run_cobnut("run", name, "--quick", *words, *files)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "result.json").read_text())


def rows_of(result):
    return {series["name"]: dict(zip(series["x"], series["y"], strict=True)) for series in result["series"]}


def failed(result):
    return [check for check in result["checks"] if check["verdict"] == "failed"]


@pytest.fixture(scope="module", params=CALLS, ids=lambda words: words[0])
def finished(request, tmp_path_factory):
    """One quick run of each of those about calls: its name and its result."""
    name, *words = request.param
    return name, run_quickly(name, tmp_path_factory.mktemp("run"), *words)


def test_their_checks(finished):
    _, result = finished
    assert len(result["checks"]) > 10
    assert not failed(result)


def test_each_kernel_executes_its_own_instructions(finished):
    name, result = finished
    rows = rows_of(result)
    kernel, linux = rows["getpid.kernel"], rows["getpid.linux"]
    assert kernel["native"] == 0 and kernel["small"] > 150, "two messages of the microkernel's"
    assert linux["native"] > 2 * linux["small"] > 0, "the way in and out of Linux is not Linux's there"
    assert rows["getpid.cycles"]["native"] < rows["getpid.cycles"]["small"] < rows["getpid.cycles"]["large"], name


def test_user_mode_linux_makes_the_same_calls(finished):
    """As a traced process, so that its host's kernel executes most of a call."""
    name, result = finished
    rows = rows_of(result)
    assert ("uml.kernel" in rows) == (name == "uhlig02/table2"), "which was asked for them"
    for call, kernel in rows.get("uml.kernel", {}).items():
        assert kernel > 10 * rows[f"{call}.kernel"]["small"] and rows["uml.times"][call] > 5
        assert rows["uml.cr3_writes"][call] == 2


def test_a_pipe_between_two_processes_over_a_working_set(tmp_path):
    result = run_quickly("uhlig02/fig6", tmp_path)
    assert not failed(result)
    rows = rows_of(result)
    for part in ("nops", "jumps", "reads"):
        for kernel, writes in (("native", 2), ("small", 2), ("all", 0)):
            cycles = list(rows[f"{part}.{kernel}"].values())
            assert cycles == sorted(cycles), "a larger working set costs more"
            assert set(rows[f"{part}.{kernel}.cr3_writes"].values()) == {writes}


def test_an_x_server_in_a_small_space_is_asked_without_switches_of_page_tables(tmp_path):
    result = run_quickly("uhlig02/table3", tmp_path)
    assert not failed(result)
    rows = rows_of(result)
    assert rows["pointer.trace_misses"]["servers"] < rows["pointer.trace_misses"]["small"]
    assert rows["pointer.cr3_writes"]["servers"] < 1 < rows["pointer.cr3_writes"]["small"]


def test_a_row_of_the_papers_summary_is_told_with_how_far_it_is_behind_native(tmp_path):
    result = run_quickly("uhlig02/table5", tmp_path, "--set", "only=linux")
    assert not failed(result)
    checks = {check["name"]: check["measured"] for check in result["checks"]}
    assert checks.keys() == {"linux.least", "linux.most", "linux.slower", "linux.failed"}
    assert checks["linux.slower"] == pytest.approx(1 / (1 + checks["linux.least"])), "the call that gains least"
    rows = rows_of(result)
    assert rows["times.large"]["linux"] > (1 + checks["linux.least"]) * rows["times.small"]["linux"] > 1


def test_web_servers_are_groups_of_which_the_kernel_sees_nothing(tmp_path):
    result = run_quickly("uhlig02/fig10", tmp_path)
    assert not failed(result)
    rows = rows_of(result)
    assert all("server" in edge.split("-") for edge in rows["web.switches"]), "each asks the server"
    groups = rows["web.process.cluster"]
    assert len({groups[name] for name in groups if name.startswith("greeter")}) == 2
