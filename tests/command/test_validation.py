# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab/validation` makes of other experiments' results. No emulator runs here."""

from dataclasses import replace

import pytest

import made_up
from cobnut.checks import at_most, judge, no_more_than, reproduces
from cobnut.experiments import lab_validation
from cobnut.experiments.lab_validation import PARAMETERS, distribution_of, errors_of, predictions_in
from cobnut.results import Result, provenance


def result(name, *checks):
    return Result(name, "a machine", provenance(), [], list(checks), [])


def value(name, measured, published):
    return judge(name, measured, "cycles", reproduces(published), "")


def test_only_values_to_reproduce_are_predictions():
    others = (
        judge("b", 3, "cycles", no_more_than(4), ""),
        judge("c", 3, "cycles", at_most(4), ""),
    )
    found = predictions_in(result("x/y", value("a", 110, 100), *others))
    assert [(one.name, one.published, one.predicted, one.error) for one in found] == [("x/y a", 100, 110, 10)]


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
    declared = [*one.checks, *(check for other in one.elsewhere for check in other.checks)]
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
    assert checks["values"].ok and checks["values"].measured == 61
    assert not checks["unpredicted"].ok and "uhlig02/fig4 none" in checks["unpredicted"].why
