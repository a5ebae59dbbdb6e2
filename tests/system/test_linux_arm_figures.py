# SPDX-License-Identifier: GPL-2.0-or-later
"""What fast address-space switching and shared TLB entries do for Linux on ARM boards: the experiments, quickly."""

import json

import pytest

from cobnut.linux.board import PORTS
from conftest import run_cobnut

EXPERIMENTS = ("wiggins03/table1", "wiggins03/fig2", "wiggins03/fig3")
PLACES = 5  # of fig3 with --quick


@pytest.fixture(scope="module", params=[(name, board) for name in EXPERIMENTS for board in PORTS], ids="-".join)
def finished(request, tmp_path_factory):
    """One quick run of each on each board: its name and its result."""
    name, board = request.param
    folder = tmp_path_factory.mktemp("run")
    files = ["--json", str(folder / "result.json"), "--report", str(folder)]
    done = run_cobnut("run", name, "--quick", "--board", board, *files)
    assert done.returncode == 0, done.stdout + done.stderr
    return name, json.loads((folder / "result.json").read_text())


def test_their_checks(finished):
    name, result = finished
    assert len(result["checks"]) > 10
    assert not [check["name"] for check in result["checks"] if check["verdict"] == "failed"]
    if name != "wiggins03/fig3":
        return
    rows = {series["name"]: series["y"] for series in result["series"]}
    places = [rows.pop(name) for name in list(rows) if name.startswith("added.place_")]
    assert len(places) == PLACES
    assert [sorted(values)[PLACES // 2] for values in zip(*places, strict=True)] == rows["added.median"]
    assert rows["sharing.icache_misses"] != rows["fast.icache_misses"]
