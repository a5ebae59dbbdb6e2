# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a ratio hinges on what a paper leaves open.

Every open parameter of the machine file (one with a low and a high end) is set to each end in turn, the others staying at their
values, and a few telling points are measured again. The costs of the instruction classes are moved together: they come from the
same sources, and one by one they are too many to look at.
"""

from dataclasses import replace

from cobnut.experiments import Lab, Mark, Plot
from cobnut.experiments.pingpong import Measurement, PingPong, measure
from cobnut.results import Result, Series

ENDS = ("low", "high")
GROUPS = ("instructions", "micro_ops")


def open_parameters(lab: Lab) -> dict[str, list[str]]:
    """The open parameters that the run does not fix itself: what each is called, and which numbers of the machine it moves."""
    found: dict[str, list[str]] = {}
    if not lab.settings.get("hinges"):
        return found
    for name, parameter in lab.machine.parameters.items():
        if parameter.open and name not in lab.overrides:
            section = name.split(".")[0]
            found.setdefault(f"{section} (all)" if section in GROUPS else name, []).append(name)
    return found


def boots(lab: Lab, parts: int) -> int:
    """How many boots `measure_ratios` will need."""
    return len(open_parameters(lab)) * len(ENDS) * parts * 2


def measure_ratios(lab: Lab, points: dict[str, dict[str, PingPong]]) -> list[Series]:
    """For each part's point (a pair of boots, large first), the ratio at both ends of each open parameter.

    Gives for part `a` the series `hinge.a.low` and `hinge.a.high` over the parameters' names.
    """
    moved = open_parameters(lab)
    names = list(moved)
    specs = {
        (letter, name, end, pair): replace(
            spec, overrides=tuple((one, f"{getattr(lab.machine.parameters[one], end):g}") for one in moved[name])
        )
        for letter, pairs in points.items()
        for name in names
        for end in ENDS
        for pair, spec in pairs.items()
    }
    found = dict(zip(specs, measure(lab, list(specs.values())), strict=True))
    return [
        Series(
            f"hinge.{letter}.{end}",
            "ratio",
            names,
            [_ratio([found[letter, name, end, pair] for pair in pairs]) for name in names],
        )
        for letter, pairs in points.items()
        for end in ENDS
        if names
    ]


def plot(result: Result, letter: str, title: str) -> Plot | None:
    """The bars of one part, those first that move the ratio most."""
    low, nominal = result.find(f"hinge.{letter}.low"), result.find(f"{letter}.ratio")
    if low is None or nominal is None:
        return None
    return Plot(
        "ranges",
        title,
        "times slower, with the parameter at its low and high end",
        "",
        {f"hinge.{letter}.low": "low end", f"hinge.{letter}.high": "high end"},
        wide=True,
        caption="Each bar spans the ratio between the two ends of one parameter's range in the machine file, measured again at the size "
        "that the part's check is about; a bar of no length does not matter here.",
        marks=(Mark("at the machine file's values", x=_nominal(result, letter)),),
    )


def _nominal(result: Result, letter: str) -> float | None:
    for check in result.checks:
        if check.name.startswith(f"{letter}.ratio"):
            return check.measured
    return None


def _ratio(measurements: list[Measurement]) -> float | None:
    """Mean cycles of the first over those of the second; None where one of them failed."""
    cycles = [next(iter(one.regions.values())).mean_cycles if one.regions else None for one in measurements]
    return cycles[0] / cycles[1] if None not in cycles and cycles[1] else None
