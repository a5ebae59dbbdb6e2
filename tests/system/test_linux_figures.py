# SPDX-License-Identifier: GPL-2.0-or-later
"""What system calls cost an unmodified program of Linux: the experiments, quickly."""

import json

import pytest

from conftest import run_cobnut


@pytest.fixture(scope="module", params=["uhlig02/table2", "haertig97/getpid"])
def finished(request, tmp_path_factory):
    """One quick run of each: its name and its result."""
    folder = tmp_path_factory.mktemp("run")
    files = ["--json", str(folder / "result.json"), "--report", str(folder)]
    done = run_cobnut("run", request.param, "--quick", *files)
    assert done.returncode == 0, done.stdout + done.stderr
    return request.param, json.loads((folder / "result.json").read_text())


def test_their_checks(finished):
    _, result = finished
    assert len(result["checks"]) > 10
    assert not [check for check in result["checks"] if check["verdict"] == "failed"]


def test_each_kernel_executes_its_own_instructions(finished):
    name, result = finished
    rows = {series["name"]: dict(zip(series["x"], series["y"], strict=True)) for series in result["series"]}
    kernel, linux = rows["getpid.kernel"], rows["getpid.linux"]
    assert kernel["native"] == 0 and kernel["small"] > 150, "two messages of the microkernel's"
    assert linux["native"] > 2 * linux["small"] > 0, "the way in and out of Linux is not Linux's there"
    assert rows["getpid.cycles"]["native"] < rows["getpid.cycles"]["small"] < rows["getpid.cycles"]["large"], name
