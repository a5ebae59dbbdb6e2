# SPDX-License-Identifier: GPL-2.0-or-later
"""What the experiments after L95 make of measurements. No emulator runs here."""

from dataclasses import replace

import pytest

import made_up
from cobnut import experiments, published
from cobnut.experiments import address_spaces, liedtke95_table2, liedtke95_table3

TABLES = [liedtke95_table2.EXPERIMENT, liedtke95_table3.EXPERIMENT]


def checks_of(experiment, **settings) -> dict:
    return {check.name: check for check in experiment.run(made_up.lab(experiment, **settings)).checks}


@pytest.fixture
def made(monkeypatch):
    made_up.install(monkeypatch)


def spoilt(spoil):
    """Measurements of which `spoil` is shown every region."""

    def measure(lab, specs):
        found = made_up.measure(lab, specs)
        for one in found:
            for region in one.regions.values():
                spoil(one.spec, region)
        return found

    return measure


def test_a_switch_costs_its_parts_and_nine_for_each_miss(made):
    found = checks_of(liedtke95_table2.EXPERIMENT)
    parts = 3 * len(address_spaces.PARTS)
    assert found["LL.direct"].measured == parts
    assert found["LL.least"].measured == parts + 9 * 5
    assert found["SS.cycles"].measured == parts


def test_a_round_trip_costs_both_ways(made):
    found = checks_of(liedtke95_table3.EXPERIMENT)
    assert found["SS+SS.cycles"].measured == 2 * 3 * len(address_spaces.PARTS)
    assert found["LL+LL.least"].measured == 2 * 3 * len(address_spaces.PARTS) + 9 * 5


def test_the_two_ways_are_told_apart(monkeypatch):
    def there_costs_more(spec, region):
        if spec.pair == "large_small":
            region.parts["host"]["cycles"] = [10, 20] * spec.rounds

    made_up.install(monkeypatch, spoilt(there_costs_more))
    found = checks_of(liedtke95_table2.EXPERIMENT)
    assert found["SP.cycles"].measured - found["LS.cycles"].measured == 10


def test_what_a_lasting_flush_took_is_counted_on_both_ways(monkeypatch):
    def refills(spec, region):
        if spec.servers == 2:
            region.counters["itlb_flushed_refills"] = [4, 1] * spec.rounds

    made_up.install(monkeypatch, spoilt(refills))
    found = checks_of(liedtke95_table2.EXPERIMENT)
    assert found["SL.least"].measured - found["SL.direct"].measured == 9 * (4 + 1)


@pytest.mark.parametrize("experiment", TABLES, ids=lambda one: one.name)
@pytest.mark.parametrize("pair", ["large_large", "small_small", "large_small", "small_large", "intra"])
def test_a_missing_measurement_fails_the_rows_of_its_pair(monkeypatch, experiment, pair):
    def measure(lab, specs):
        return [replace(one, regions={}, failure="made to fail") if one.spec.pair == pair else one for one in made_up.measure(lab, specs)]

    made_up.install(monkeypatch, measure)
    module = {"liedtke95/table2": liedtke95_table2, "liedtke95/table3": liedtke95_table3}[experiment.name]
    touched = {row.name for row in module.ROWS if row.pair == pair}
    for name, check in checks_of(experiment).items():
        assert (check.measured is None) == (name.rsplit(".", 1)[0] in touched)
        assert check.measured is not None or not check.ok


@pytest.mark.parametrize("experiment", TABLES, ids=lambda one: one.name)
def test_a_switch_that_left_the_fast_path_is_not_measured(monkeypatch, experiment):
    def slow(spec, region):
        region.parts["passes"]["instructions"] = [0] * spec.iterations

    made_up.install(monkeypatch, spoilt(slow))
    assert all(check.measured is None and not check.ok for check in checks_of(experiment).values())


@pytest.mark.parametrize("experiment", TABLES, ids=lambda one: one.name)
def test_a_dearer_switch_fails_and_says_why(monkeypatch, experiment):
    def dear(spec, region):
        region.parts["segments"]["cycles"] = [10_000] * spec.iterations

    made_up.install(monkeypatch, spoilt(dear))
    for name, check in checks_of(experiment).items():
        assert not check.ok
        assert experiment.explanations.get(name, "") in check.why


def test_every_published_row_is_judged(made):
    rows = {name.rsplit(".", 1)[0] for name in checks_of(liedtke95_table2.EXPERIMENT)}
    assert rows == set(published.L95_TABLE2)
    rows = {name.rsplit(".", 1)[0] for name in checks_of(liedtke95_table3.EXPERIMENT)}
    assert rows == set(published.L95_TABLE3)


def test_they_are_part_of_the_reproduction():
    assert {one.name for one in TABLES} <= set(experiments.reproductions())
