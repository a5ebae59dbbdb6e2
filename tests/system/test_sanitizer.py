# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel under the sanitizer: it forgets no invalidation that x2test would notice on some processor."""

import dataclasses

import pytest

import guests
import made_up
from cobnut import sanitizing
from cobnut.emulators import qemu
from cobnut.experiments import invalidations, mutations, stress
from cobnut.findings import read

TIMEOUT_SECONDS = 300


def laboratory(experiment):
    return dataclasses.replace(made_up.lab(experiment), emulator=qemu.version()[1])


@pytest.mark.parametrize(
    ("kinds", "on", "third"),
    [(*case, third) for at, case in enumerate(guests.SANITIZED) for third in guests.thirds(at)],
    ids=str,
)
def test_x2test_passes_and_gives_no_report(tmp_path, kinds, on, third):
    out = tmp_path / "reports.json"
    what = guests.x2test(f"kinds={kinds} {third}", cpu=on.cpu)
    outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=sanitizing.plugin(what.kernel, out))
    assert not outcome.timed_out
    guests.assert_passed(outcome)
    found = read(out)
    assert found.lines == []
    assert found.counts["accesses"] > 100_000_000 and found.counts["invlpg"] > 10_000


def test_stress_is_right_and_forgets_nothing():
    """The short form of sanitize/stress: its smaller amounts, and every invalidation of the kernel executed."""
    result = stress.EXPERIMENT.run(laboratory(stress.EXPERIMENT))
    assert [check for check in result.checks if not check.ok] == []


def test_a_seed_gives_the_same_run():
    lab = laboratory(stress.EXPERIMENT)
    first, second = (stress.boot(guests.PC.kernel, lab, "pentium3", seed=7, operations=2_000) for _ in range(2))
    for one in (first, second):
        # QEMU lets a guest that has asked for its end go on for a moment: it idles
        assert one.findings.counts.pop("accesses") > 1_000_000
    assert first == second and first.counters["operations"] == 2_000


def test_the_address_before_relocation_is_the_wrong_one(tmp_path):
    """docs/sanitizer.md's tutorial: a kernel that invalidates a small space's page where the space has it."""
    code = invalidations.code_of(guests.PC.kernel)
    site = next(one for one in invalidations.relocations(code) if one.name.startswith("page_tables::invalidate"))
    kernel = tmp_path / "cobnut-kernel"
    kernel.write_bytes(mutations.without(guests.PC.kernel.read_bytes(), site))
    found = stress.boot(
        kernel, laboratory(stress.EXPERIMENT), "pentium3", seed=1, operations=20_000, stop_at_first=True
    ).findings
    assert [report.kind for report in found.reports] in (["stale-translation"], ["stale-global"])
    assert (found.reports[0].store_symbol or "").startswith("paging::clear")
    assert found.counts["accesses"] < 500_000_000


def test_boot_prints_the_verdict(cobnut):
    done = cobnut("boot", "--sanitize", "hello")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("sanitizer: 0 reports in ")
