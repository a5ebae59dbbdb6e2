# SPDX-License-Identifier: GPL-2.0-or-later
"""What refills are charged to: read from the plugin's output, summed for people, and compared with a run without
flushes.
"""

from dataclasses import replace

import pytest

import made_up
from cobnut import causes, tables
from cobnut.experiments import counterfactual, uhlig02_fig4
from cobnut.experiments.pingpong import PingPong, read

SPEC = PingPong("large_large", rounds=2, warmup=1, slot=256, small=512, gen="jumps", sizes=(0, 80, 40))
SWITCHES = [
    {"from": "a", "to": "b", "how": "cr3", "at": "f0100000"},
    {"from": "b", "to": "a", "how": "cr3", "at": "f0100000"},
    {"from": "b", "to": "b", "how": "invlpg", "at": None},
]


def charge(kind, switch, cycles):
    return {"category": "cache_refill", "kind": kind, "switch": switch, "refills": 1, "cycles": cycles}


def test_every_cycle_has_a_taker_or_none():
    charges = [charge("flushed", 0, 1), charge("flushed", 1, 2), charge("flushed", 2, 4), charge("evicted", 0, 8)]
    found = {
        "causes": [*charges, charge("cold", None, 16), charge("evicted", None, 32)],
        "ledger": {"cache_refill": 64},
    }
    sums = causes.by_taker(causes.read(found, SWITCHES), "a", 100)
    assert sums == {"call": 1, "reply": 2, "invalidation": 4, "eviction": 40, "cold": 16, "none": 37}


def test_more_charged_than_paid_is_an_error():
    with pytest.raises(ValueError, match="more is charged for cache_refill than the ledger has"):
        causes.read({"causes": [charge("cold", None, 2)], "ledger": {"cache_refill": 1}}, SWITCHES)


def test_the_json_of_a_ledger_row_names_them():
    row = read(SPEC, made_up.output(SPEC))[80].row("b.large_large", 80)
    assert row.space == made_up.CALLER
    assert sum(one.cycles for one in row.causes) == row.entries["trace_rebuild"] + row.entries["tlb_refill_data"]
    assert {(one.from_space, one.to_space, one.how) for one in row.causes} == {(made_up.CALLER, made_up.PARTNER, "cr3")}


def test_they_are_shown_as_a_table(monkeypatch, capsys):
    made_up.install(monkeypatch)
    tables.show_causes(uhlig02_fig4.run(made_up.lab(uhlig02_fig4.EXPERIMENT)))
    shown = capsys.readouterr().out
    assert "b.large_large: modelled cycles of a round trip" in shown
    assert all(label in shown for label in ("flushed by the call", "evicted", "no refills"))


def spoilt(spoil):
    """Measurements of the counterfactual whose causes or cycles were changed by `spoil(region, spec)`."""

    def measure(lab, specs):
        done = made_up.measure(lab, specs)
        return [
            replace(one, regions={size: spoil(region, one.spec) for size, region in one.regions.items()})
            for one in done
        ]

    return measure


def more(region, spec):
    """One cycle more than is charged to anything, with flushes only."""
    extra = 0 if spec.without_flush else 1
    return replace(region, cycles_total=region.cycles_total + extra)


def half(region, spec):
    return replace(region, causes=[replace(one, cycles=one.cycles / 2) for one in region.causes])


@pytest.mark.parametrize(
    ("spoil", "failing"), [(more, {"unexplained"}), (half, {"unexplained", "difference_while_it_fits"})]
)
def test_a_wrong_charge_fails_the_counterfactual(monkeypatch, spoil, failing):
    made_up.install(monkeypatch, spoilt(spoil))
    checks = counterfactual.run(made_up.lab(counterfactual.EXPERIMENT)).checks
    assert failing <= {check.name.split(".")[1] for check in checks if not check.ok}


def test_right_charges_pass_it(monkeypatch):
    made_up.install(monkeypatch)
    result = counterfactual.run(made_up.lab(counterfactual.EXPERIMENT))
    assert result.ok, [check for check in result.checks if not check.ok]
