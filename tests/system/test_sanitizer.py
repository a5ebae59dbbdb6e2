# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel under the sanitizer: it forgets no invalidation that x2test would notice on some processor."""

import pytest

import guests
from cobnut import sanitizing
from cobnut.emulators import Boot, qemu

TIMEOUT_SECONDS = 300


@pytest.mark.parametrize("cpu", ["486", "pentium3"])
@pytest.mark.parametrize("kinds", ["large", "small"])
def test_x2test_gives_no_report(tmp_path, kinds, cpu):
    out = tmp_path / "reports.json"
    what = Boot(guests.PC.kernel, (guests.program("sigma0"), guests.program("x2test", f"kinds={kinds}")), cpu=cpu)
    outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=sanitizing.plugin(what.kernel, out))
    assert not outcome.timed_out
    found = sanitizing.read(out)
    assert found.lines == []
    assert found.counts["accesses"] > 100_000_000 and found.counts["invlpg"] > 10_000


def test_boot_prints_the_verdict(cobnut):
    done = cobnut("boot", "--sanitize", "hello")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("sanitizer: 0 reports in ")
