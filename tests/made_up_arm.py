# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up measurements of the crowd of spaces on ARM, for tests of what is done with them."""

from dataclasses import replace

import made_up
from cobnut.experiments import Experiment, Lab


def lab(experiment: Experiment, *, quick: bool = True, **settings: int) -> Lab:
    """A laboratory on the StrongARM, whose measurements are to be made up."""
    made = made_up.lab(experiment, quick=quick, **settings)
    clock = {"processor.clock_mhz": made_up.Parameter(200, "made up")}
    return replace(made, model=replace(made.machine, name="sa1100-200", parameters=made.machine.parameters | clock))


def by_name(result):
    return {check.name: check for check in result.checks}


def measured(monkeypatch, experiment, change, *, quick=True):
    """The checks of a run in which `change` was done to each region that was counted."""

    def measure(lab, specs):
        counted = made_up.measure(lab, specs)
        for one in counted:
            for case in list(one.regions):
                one.regions[case] = change(one.spec, one.regions[case])
        return counted

    made_up.install(monkeypatch, measure)
    return by_name(experiment.run(lab(experiment, quick=quick)))


def unchanged(spec, region):
    return region
