# SPDX-License-Identifier: GPL-2.0-or-later
"""The ping-pong in QEMU and in Bochs: the same instructions, accesses and switches."""

import json


def test_two_emulators_see_the_same(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "lab/agreement", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    checks = {check["name"]: check for check in json.loads(path.read_text())["checks"]}
    for pair in ("large_large", "small_small"):
        assert checks[f"{pair}.instructions"]["measured"] >= 10_000
        assert checks[f"{pair}.accesses"]["measured"] > 1_000
        assert checks[f"{pair}.switches"]["measured"] > 100
        assert checks[f"{pair}.unexplained"]["measured"] == 0
