# SPDX-License-Identifier: GPL-2.0-or-later
"""What the experiments after L95 make of measurements. No emulator runs here."""

from dataclasses import replace

import pytest

import made_up
from cobnut import experiments, published
from cobnut.causes import Charge
from cobnut.checks import with_known_misses
from cobnut.experiments import address_spaces, liedtke95_fig4, liedtke95_table1, liedtke95_table2, liedtke95_table3

TABLES = [liedtke95_table2.EXPERIMENT, liedtke95_table3.EXPERIMENT]


def checks_of(experiment, **settings) -> dict:
    found = experiment.run(made_up.lab(experiment, **settings)).checks
    return {check.name: check for check in with_known_misses(found, experiment.sheet.known_misses)}


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
        return [
            replace(one, regions={}, failure="made to fail") if one.spec.pair == pair else one
            for one in made_up.measure(lab, specs)
        ]

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
        if name.endswith(".charged"):
            continue
        assert check.verdict == "failed"
        if name in experiment.sheet.known_misses:
            assert experiment.sheet.known_misses[name].reason in check.why


def test_charges_confirm_what_was_counted(monkeypatch):
    def charge(refills):
        def spoil(spec, region):
            flush = Charge(
                "tlb_refill_data", "flushed", "cr3", made_up.CALLER, made_up.PARTNER, None, refills * spec.rounds, 0
            )
            other = [
                replace(flush, category="cache_refill"),
                replace(flush, how="segments"),
                replace(flush, kind="evicted"),
            ]
            region.causes[:] = [flush, *other]

        return spoil

    made_up.install(monkeypatch, spoilt(charge(5)))
    assert checks_of(liedtke95_table3.EXPERIMENT)["LL+LL.charged"].ok
    made_up.install(monkeypatch, spoilt(charge(6)))
    assert not checks_of(liedtke95_table3.EXPERIMENT)["LL+LL.charged"].ok


def test_every_published_row_is_judged(made):
    rows = {name.rsplit(".", 1)[0] for name in checks_of(liedtke95_table2.EXPERIMENT)}
    assert rows == set(published.L95_TABLE2)
    rows = {name.rsplit(".", 1)[0] for name in checks_of(liedtke95_table3.EXPERIMENT)}
    assert rows == set(published.L95_TABLE3)


def hardware(monkeypatch, spoil=lambda spec, region: None) -> dict:
    made_up.install(monkeypatch, spoilt(spoil))
    return checks_of(liedtke95_table1.EXPERIMENT)


def test_the_costs_of_a_miss_are_recovered(monkeypatch):
    found = hardware(monkeypatch)
    assert found["Pentium.tlb_miss_least"].measured == made_up.REFILL
    assert found["Pentium.tlb_miss_most"].measured == pytest.approx(made_up.ENTRY_MISSING)
    assert found["i486.tlb_miss_most"].measured == pytest.approx(made_up.ENTRY_MISSING)
    assert found["Pentium.page_table_switch_least"].measured == 4 * made_up.REFILL


@pytest.mark.parametrize(
    ("data", "code", "besides", "entries"),
    [(63, 31, 31, 96), (20, 30, 5, 32), (63, 40, 0, 65)],
    ids=["split", "unified", "data"],
)
def test_the_size_of_the_tlbs_is_recovered(monkeypatch, data, code, besides, entries):
    def misses(spec, region):
        too_many = region.size > (data if spec.gen != "jumps" else besides if spec.reads else code)
        region.counters["dtlb_misses"] = [int(too_many)] * spec.iterations
        region.counters["itlb_misses"] = [0] * spec.iterations

    found = hardware(monkeypatch, misses)
    assert found["Pentium.tlb_entries"].measured == entries
    assert found["Pentium.tlb_entries"].ok == (entries == 96)


def test_what_an_interrupt_disturbed_says_nothing_about_a_miss(monkeypatch):
    def disturb(spec, region):
        if region.size in spec.cases[::2]:
            region.counters["entries_irq"] = [1] * spec.iterations
            region.ledger["tlb_refill_data"] /= 2

    assert hardware(monkeypatch, disturb)["Pentium.tlb_miss_most"].measured == pytest.approx(made_up.ENTRY_MISSING)

    def disturb_all(spec, region):
        region.counters["entries_irq"] = [1] * spec.iterations

    found = hardware(monkeypatch, disturb_all)
    for what in ("tlb_miss_least", "tlb_miss_most", "page_table_switch_least", "page_table_switch_most"):
        assert found[f"Pentium.{what}"].measured is None and not found[f"Pentium.{what}"].ok


def test_processors_without_a_model_are_listed_and_not_judged(made):
    result = liedtke95_table1.EXPERIMENT.run(made_up.lab(liedtke95_table1.EXPERIMENT))
    entries = result.find("tlb_entries")
    listed = dict(zip(entries.x, entries.y, strict=True))
    assert list(listed) == [*published.L95_TABLE1, *published.L95_TABLE1_OTHERS]
    assert {name for name, value in listed.items() if value is not None} == {"i486", "Pentium"}
    assert {check.name.split(".")[0] for check in result.checks} == {"i486", "Pentium"}


def test_the_cost_of_a_call_is_what_the_loop_takes_more(made):
    result = liedtke95_fig4.EXPERIMENT.run(made_up.lab(liedtke95_fig4.EXPERIMENT))
    segmented = result.find("compact.segmented")
    call = (200 - 20) + 332 + 200  # instructions, entry and exit, segments
    assert segmented.y == pytest.approx([call] * len(segmented.x))
    assert result.find("compact.segmented.us").y[0] == segmented.y[0] / 100
    standard = result.find("compact.standard")
    a_page = (30 + made_up.REFILL) * (standard.x[1] - standard.x[0])
    assert standard.y[1] - standard.y[0] == pytest.approx(a_page)


def test_turns_with_interrupts_do_not_count(monkeypatch):
    def disturb(spec, region):
        region.counters["cycles"] = [*region.counters["cycles"][1:], 1_000_000]
        region.counters["entries_irq"] = [*region.counters["entries_irq"][1:], 1]

    made_up.install(monkeypatch)
    quiet = checks_of(liedtke95_fig4.EXPERIMENT)
    made_up.install(monkeypatch, spoilt(disturb))
    for name, check in checks_of(liedtke95_fig4.EXPERIMENT).items():
        assert check.measured == pytest.approx(quiet[name].measured)


def test_the_shape_is_judged(monkeypatch):
    made_up.install(monkeypatch)
    good = checks_of(liedtke95_fig4.EXPERIMENT)
    for name in ("compact.gain_least", "compact.segmented_growth", "compact.gain_growth", "spread.capacity"):
        assert good[name].ok, good[name]

    def swapped(lab, specs):
        pairs = {"large_large": "large_small", "large_small": "large_large"}
        return [
            replace(one, spec=spec)
            for spec, one in zip(
                specs, made_up.measure(lab, [replace(s, pair=pairs[s.pair]) for s in specs]), strict=True
            )
        ]

    made_up.install(monkeypatch, swapped)
    bad = checks_of(liedtke95_fig4.EXPERIMENT)
    for name in ("compact.gain_least", "compact.gain_growth", "compact.refill_a_page"):
        assert not bad[name].ok, bad[name]


@pytest.mark.parametrize("pair", ["large_large", "large_small"])
def test_a_missing_call_fails_what_needs_it(monkeypatch, pair):
    def measure(lab, specs):
        return [
            replace(one, regions={}, failure="made to fail") if one.spec.pair == pair and one.spec.calls else one
            for one in made_up.measure(lab, specs)
        ]

    made_up.install(monkeypatch, measure)
    found = checks_of(liedtke95_fig4.EXPERIMENT)
    for name in ("compact.gain_least", "spread.gain_least", "same_line.gain_least", "compact.gain_growth"):
        assert found[name].measured is None and not found[name].ok


def test_they_are_part_of_the_reproduction():
    names = {f"liedtke95/{one}" for one in ("table1", "table2", "table3", "fig4")}
    assert names <= set(experiments.reproductions())
