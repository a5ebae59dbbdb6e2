# SPDX-License-Identifier: GPL-2.0-or-later
"""What `wiggins03/*` make of counts. No emulator runs here."""

from dataclasses import replace

import made_up
from cobnut.experiments import (
    crowd,
    wiggins03_fig2,
    wiggins03_fig3,
    wiggins03_fig4,
    wiggins03_fig5,
    wiggins03_flushes,
    wiggins03_table1,
)
from cobnut.experiments.linux_arm import SHARING, Measured
from cobnut.experiments.wiggins03_fig2 import ALONE, PROCESSES, SIZES, Rings
from cobnut.experiments.wiggins03_table1 import KINDS, Potato
from made_up_arm import by_name, measured, unchanged


def slower(region, times):
    return replace(region, cycles=[times * cycles for cycles in region.cycles])


def test_every_published_value_of_figure_5_is_judged_on_its_machine(monkeypatch):
    checks = measured(monkeypatch, wiggins03_fig5.EXPERIMENT, unchanged, quick=False)
    assert len([name for name in checks if name.startswith("fast.different.instructions.")]) == 9
    assert {check.published for check in checks.values() if check.published} >= {135, 10, 12, 2, 400, 13, 11}
    made_up.install(monkeypatch)
    elsewhere = by_name(wiggins03_fig5.run(made_up.lab(wiggins03_fig5.EXPERIMENT)))
    assert elsewhere and all(check.published is None for check in elsewhere.values())


def test_figure_5_fails_where_it_should(monkeypatch):
    fine = measured(monkeypatch, wiggins03_fig5.EXPERIMENT, unchanged)
    assert fine["same_over_different.14"].ok and fine["fast_over_standard.32"].ok and fine["standard.us.1"].ok

    def same_is_slower(spec, region):
        return slower(region, 1.2) if spec.place == "alike" and spec.tags else region

    assert not measured(monkeypatch, wiggins03_fig5.EXPERIMENT, same_is_slower)["same_over_different.14"].ok

    def fast_is_slow(spec, region):
        return slower(region, 20) if spec.tags else region

    checks = measured(monkeypatch, wiggins03_fig5.EXPERIMENT, fast_is_slow)
    assert not any(
        checks[name].ok for name in ("fast_over_standard.32", "fast.cycles.1", "fast.us.1", "gain.1", "gain.14")
    )

    def flushes(spec, region):
        region.counters["line_operations"] = [1] + [0] * (region.rounds - 1)
        return region

    assert not measured(monkeypatch, wiggins03_fig5.EXPERIMENT, flushes)["fast.different.flushes.14"].ok


def test_figure_4_finds_where_a_turn_gets_slower(monkeypatch):
    checks = measured(monkeypatch, wiggins03_fig4.EXPERIMENT, unchanged, quick=False)
    assert checks["private.flat_until.2"].measured == 12 and checks["shared.flat_until.2"].measured == 24
    assert checks["gain.2"].measured > 5 and checks["gain.2"].published == 9
    assert checks["same_beyond.16"].measured == 1
    assert not measured(
        monkeypatch, wiggins03_fig4.EXPERIMENT, lambda spec, region: slower(region, 9) if spec.shared else region
    )["gain.2"].ok


def test_flushes_are_wanted_where_a_condition_is_met_and_only_there(monkeypatch):
    checks = measured(monkeypatch, wiggins03_flushes.EXPERIMENT, unchanged)
    assert checks["different_address.flushes"].ok and checks["collision.flushes"].ok and checks["domains_16.flushes"].ok
    assert checks["standard.line_cycles"].ok and checks["standard.line_cycles"].published == 70
    assert checks["standard.direct_cycles"].measured == 10_000 and checks["standard.direct_cycles"].kind == "no_worse"
    assert checks["model.worst_switch"].measured == 256 * 80 + 512 * 70 + 64 * 45

    def always(spec, region):
        region.counters["tlb_flushes"] = [2] * region.rounds
        return region

    checks = measured(monkeypatch, wiggins03_flushes.EXPERIMENT, always)
    assert not checks["same_address.flushes"].ok and not checks["domains_20.tlb_flushes"].ok

    def never(spec, region):
        for name in crowd.FLUSHES:
            region.counters[name] = [0] * region.rounds
        return region

    checks = measured(monkeypatch, wiggins03_flushes.EXPERIMENT, never)
    assert (
        checks["same_address.flushes"].ok and not checks["slot_in_use.flushes"].ok and not checks["standard.flushes"].ok
    )


def potatoes(standard, fast, *, floor=20_000, flushes=0):
    """As if both kernels had measured this many cycles of each kind, and of threads `floor`."""

    def one(kernel, kind, cycles):
        counted = {"cycles": [cycles] * 3, "tlb_flushes": [flushes] * 3}
        region = {"iterations": 3, "per_iteration": counted, "cycles_total": 3 * cycles}
        return Potato(kernel, kind, region, [])

    cycles = {"standard": standard, "fast": fast}
    return {
        (kernel, kind): one(kernel, kind, floor if "threads" in kind else cycles[kernel])
        for kernel in cycles
        for kind in KINDS
    }


def judged(found):
    return {check.name: check for check in wiggins03_table1.judge(found)}


def test_table_1_judges_each_published_value_and_fails_where_it_should():
    fine = judged(potatoes(340_000, 20_500))
    kinds = ("pipe", "fifo", "unix", "fcntl")
    for kind in kinds:
        assert all(fine[f"{what}.{kind}"].ok for what in ("fast.flushes", "over_threads", "switching"))
    assert {name for name, check in fine.items() if check.published and check.ok} == {
        "gain.pipe",
        "gain.fifo",
        "gain.unix",
    }
    slow = judged(potatoes(100_000, 100_100, flushes=1))
    assert not any(check.ok for name, check in slow.items() if not name.startswith("gain."))
    assert slow["gain.fork"].ok and slow["gain.exec"].ok and slow["gain.unix_stream"].ok
    saved = wiggins03_table1.as_published(potatoes(70_000, 20_000))
    assert {check.name: check.ok for check in saved} == {
        "saved.pipe": True,
        "saved.fifo": True,
        "saved.unix": False,
        "saved.fcntl": False,
    }


def rings(standard, fast):
    """As if a switch had taken so many cycles of both kernels, by the number of processes, and all else 5,000."""

    def one(kernel, switch, processes, kb):
        each = 5_000 + (switch(processes) if processes > ALONE else 0)
        region = {"per_iteration": {"cycles": [processes * each] * 3}}
        return Measured(kernel, f"ring-{processes}-{kb}", region, [])

    return {
        kernel: Rings({(n, kb): one(kernel, switch, n, kb) for n in (ALONE, *PROCESSES) for kb in SIZES})
        for kernel, switch in {"standard": standard, "fast": fast}.items()
    }


def test_figure_2_judges_what_the_paper_says_of_it_and_fails_where_it_should():
    def judged_rings(found):
        whole = [*wiggins03_fig2.judge(found, PROCESSES), *wiggins03_fig2.as_published(found, PROCESSES)]
        return {check.name: check for check in whole}

    as_in_the_paper = rings(lambda n: 57_000, lambda n: 1_000 if n == 2 else 14_000 if n <= 13 else 30_000)
    fine = judged_rings(as_in_the_paper)
    assert all(check.ok for check in fine.values())
    assert fine["gain.2"].measured == 57 and fine["share.40"].measured < 0.6 and fine["saved.32"].measured == 1
    assert fine["not_slower.40.32"].measured == 62 / 35
    slow = judged_rings(rings(lambda n: 57_000, lambda n: 57_001))
    assert not any(check.ok for name, check in slow.items() if not name.startswith("saved."))


def in_places(sharing, misses):
    """As if a switch with shared entries had taken so many cycles and missed so much code, by place; without, 1,000
    and 9.
    """

    def rings_of(kernel, latency, missed):
        def one(n):
            each = (7_000 if n == ALONE else 7_000 + latency) * n
            counted = {"cycles": [each] * 3, "icache_misses": [missed * n] * 3}
            return Measured(kernel, f"ring-{n}-0", {"per_iteration": counted}, [])

        return Rings({(n, 0): one(n) for n in (ALONE, *wiggins03_fig3.PROCESSES)})

    return {
        "fast": [rings_of("fast", 1_000, 9) for _ in sharing],
        SHARING: [rings_of(SHARING, *one) for one in zip(sharing, misses, strict=True)],
    }


def test_figure_3_judges_what_sharing_adds_in_the_median_place_and_fails_where_it_takes():
    def judged(sharing, misses):
        sizes, found = wiggins03_fig3.PROCESSES, in_places(sharing, misses)
        whole = [*wiggins03_fig3.judge(found, sizes), *wiggins03_fig3.as_published(found, sizes)]
        return {check.name: check for check in whole}

    fine = judged([1_300, 770, 500], [10, 1, 0])
    assert all(check.ok for check in fine.values()) and round(fine["added.13"].measured) == 23
    assert "From -30 to 50 in 3 places." in fine["added.13"].why
    assert not any(check.ok for check in judged([1_300, 1_400, 500], [10, 10, 0]).values())
    assert not judged([770], [9])["code_misses.all"].ok, "nothing is saved"


def test_figure_3_says_what_each_place_gives():
    gains = wiggins03_fig3.gains(in_places([1_300, 770, 500], [10, 1, 0]), (2, 13))
    assert {one.name: [round(value) for value in one.y] for one in gains} == {
        "added.median": [23, 23],
        "added.least": [-30, -30],
        "added.most": [50, 50],
        "added.place_0": [-30, -30],
        "added.place_1": [23, 23],
        "added.place_2": [50, 50],
    }
