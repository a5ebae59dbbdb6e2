# SPDX-License-Identifier: GPL-2.0-or-later
"""What fast address-space switching and shared TLB entries do for Linux on ARM boards: the experiments, quickly."""

import json

import pytest

from cobnut.linux.board import PORTS
from conftest import run_cobnut


@pytest.mark.parametrize("board", PORTS)
@pytest.mark.parametrize("name", ["wiggins03/table1", "wiggins03/fig2", "wiggins03/fig3"])
def test_their_checks(tmp_path, name, board):
    files = ["--json", str(tmp_path / "result.json"), "--report", str(tmp_path)]
    done = run_cobnut("run", name, "--quick", "--board", board, *files)
    assert done.returncode == 0, done.stdout + done.stderr
    checks = json.loads((tmp_path / "result.json").read_text())["checks"]
    assert len(checks) > 10
    assert not [check["name"] for check in checks if check["verdict"] == "failed"]
