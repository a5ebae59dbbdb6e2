# SPDX-License-Identifier: GPL-2.0-or-later
"""The ping-pong in QEMU and in Bochs: the same instructions, accesses and switches, and the same faults past limits."""

import json


def test_two_emulators_see_the_same(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "lab/agreement", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    checks = {check["name"]: check for check in json.loads(path.read_text())["checks"]}
    faults = checks["turns.limit_faults"]["measured"]
    assert faults >= 20
    # in turns, a round trip has two switches and six faults, of some hundred instructions each
    least = {"large_large": 100, "small_small": 100, "turns": faults // 3}
    for pair, switches in least.items():
        assert checks[f"{pair}.instructions"]["measured"] >= 10_000
        assert checks[f"{pair}.accesses"]["measured"] > 1_000
        assert checks[f"{pair}.switches"]["measured"] >= switches
        assert checks[f"{pair}.unexplained"]["measured"] == 0


def test_a_fault_past_a_limit_costs_what_the_machine_files_say(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "lab/limits", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    assert all(check["ok"] for check in result["checks"]) and len(result["checks"]) == 5
