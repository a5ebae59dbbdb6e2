# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux as it is in the laboratory: sanitized, traced, and by the steps of docs/measure-your-kernel.md. The first run
downloads Debian's and compiles one for a board.
"""

import json

import pytest
from test_measure_guide import LINUX, assert_each_step_works


@pytest.mark.parametrize("part", LINUX)
def test_each_step_works_as_it_is_written(part):
    assert_each_step_works(part)


def test_the_sanitizer_is_silent_about_linux_and_notices_what_is_ignored(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "sanitize/linux", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    checks = {check["name"]: check for check in result["checks"]}
    assert checks["reports"]["measured"] == 0 and checks["accesses"]["measured"] > 1_000_000_000
    assert sum(name.startswith("noticed.") for name in checks) == 1
    assert "Linux 6.1" in result["provenance"]["emulator"]


def test_linux_is_traced_as_it_is_and_our_kernel_as_by_its_own_experiment(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "ipc/trace", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    each = {series["name"]: dict(zip(series["x"], series["y"], strict=True)) for series in result["series"]}
    assert each["round_trip.entries_sysenter"]["linux.sysenter"] == 4, "two writes, two reads"
    assert each["round_trip.entries_int"]["linux.int"] == 4
    assert each["round_trip.cr3_writes"]["linux.int"] == 2
    assert each["round_trip.cr3_writes"]["cobnut.small_small"] == 0
    assert each["round_trip.switches"]["cobnut.small_small"] == 2
    kernel = each["round_trip.instructions_kernel"]
    assert kernel["linux.sysenter"] > 20 * kernel["cobnut.large_large"]
    assert any("switch_mm" in name for name in each["linux.int.times"]), "the code that writes CR3 has its name"
    assert "modelled cycles of a round trip" in done.stdout
