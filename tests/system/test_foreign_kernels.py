# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Linux in the laboratory. The first run downloads it."""

import json


def test_the_sanitizer_is_silent_about_linux_and_notices_what_is_ignored(cobnut, tmp_path):
    path = tmp_path / "result.json"
    done = cobnut("run", "sanitize/linux", "--quick", "--json", str(path), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    checks = {check["name"]: check for check in result["checks"]}
    assert checks["reports"]["measured"] == 0 and checks["accesses"]["measured"] > 1_000_000_000
    assert sum(name.startswith("noticed.") for name in checks) == 1
    assert "Linux 6.1" in result["provenance"]["emulator"]
