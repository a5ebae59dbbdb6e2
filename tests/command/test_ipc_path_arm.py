# SPDX-License-Identifier: GPL-2.0-or-later
"""What `ipc/path` on ARM makes of counts. No emulator runs here."""

import pytest

import made_up
from cobnut import boards, experiments
from cobnut.errors import CobnutError
from cobnut.experiments import crowd, ipc_path, ipc_path_arm
from cobnut.experiments.crowd import Crowd
from made_up_arm import lab, measured, unchanged


def test_the_guest_is_told_what_to_do():
    calls = Crowd("calls", "alike", 20, 1000, 100)
    assert calls.arguments == "pattern=calls place=alike members=20 rounds=1000 warmup=100"
    assert calls.cases == [20]
    reads = Crowd("reads", "alike", 16, 50, 10, shared=True, pages=(1, 40, 13))
    assert reads.arguments.endswith("shared=1 pages=1:40:13")
    assert reads.cases == [1, 14, 27, 40]


def test_the_standard_kernel_is_another_build():
    made = lab(ipc_path_arm.EXPERIMENT)
    fast, standard = (crowd.boot_of(made, Crowd("calls", "apart", 1, 1, 1, tags=tags)) for tags in (True, False))
    assert fast.kernel.parts[-3:] == ("collie", "kernel", "cobnut-kernel.bin")
    assert standard.kernel.parts[-3:] == ("collie-standard", "kernel", "cobnut-kernel.bin")
    assert fast.memory_mb == 512


def test_what_is_not_complete_is_refused():
    spec = Crowd("reads", "alike", 2, 3, 1, pages=(1, 2, 1))
    whole = made_up.crowd_output(spec)
    assert sorted(crowd.read(spec, whole)) == [1, 2]
    for damage in (
        lambda found: found["regions"].pop(),
        lambda found: found["regions"][0].update(iterations=2),
        lambda found: found["regions"][0]["ledger"].update(flush=1.0),
    ):
        broken = made_up.crowd_output(spec)
        damage(broken)
        with pytest.raises(ValueError):
            crowd.read(spec, broken)


def test_counts_are_means_of_both_ways():
    spec = Crowd("calls", "apart", 20, 4, 1)
    region = crowd.read(spec, made_up.crowd_output(spec))[20]
    region.counters["instructions_kernel"] = [90, 100, 110, 500]
    region.counters["instructions_stub"] = [2, 2, 2, 2]
    counted = crowd.Counted(spec, {20: region}, None)
    assert counted.instructions == 101
    assert counted.each("tlb_flushes", "not_there") is None
    assert crowd.Counted(spec, {}, "made to fail").each("tlb_flushes") is None


def test_ipc_path_has_another_half_for_arm(monkeypatch):
    whole = experiments.find("ipc/path")
    assert whole.on("pc").run is ipc_path.run
    assert whole.on("collie") is ipc_path_arm.EXPERIMENT
    with pytest.raises(CobnutError, match="ipc/scale runs on pc, not on collie"):
        experiments.find("ipc/scale").on("collie")
    checks = measured(monkeypatch, ipc_path_arm.EXPERIMENT, unchanged)
    assert checks["one_way.same_address.instructions"].measured == 49
    assert all(check.ok for name, check in checks.items() if "pid" not in name), checks
    assert checks["one_way.intra.domain_writes"].measured == 0


@pytest.mark.parametrize(
    ("counter", "value", "check"),
    [
        ("instructions_kernel", 2 * 59, "instructions"),
        ("instructions_stub", 4, "stub"),
        ("line_operations", 1, "flushes"),
        ("table_base_writes", 2, "table_base_writes"),
        ("entries_data", 2, "other_entries"),
    ],
)
def test_a_worse_path_fails(monkeypatch, counter, value, check):
    def change(spec, region):
        region.counters[counter] = [value] * region.rounds
        return region

    checks = measured(monkeypatch, ipc_path_arm.EXPERIMENT, change)
    assert not any(checks[f"one_way.{pair}.{check}"].ok for pair in ipc_path_arm.PAIRS)


def test_the_standard_kernel_is_asked_for_by_its_setting():
    collie = boards.find("collie")
    assert boards.configured(collie, ["tags=off"]) == collie.standard
    assert boards.configured(collie, ["tags=off", "tags=on"]) == boards.configured(collie, []) == collie
    for pair in ("tags=0", "small=1"):
        with pytest.raises(
            CobnutError, match=f"--set {pair}: the kernel for collie is built with .*tags=on or tags=off"
        ):
            boards.configured(collie, [pair])
    with pytest.raises(CobnutError, match="--set tags=off: the kernel for pc is built with checked=on or checked=off"):
        boards.configured(boards.find("pc"), ["tags=off"])
