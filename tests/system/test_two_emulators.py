# SPDX-License-Identifier: GPL-2.0-or-later
"""The ping-pong in QEMU and in Bochs: the same instructions, accesses and switches, and the same faults past limits."""

import json


def test_two_emulators_see_the_same(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "lab/agreement", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    checks = {check["name"]: check for check in json.loads(path.read_text())["checks"]}
    for pair in ("large_large", "small_small", "turns"):
        assert checks[f"{pair}.instructions"]["measured"] >= 10_000
        assert checks[f"{pair}.accesses"]["measured"] > 1_000
        assert checks[f"{pair}.switches"]["measured"] > (10 if pair == "turns" else 100)
        assert checks[f"{pair}.unexplained"]["measured"] == 0
    assert checks["turns.limit_faults"]["measured"] >= 20


def test_a_fault_past_a_limit_costs_what_the_machine_files_say(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "lab/limits", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    assert all(check["ok"] for check in result["checks"]) and len(result["checks"]) == 5
