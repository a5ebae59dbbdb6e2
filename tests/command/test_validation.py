# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab/validation` makes of other experiments' results. No emulator runs here."""

from dataclasses import replace

import pytest

import made_up
from cobnut import machines
from cobnut.checks import at_most, drawn, judge, no_more_than, reproduces
from cobnut.experiments import lab_validation
from cobnut.experiments.lab_validation import (
    DEPENDENT,
    PARAMETERS,
    cycles_of_calls,
    distribution_of,
    errors_of,
    predictions_in,
    series_of,
)
from cobnut.experiments.unpredicted import UNPREDICTED
from cobnut.results import Result, Series, provenance


def result(name, *checks):
    return Result(name, "a machine", provenance(), [], list(checks), [])


def value(name, measured, published):
    return judge(name, measured, "cycles", reproduces(published), "")


def test_what_a_check_is_decides_what_is_said_of_the_model():
    others = (
        judge("b", 3, "cycles", no_more_than(4), ""),
        judge("c", 3, "cycles", at_most(4), ""),
        judge("d", 3, "cycles", drawn(2, 4, "an axis"), ""),
    )
    found = predictions_in(result("x/y", value("a", 110, 100), *others))
    assert [(one.name, one.published, one.predicted, one.error, one.group) for one in found] == [
        ("x/y a", 100, 110, 10, "independent"),
        ("x/y b", 4, 3, -25, "kernel"),
    ]


@pytest.mark.parametrize("name", DEPENDENT)
def test_what_hangs_on_a_parameter_is_shown_and_in_no_distribution(name):
    checks = [value(f"{start}x", 300, 100) for start in DEPENDENT[name]]
    found = predictions_in(result(name, value("a1", 101, 100), value("a2", 102, 100), *checks))
    rows = {one.name: one for one in series_of(found)}
    assert rows["dependent.published"].x == [f"{name} {start}x" for start in DEPENDENT[name]]
    shares = rows["independent.distribution"]
    assert dict(zip(shares.x, shares.y, strict=True))["largest"] == 2
    assert "dependent.distribution" not in rows


def test_whole_calls_of_linux_are_predictions_of_other_code():
    cycles = Series("getpid.cycles", "modelled cycles", ["native", "large", "small"], [446.0, 1, 1])
    found = cycles_of_calls(replace(result("haertig97/getpid"), series=[cycles]))
    assert [(one.published, one.error, one.group) for one in found] == [(223, 100, "kernel")]


def test_what_is_not_predicted_has_a_reason_and_a_machine_that_there_is():
    names = [one.name + one.unit for one in UNPREDICTED]
    assert len(set(names)) == len(names) > 30
    assert {one.machine for one in UNPREDICTED} <= {*machines.known("ia32"), *machines.known("arm")}
    assert all(one.why for one in UNPREDICTED)


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_a_machine_file_takes_is_none(name):
    given = [value(check, 1, 1) for check in PARAMETERS[name]]
    assert predictions_in(result(name, *given)) == []
    assert len(predictions_in(result("another/one", *given))) == len(given)


@pytest.mark.parametrize("name", PARAMETERS)
def test_what_is_left_out_is_a_check_of_that_experiment(name):
    from cobnut.checks import undeclared
    from cobnut.experiments import find

    one = find(name)
    declared = [*one.sheet.names, *(check for other in one.elsewhere for check in other.sheet.names)]
    assert not undeclared([value(check, 1, 1) for check in PARAMETERS[name]], tuple(declared))


def test_errors_have_a_distribution():
    found = predictions_in(result("x/y", *(value(f"n{n}", 100 + n, 100) for n in (-40, -10, 5, 15, 20))))
    assert distribution_of(errors_of(found)) == {
        "lower quartile": 10,
        "median": 15,
        "upper quartile": 20,
        "largest": 40,
        "share within 15%": 60,
    }


def test_a_value_that_was_not_measured_is_not_forgotten(monkeypatch):
    def measured(name, quick, folder):
        checks = [value(f"n{n}", 100.0 + n, 100) for n in range(10)]
        return result(name, *checks, *([value("none", None, 100)] if name == "uhlig02/fig4" else []))

    monkeypatch.setattr(lab_validation, "_result", measured)
    lab = replace(made_up.lab(lab_validation.EXPERIMENT, quick=True, linux=0), model=None)
    checks = {check.name: check for check in lab_validation.EXPERIMENT.run(lab).checks}
    assert checks["values"].ok and checks["values"].measured == 91
    assert not checks["unpredicted"].ok and "uhlig02/fig4 none" in checks["unpredicted"].why
