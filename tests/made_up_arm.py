# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up measurements of the crowd of spaces on ARM, for tests of what is done with them."""

from dataclasses import replace

import made_up
from cobnut.experiments import Experiment, Lab

NUMBERS = {
    "processor.clock_mhz": 200,
    **{
        f"{cache}.{key}": value for cache in ("l1i", "l1d") for key, value in (("size_bytes", 8192), ("line_bytes", 32))
    },
    **{f"{tlb}.{key}": value for tlb in ("itlb", "dtlb") for key, value in (("entries", 32), ("miss_cycles", 45))},
    "memory.line_read_cycles": 70,
    "memory.line_write_cycles": 80,
}


def lab(experiment: Experiment, *, quick: bool = True, **settings: int) -> Lab:
    """A laboratory on the StrongARM, whose measurements are to be made up."""
    made = made_up.lab(experiment, quick=quick, **settings)
    return replace(
        made, model=replace(made.machine, name="sa1100-200", parameters=made.machine.parameters | parameters())
    )


def parameters() -> dict[str, made_up.Parameter]:
    """Numbers that only a StrongARM has, or has others of."""
    return {name: made_up.Parameter(value, "made up") for name, value in NUMBERS.items()}


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
