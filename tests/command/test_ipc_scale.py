# SPDX-License-Identifier: GPL-2.0-or-later
"""What `ipc/scale` makes of counts and of what its guest prints."""

from dataclasses import replace

import pytest

import made_up
from cobnut.experiments import ipc_scale
from cobnut.experiments.ipc_scale import FIXED, MIXED, RANDOM, Scale

CONSOLE = """scale: pages spaces 2000 tables 2002 utcbs 1000 threads 340
scale: pages mappings 25
scale: 1000 spaces, 4000 threads, 3999 answers
scale: done
"""


@pytest.fixture
def found():
    """Two and 4,000 threads, with the same counts, and a console that tells of 4,000."""
    specs = [Scale("small_small", rounds=2, warmup=1, slot=16, small=512, threads=n) for n in (2, 4000)]
    few, many = made_up.measure(made_up.lab(ipc_scale.EXPERIMENT), specs)
    return {2: few, 4000: replace(many, console=CONSOLE)}


def by_name(checks):
    return {check.name.removeprefix("small_small."): check for check in checks}


def test_the_guest_is_told_what_to_do(found):
    spec = found[4000].spec
    assert spec.program == "scale"
    assert spec.arguments == "pair=small_small threads=4000 rounds=2 warmup=1 slot=16"
    assert "kmem=24576" in spec.options
    assert spec.cases == [FIXED, RANDOM, MIXED]
    assert replace(spec, pair="large_large").cases == [FIXED, RANDOM]


def test_memory_is_shared_out(found):
    here = ipc_scale.population(found[4000])
    assert (here.spaces, here.threads, here.answers) == (1000, 4000, 3999)
    assert here.space_bytes == 8192
    assert here.table_bytes == pytest.approx(2002 * 4096 / 1000)
    assert here.thread_bytes == pytest.approx(1340 * 4096 / 4000)
    assert here.kernel_mb == pytest.approx(5367 / 256)


def test_the_same_everywhere_is_ok(found):
    checks = by_name([*ipc_scale.judge_calls("small_small", found), *ipc_scale.judge_memory("small_small", found)])
    assert list(checks) == ["pingpong.4000", "random.4000", "answers", "thread_bytes", "space_bytes"]
    assert all(check.ok for check in checks.values())
    assert checks["pingpong.4000"].measured == 1 and checks["answers"].measured == 4000


@pytest.mark.parametrize(("change", "ok"), [(1.04, True), (1.06, False), (0.94, False)])
def test_calls_that_change_by_more_than_five_percent_fail(found, change, ok):
    region = found[4000].regions[RANDOM]
    for share in ipc_scale.SHARES:
        region.counters[f"instructions_{share}"] = [change * n for n in region.counters[f"instructions_{share}"]]
    checks = by_name(ipc_scale.judge_calls("small_small", found))
    assert checks["random.4000"].ok is ok and checks["pingpong.4000"].ok


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("3999 answers", "3998 answers", "answers"),
        ("spaces 2000", "spaces 2001", "space_bytes"),
        ("threads 340", "threads 1001", "thread_bytes"),
    ],
)
def test_what_is_too_much_or_missing_fails(found, old, new, name):
    many = replace(found[4000], console=CONSOLE.replace(old, new))
    checks = by_name(ipc_scale.judge_memory("small_small", {**found, 4000: many}))
    assert [check for check, verdict in checks.items() if not verdict.ok] == [name]


@pytest.mark.parametrize("lost", ["pages spaces", "mappings", "answers"])
def test_a_guest_that_says_less_is_not_ok(found, lost):
    said = "".join(line for line in CONSOLE.splitlines(keepends=True) if lost not in line)
    many = replace(found[4000], console=said)
    checks = list(ipc_scale.judge_memory("small_small", {**found, 4000: many}))
    assert checks and not any(check.ok or check.measured is not None for check in checks)
