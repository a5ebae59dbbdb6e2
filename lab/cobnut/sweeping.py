# SPDX-License-Identifier: GPL-2.0-or-later
"""`--sweep`: how far each check of an experiment moves when a number of the machine goes to the ends of its range.

One number at a time, the others staying as they are. The guests are run and recorded once, every variation is a replay.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cobnut import machines
from cobnut.errors import CobnutError, meant
from cobnut.experiments import Experiment, Lab
from cobnut.machines import Machine
from cobnut.plots import Plot, Ranges
from cobnut.progress import Meter
from cobnut.results import Result, Series

ALL = "all"
ENDS = ("low", "high")
LEAST_SHOWN = 0.01  # of the measured value: what moves a check by less is not drawn
CAPTION = (
    "One number of the machine at a time goes to the ends of its range; those that move the check by less than 1 % are"
    " left out."
)


@dataclass(frozen=True)
class Sweep:
    """A number of the machine and the ends that it is set to, as they are written in a setting."""

    parameter: str
    low: str
    high: str


def parse(words: Sequence[str], machine: Machine) -> list[Sweep]:
    """The sweeps that PARAM, PARAM=LO:HI or `all` ask for, in order; a parameter named twice is swept as said last."""
    found: dict[str, Sweep] = {}
    for word in words:
        name, given, ends = word.partition("=")
        if word == ALL:
            found |= {name: _own(word, machine, name) for name, one in machine.parameters.items() if one.open}
        elif name not in machine.parameters:
            like = f" ({meant(name, machine.parameters).strip()})".replace(" ()", "")
            raise CobnutError(f"--sweep {word}: {machine.name} has no number '{name}'{like}")
        elif given:
            found[name] = Sweep(name, *_ends(word, ends))
        else:
            found[name] = _own(word, machine, name)
    for sweep in found.values():
        for end in (sweep.low, sweep.high):
            machines.check(machine.path, {sweep.parameter: end})
    return list(found.values())


def _own(word: str, machine: Machine, name: str) -> Sweep:
    parameter = machine.parameters[name]
    if not parameter.open:
        raise CobnutError(f"--sweep {word}: {machine.name} gives no range for it; say which, as {name}=LO:HI")
    return Sweep(name, parameter.text("low"), parameter.text("high"))


def _ends(word: str, ends: str) -> tuple[str, str]:
    low, colon, high = ends.partition(":")
    try:
        in_order = bool(colon) and float(low) < float(high)
    except ValueError:
        in_order = False
    if not in_order:
        raise CobnutError(f"--sweep {word}: must be PARAM=LO:HI with two numbers, the lower one first")
    return low, high


def run(experiment: Experiment, lab: Lab, nominal: Result, sweeps: Sequence[Sweep], meter: Meter) -> Result:
    """`nominal` with the series `sweep.CHECK.low`, `.value` and `.high` over the swept parameters."""
    swept = {name: one.swept for name, one in experiment.settings.items() if one.swept is not None}
    settings = lab.settings | swept
    measured = {}
    for sweep in sweeps:
        for end in ENDS:
            changed = replace(lab, settings=settings)
            measured[sweep.parameter, end] = _measured(experiment, changed, sweep.parameter, getattr(sweep, end))
            meter.advance(note=sweep.parameter)
    names = [sweep.parameter for sweep in sweeps]
    series = list(nominal.series)
    for check in nominal.checks:
        if check.measured is None:
            continue
        for end in ENDS:
            values = [measured[name, end].get(check.name) for name in names]
            series.append(Series(f"sweep.{check.name}.{end}", check.unit, names, values))
        series.append(Series(f"sweep.{check.name}.value", check.unit, names, [check.measured] * len(names)))
    return replace(nominal, series=series)


def _measured(experiment: Experiment, lab: Lab, parameter: str, value: str) -> dict[str, float | None]:
    """What each check measures with one number of the machine changed."""
    result = experiment.run(replace(lab, overrides={**lab.overrides, parameter: value}))
    return {check.name: check.measured for check in result.checks}


def moved(result: Result) -> list[tuple[str, float, float, float, str]]:
    """For each check that a sweep moved: its name, value, least and most, and the parameter that moves it furthest."""
    found = []
    for check in result.checks:
        ends = [series for end in ENDS if (series := result.find(f"sweep.{check.name}.{end}"))]
        measured = check.measured
        if measured is None or len(ends) != len(ENDS):
            continue
        reached = [
            (value, str(name))
            for series in ends
            for name, value in zip(series.x, series.y, strict=True)
            if value is not None
        ]
        distances = [abs(value - measured) for value, _ in reached]
        most = max(distances, default=0)
        if most > 0 and most >= LEAST_SHOWN * abs(measured):
            values = [measured, *(value for value, _ in reached)]
            found.append((check.name, measured, min(values), max(values), reached[distances.index(most)][1]))
    return found


def idle(result: Result, sweeps: Sequence[Sweep]) -> str:
    """Says which of the swept numbers moved no check; empty if each moved one."""
    unmoved, shares = [], {sweep.parameter: _furthest(result, sweep.parameter) for sweep in sweeps}
    for name, share in shares.items():
        if share < LEAST_SHOWN:
            unmoved.append(f"{name} ({f'none by {100 * LEAST_SHOWN:g} % or more' if share else 'none at all'})")
    return f"sweep: these numbers moved no check: {', '.join(unmoved)}" if unmoved else ""


def _furthest(result: Result, parameter: str) -> float:
    """The largest share by which the number moved a check, at either of its ends."""
    most = 0.0
    for check in result.checks:
        for end in ENDS:
            series = result.find(f"sweep.{check.name}.{end}")
            if series is None or check.measured is None:
                continue
            value = dict(zip(series.x, series.y, strict=True)).get(parameter)
            if value is not None and value != check.measured:
                most = max(most, abs(value - check.measured) / abs(check.measured) if check.measured else 1.0)
    return most


def plots(result: Result) -> list[Plot]:
    """Bars for each check that a sweep moved."""
    units = {check.name: check.unit for check in result.checks}
    return [
        Ranges(
            f"{name}: what it hinges on",
            units[name],
            f"sweep.{name}.low",
            f"sweep.{name}.high",
            value,
            least=LEAST_SHOWN,
            caption=CAPTION,
        )
        for name, value, *_ in moved(result)
    ]
