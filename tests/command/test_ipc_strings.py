# SPDX-License-Identifier: GPL-2.0-or-later
"""What `ipc/strings` makes of counts: repetitions, the copy and the whole, and what is missing."""

from dataclasses import replace

import pytest

import made_up
from cobnut.experiments import ipc_strings
from cobnut.experiments.ipc_strings import ALL, PLAIN, STRING, Strings, case

FIXED, A_PAGE, LOOP = 2000, 100, 20


def counted(spec: Strings):
    """A measurement of a kernel with FIXED instructions a message and A_PAGE for each page, beside a loop of LOOP."""
    measurement = made_up.measure(made_up.lab(ipc_strings.EXPERIMENT), [spec])[0]
    regions = {}
    for size in ipc_strings.SIZES:
        for kind, count in ((PLAIN, LOOP), (STRING, FIXED + A_PAGE * (size // 4096))):
            region = measurement.regions[case(size, kind)]
            shares = {f"instructions_{share}": [0.0] * region.rounds for share in ALL}
            shares["instructions_kernel"] = [count] * region.rounds
            regions[case(size, kind)] = replace(region, counters=region.counters | shares)
    return replace(measurement, regions=regions)


@pytest.fixture
def measurement():
    return counted(Strings("small_small", rounds=2, warmup=1, slot=16, small=512))


def test_each_repetition_is_an_instruction(measurement):
    assert ipc_strings.instructions(measurement, 4096, PLAIN) == LOOP + 1024
    assert ipc_strings.instructions(measurement, 4096, STRING) == FIXED + A_PAGE + 1024


def test_the_copy_leaves_the_message_out_and_the_whole_does_not(measurement):
    assert ipc_strings.copy(measurement, 65536) == pytest.approx((16 * A_PAGE + 16384 - 1) / (LOOP + 16384))
    assert ipc_strings.whole(measurement, 65536) == pytest.approx((FIXED + 16 * A_PAGE + 16384) / (LOOP + 16384))


def test_a_slow_copy_fails(measurement):
    assert all(check.ok for check in ipc_strings.judge_pair(measurement))
    region = measurement.regions[case(4 << 20, STRING)]
    region.counters["instructions_kernel"] = [200 * 1024] * region.rounds
    failed = [check.name for check in ipc_strings.judge_pair(measurement) if not check.ok]
    assert failed == ["small_small.4194304"]


@pytest.mark.parametrize("kind", [PLAIN, STRING])
def test_what_is_missing_is_not_ok(measurement, kind):
    del measurement.regions[case(65536, kind)]
    by_name = {check.name: check for check in ipc_strings.judge_pair(measurement)}
    assert not by_name["small_small.65536"].ok and by_name["small_small.65536"].measured is None
    assert by_name["small_small.4096"].ok


def test_the_guest_is_told_what_to_measure():
    spec = Strings("intra", rounds=3, warmup=2, slot=32, small=512)
    assert spec.program == "strings"
    assert spec.arguments == "pair=intra rounds=3 warmup=2 slot=32"
    assert len(spec.cases) == 22
