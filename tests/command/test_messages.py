# SPDX-License-Identifier: GPL-2.0-or-later
"""What `liedtke95/messages` makes of measurements: the price of a temporary mapping, and checks that notice one."""

from dataclasses import replace

import pytest

import made_up
from cobnut.experiments import liedtke95_messages
from cobnut.experiments.ipc_strings import STRING, case
from cobnut.experiments.liedtke95_messages import PAIRS, Messages, temporary_mapping


def measured(counters):
    """All pairs; `counters` of those with 16 KB from small to large."""
    lab = made_up.lab(liedtke95_messages.EXPERIMENT)
    found = dict(zip(PAIRS, made_up.measure(lab, [Messages(pair, 2, 1, 16, 512) for pair in PAIRS]), strict=True))
    for one in found.values():
        # made-up misses grow with the number of the case
        for size, region in one.regions.items():
            one.regions[size] = replace(region, counters=region.counters | {"dtlb_misses": [3] * region.rounds})
    regions = found["small_large"].regions
    region = regions[case(16384, STRING)]
    changed = {name: [value] * region.rounds for name, value in counters.items()}
    regions[case(16384, STRING)] = replace(region, counters=region.counters | changed)
    return found


def failed(counters):
    found = measured(counters)
    checks = liedtke95_messages.judge_message(made_up.MACHINE, found, "small_large", 16384)
    return [check.name.rpartition(".")[2] for check in checks if not check.ok]


def test_a_temporary_mapping_is_entries_walks_and_invalidations():
    # two entries copied by a load of 2 and a store of 1; four pages walked for at 9, and invalidated at 25
    assert temporary_mapping(made_up.MACHINE, "large_large", 16384) == 6 + 36
    assert temporary_mapping(made_up.MACHINE, "small_small", 16384) == 6 + 36 + 100
    assert temporary_mapping(made_up.MACHINE, "small_small", 1024) == 6 + 9 + 25


@pytest.mark.parametrize(
    ("counters", "names"),
    [
        ({}, []),
        ({"invlpg": 4}, ["invlpg"]),
        ({"cr3_writes": 1}, ["cr3_writes"]),
        ({"dtlb_misses": 7}, ["refills"]),
        ({"dtlb_misses": 100}, ["refills", "saving"]),
        ({"instructions_kernel": 93}, ["copy"]),
    ],
)
def test_a_window_would_be_noticed(counters, names):
    assert failed(counters) == names


def test_what_is_missing_is_not_ok():
    found = measured({})
    del found["small_large"].regions[case(16384, STRING)]
    checks = liedtke95_messages.judge_message(made_up.MACHINE, found, "small_large", 16384)
    assert not any(check.ok for check in checks)


def test_the_guest_is_told_where_to_stop():
    spec = Messages("small_small", rounds=3, warmup=2, slot=32, small=512)
    assert spec.arguments == "pair=small_small rounds=3 warmup=2 slot=32 sizes=8"
    assert len(spec.cases) == 16
