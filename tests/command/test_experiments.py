# SPDX-License-Identifier: GPL-2.0-or-later
"""What experiments make of measurements: checks, series, ledger, JSON. No emulator runs here."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

import made_up
import made_up_arm
from cobnut import checks, experiments, paths
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, ipc_path, pingpong, sensitivity, uhlig02_fig4
from cobnut.experiments.pingpong import Measurement, PingPong
from cobnut.plots import Pictured

ALL = experiments.reproductions()
KEYS = {
    "": ["experiment", "machine", "provenance", "series", "checks", "ledger"],
    "provenance": [
        *("revision", "machine_file_sha256", "emulator", "date"),
        *("board", "quick", "settings", "machine_changes", "command"),
    ],
    "series": ["name", "unit", "x", "y"],
    "checks": ["name", "published", "measured", "unit", "ok", "why", "verdict", "kind", "accepted"],
}


@pytest.fixture
def made(monkeypatch):
    """Lets experiments measure what `made_up` makes up."""
    made_up.install(monkeypatch)


def guests_of(experiment: Experiment) -> Sequence[int]:
    """By numbers, the guests among which --set guest= chooses."""
    return experiment.settings["guest"].allowed if "guest" in experiment.settings else ()


def broken(measurement: Measurement) -> Measurement:
    return replace(measurement, regions={}, failure="made to fail")


@pytest.mark.parametrize("name", ALL)
def test_json_has_the_promised_keys(made, name):
    result = json.loads(ALL[name].run(made_up.lab(ALL[name])).to_json())
    assert list(result) == KEYS[""]
    assert list(result["provenance"]) == KEYS["provenance"]
    for part in ("series", "checks"):
        assert result[part] and all(list(entry) == KEYS[part] for entry in result[part])
    assert result["ledger"]
    for row in result["ledger"]:
        assert sum(row["entries"].values()) == pytest.approx(row["total"], abs=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_no_two_checks_share_a_name(made, name):
    names = [check.name for check in ALL[name].run(made_up.lab(ALL[name])).checks]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("name", ALL)
def test_checks_have_the_names_that_are_declared_and_no_declaration_is_left_over(made, name):
    lab = made_up.lab(ALL[name])
    # some of a paper's checks are made on its own machine only
    numbers = made_up_arm.parameters() | lab.machine.parameters
    papers = replace(lab, model=replace(lab.machine, name=ALL[name].machine, parameters=numbers))
    others = [made_up.lab(ALL[name], guest=guest) for guest in guests_of(ALL[name])[1:]]
    found = [check for one in (lab, papers, *others) for check in ALL[name].run(one).checks]
    assert checks.undeclared(found, ALL[name].sheet.names) == []
    for one in ALL[name].sheet.names:
        assert len(checks.undeclared(found, [one])) < len(found), f"nothing is called {one}"


@pytest.mark.parametrize("name", experiments.all_experiments())
def test_what_is_known_of_misses_is_about_declared_checks(name):
    whole = experiments.find(name)
    for one in (whole, *whole.elsewhere):
        about = [replace(checks.judge("", 1, "", None, ""), name=check) for check in one.sheet.known_misses]
        assert checks.undeclared(about, one.sheet.names) == []


def test_names_are_declared_by_parts():
    declared = [checks.named("one_way", ("large_large", "intra"), "cycles"), checks.named("caught.SITE")]
    names = ["one_way.intra.cycles", "caught.a.b+0x3", "one_way.intra", "one_way.small.cycles", "acaught.x", "caught."]
    told = [replace(checks.judge("", 1, "", None, ""), name=name) for name in names]
    assert checks.undeclared(told, declared) == names[2:]


def test_the_page_of_their_names_is_what_the_command_prints():
    assert (paths.ROOT / "docs/checks.md").read_text() == experiments.names_of_checks()


@pytest.mark.parametrize("pair", ["large_large", "small_small"])
@pytest.mark.parametrize("name", ["ipc/path", "uhlig02/fig4"])
def test_a_missing_measurement_is_never_ok(monkeypatch, name, pair):
    def measure(lab, specs):
        return [broken(one) if one.spec.pair == pair else one for one in made_up.measure(lab, specs)]

    made_up.install(monkeypatch, measure)
    result = ALL[name].run(made_up.lab(ALL[name]))
    touched = [check for check in result.checks if name != "ipc/path" or f".{pair}." in check.name]
    assert touched and not any(check.ok for check in touched)
    assert not result.ok


def test_nothing_measured_at_all_is_an_error(monkeypatch):
    monkeypatch.setattr(pingpong, "measure", lambda lab, specs: [broken(one) for one in made_up.measure(lab, specs)])
    with pytest.raises(CobnutError, match="made to fail"):
        ipc_path.run(made_up.lab(ipc_path.EXPERIMENT))


@pytest.mark.parametrize("counter", ["instructions_kernel", "segment_loads", "exits_iret", "cycles"])
def test_a_missing_counter_fails_its_checks(monkeypatch, counter):
    def measure(lab, specs):
        found = made_up.measure(lab, specs)
        for one in found:
            for region in one.regions.values():
                del region.counters[counter]
        return found

    monkeypatch.setattr(pingpong, "measure", measure)
    by_name = {check.name: check for check in ipc_path.run(made_up.lab(ipc_path.EXPERIMENT)).checks}
    word = counter.removeprefix("instructions_")
    assert not by_name[f"one_way.small_small.{word}"].ok
    assert "not measured" in by_name[f"one_way.small_small.{word}"].why


def test_one_way_is_half_of_the_median_round_trip():
    spec = PingPong("intra", rounds=3, warmup=1, slot=16, small=512)
    measured = made_up.output(spec)
    measured["regions"][0]["per_iteration"]["segment_loads"] = [8, 1000, 9]
    assert pingpong.read(spec, measured)[0].one_way("segment_loads") == 4.5


def test_the_path_checks_hold_the_targets(made):
    by_name = {check.name: check for check in ipc_path.run(made_up.lab(ipc_path.EXPERIMENT)).checks}
    assert by_name["one_way.small_small.instructions"].measured == 53
    assert all(
        by_name[f"one_way.small_small.{what}"].ok for what in ("instructions", "segment_loads", "cr3_writes", "cycles")
    )
    assert by_name["round_trip.small_small.code_lines"].ok and by_name["round_trip.small_small.data_lines"].ok
    assert by_name["one_way.large_large.cr3_writes"].measured == 1
    assert not by_name["one_way.intra.cr3_writes"].ok or by_name["one_way.intra.cr3_writes"].measured == 0


@pytest.mark.parametrize(
    ("counter", "value", "check"),
    [
        ("instructions_kernel", 2 * 52, "one_way.small_small.instructions"),
        ("segment_loads", 14, "one_way.small_small.segment_loads"),
        ("exits_iret", 2, "one_way.small_small.exits_iret"),
        ("entries_int", 2, "one_way.small_small.entries_int"),
        ("cr3_writes", 2, "one_way.small_small.cr3_writes"),
    ],
)
def test_a_worse_path_fails_its_check(monkeypatch, counter, value, check):
    def measure(lab, specs):
        found = made_up.measure(lab, specs)
        for one in found:
            for region in one.regions.values():
                region.counters[counter] = [value] * region.rounds
        return found

    monkeypatch.setattr(pingpong, "measure", measure)
    by_name = {one.name: one for one in ipc_path.run(made_up.lab(ipc_path.EXPERIMENT)).checks}
    assert not by_name[check].ok


def test_the_peers_path_costs_more_by_its_extra_counts(made):
    lab = made_up.lab(ipc_path.EXPERIMENT)
    path = ipc_path.Path("small_small", made_up.measure(lab, [PingPong("small_small", 5, 1, 16, 512)])[0])
    extra_instructions, extra_loads = 100 - 53, 8 - 5
    expected = path.count("cycles") + extra_instructions * 200 / 146 + extra_loads * 253 / 6
    assert ipc_path.peer_cycles(path, made_up.MACHINE) == pytest.approx(expected)


def test_the_published_cycles_are_explained(made):
    by_name = {check.name: check for check in ipc_path.run(made_up.lab(ipc_path.EXPERIMENT)).checks}
    name = "one_way.small_small.published"
    assert by_name[name].published == 275
    for words in ("550 for a round trip", "1,038", "166 for entry and exit, 100 for"):
        assert words in by_name[name].why + ipc_path.SHEET.known_misses[name].reason
    assert "550" not in by_name["one_way.intra.cycles"].why


@pytest.mark.parametrize("name", ALL)
def test_an_experiment_knows_whether_it_has_curves(made, name):
    plots = ALL[name].plots(ALL[name].run(made_up.lab(ALL[name])))
    assert ALL[name].has_curves == any(isinstance(plot, Pictured) for plot in plots)


def test_the_figure_covers_the_published_sizes(made):
    for quick in (True, False):
        result = uhlig02_fig4.run(made_up.lab(uhlig02_fig4.EXPERIMENT, quick=quick))
        assert {0, 8192, 15000} <= set(result.find("a.ratio").x)
        assert {0, 64, 128, 200} <= set(result.find("b.ratio").x)
        assert {0, 120} <= set(result.find("c.ratio").x)


def test_every_published_value_of_the_figure_is_in_a_check(made):
    published = [check.published for check in uhlig02_fig4.run(made_up.lab(uhlig02_fig4.EXPERIMENT)).checks]
    assert published == [2.0, 1.0, 3.5, 3.5, 1, 2.0, 1, None, None, None]


def test_each_reading_of_the_itlbs_size_is_judged_at_its_own_capacity(made):
    run = uhlig02_fig4.run(made_up.lab(uhlig02_fig4.EXPERIMENT))
    at_capacity = {one.name: one for one in run.checks if one.name.startswith("b.ratio_at_itlb_capacity")}
    assert set(at_capacity) == {"b.ratio_at_itlb_capacity.64", "b.ratio_at_itlb_capacity.128"}
    for entries in (64, 128):
        assert f"with {entries} entries, at {entries} pages" in at_capacity[f"b.ratio_at_itlb_capacity.{entries}"].why


def test_hinges_move_one_parameter_at_a_time(made):
    few = made_up.lab(uhlig02_fig4.EXPERIMENT, hinges=sensitivity.FEW)
    assert list(sensitivity.open_parameters(few, ("itlb",))) == ["itlb.entries", "itlb.lookup"]
    lab = made_up.lab(uhlig02_fig4.EXPERIMENT, hinges=sensitivity.ALL)
    assert sensitivity.open_parameters(lab, ()) == {
        "itlb.entries": ["itlb.entries"],
        "itlb.lookup": ["itlb.lookup"],
        "trace_cache.decode_cycles": ["trace_cache.decode_cycles"],
        "segments.loads": ["segments.loads"],
        "instructions (all)": ["instructions.alu", "instructions.load"],
    }
    result = uhlig02_fig4.run(lab)
    assert result.find("hinge.b.full.low").x == list(sensitivity.open_parameters(lab, ()))
    least, value, most = (result.find(name).y for name in ("a.ratio.least", "a.ratio", "a.ratio.most"))
    assert all(low <= middle <= high for low, middle, high in zip(least, value, most, strict=True))
    without = uhlig02_fig4.run(made_up.lab(uhlig02_fig4.EXPERIMENT, hinges=0))
    assert without.find("hinge.b.full.low") is None


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda regions: regions.pop(), "nothing measured at size 2"),
        (lambda regions: regions[0]["ledger"].update(flush=1.0), "does not add up"),
        (lambda regions: regions[0]["cycles_per_iteration"].pop(), "round trips"),
    ],
)
def test_incomplete_measurements_are_refused(spoil, word):
    spec = PingPong("large_large", rounds=4, warmup=1, slot=16, small=512, gen="reads", sizes=(0, 2, 1))
    measured = made_up.output(spec)
    spoil(measured["regions"])
    with pytest.raises(ValueError, match=word):
        pingpong.read(spec, measured)


@pytest.mark.parametrize(
    "rule", [checks.at_most(5), checks.below(5), checks.above(5), checks.exactly(5), checks.between(1, 5), None]
)
@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_no_rule_accepts_what_was_not_measured(rule, value):
    assert not checks.judge("name", value, "unit", rule, "why").ok


def test_a_check_without_a_rule_is_not_ok():
    assert not checks.judge("name", 1.0, "unit", None, "why").ok


def test_a_result_without_checks_is_not_ok(made):
    result = ipc_path.run(made_up.lab(ipc_path.EXPERIMENT))
    assert not replace(result, checks=[]).ok


def test_a_known_miss_is_one_only_where_the_reason_explains_the_value():
    missed = {"a": checks.KnownMiss(6, 7, "Known reason.")}

    def verdict(name, value):
        [check] = checks.with_known_misses([checks.judge(name, value, "unit", checks.at_most(5), "why")], missed)
        known = "Known reason. That explains 6 to 7." in check.why
        assert check.accepted == ((6, 7) if known else None)
        return check.verdict, check.ok, known

    assert verdict("a", 5.0) == ("ok", True, False)
    assert verdict("a", 6.5) == ("known_miss", False, True)
    assert verdict("a", 7.5) == ("failed", False, True)
    assert verdict("a", None) == ("failed", False, False)
    assert verdict("b", 6.5) == ("failed", False, False)


@pytest.mark.parametrize(
    "rule, published, kind",
    [
        (checks.reproduces(5), 5, "published"),
        (checks.no_more_than(5), 5, "no_worse"),
        (checks.no_less_than(5), 5, "no_worse"),
        (checks.drawn(4, 6, "its axis"), None, "drawn"),
        (checks.at_most(5), None, "own"),
        (checks.between(4, 6), None, "own"),
        (None, None, "own"),
    ],
)
def test_its_rule_says_what_kind_a_check_is_and_what_was_published(rule, published, kind):
    check = checks.judge("name", 1.0, "unit", rule, "why")
    assert (check.published, check.kind) == (published, kind)


@pytest.mark.parametrize(
    "rule, good, bad",
    [
        (checks.reproduces(100), (85, 100, 115), (84.9, 115.1)),
        (checks.reproduces(9, within=(9, 13), by="L95"), (9, 13), (8.9, 13.1)),
        (checks.reproduces(32, within=(32, 32), by="a count"), (32,), (31, 33)),
        (checks.no_more_than(100), (1, 100), (101,)),
        (checks.no_less_than(100), (100, 1000), (99,)),
        (checks.drawn(10, 12, "its axis"), (10, 12), (9.9, 12.1)),
    ],
)
def test_a_published_value_is_reproduced_on_both_sides_a_bound_holds_on_one(rule, good, bad):
    assert all(checks.judge("name", value, "unit", rule, "why").ok for value in good)
    assert not any(checks.judge("name", value, "unit", rule, "why").ok for value in bad)


def test_a_known_miss_does_not_fail_a_result(made):
    result = ipc_path.run(made_up.lab(ipc_path.EXPERIMENT))
    good = checks.judge("good", 1.0, "unit", checks.exactly(1), "why")
    bad = checks.judge("bad", 1.0, "unit", checks.reproduces(2), "why")
    known = checks.with_known_misses([good, bad], {"bad": checks.KnownMiss(1, 1, "why")})
    assert replace(result, checks=[good, bad]).failed and not replace(result, checks=known).failed
    assert not replace(result, checks=known).ok and replace(result, checks=[]).failed
    assert checks.in_words(known) == "published values: 0 of 1 met, own checks: 1 of 1 met; 1 known miss, 0 failed"
