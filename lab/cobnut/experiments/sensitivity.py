# SPDX-License-Identifier: GPL-2.0-or-later
"""How much a ratio hinges on what a paper leaves open.

Every open parameter of the machine file (one with a low and a high end) is set to each end in turn, the others staying
at their values, and the curves are measured again. The costs of the instruction classes are moved together: they come
from the same sources, and one by one they are too many to look at.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cobnut.experiments import Lab
from cobnut.experiments.pingpong import Measurement, PingPong, measure
from cobnut.plots import Plot, Ranges
from cobnut.results import Result, Series

ENDS = ("low", "high")
GROUPS = ("instructions", "micro_ops")
# costs of what a ping-pong never does, as ipc/path counts: they cannot move a ratio
NEVER_PAID = ("entry.int_iret_cycles", "entry.fault_cycles", "entry.interrupt_cycles", "address_space.invlpg_cycles")
FEW, ALL = 1, 2  # what the setting `hinges` asks for: what a curve itself is about, or everything
# a word has no range in a machine file; what speaks for either is in docs/lab.md
CHOICES = {"itlb.lookup": {"low": "trace-build", "high": "fetch"}}
TRACE_CACHE = "trace_cache.decode_cycles"  # a machine without one asks its ITLB at each fetch: there is no choice
LEAST_SHOWN = 0.01  # of the ratio: what moves it less is not drawn
CAPTION = (
    "One open number of the machine file at a time; those that move the ratio by less than 1 % are left out. "
    "Dashed: the machine file's values."
)

Ratios = Mapping[int, float]  # by size


@dataclass(frozen=True)
class Curve:
    """A curve to measure again: its two boots, and the sections of the machine file that it is about."""

    large: PingPong
    small: PingPong
    sections: tuple[str, ...]


def open_parameters(lab: Lab, sections: tuple[str, ...]) -> dict[str, list[str]]:
    """The open parameters that the run does not fix itself: what each is called, and the machine's numbers that it
    moves.

    With few hinges wanted, only those in `sections`.
    """
    found: dict[str, list[str]] = {}
    wanted = lab.settings.get("hinges", 0)
    choices = CHOICES if TRACE_CACHE in lab.machine.parameters else {}
    for name, parameter in lab.machine.parameters.items():
        section = name.split(".")[0]
        if wanted < ALL and not (wanted == FEW and section in sections):
            continue
        if (parameter.open or name in choices) and name not in lab.overrides and name not in NEVER_PAID:
            found.setdefault(f"{section} (all)" if section in GROUPS else name, []).append(name)
    return found


def boots(lab: Lab, curves: Iterable[Curve]) -> int:
    """How many boots `measure_ratios` will need."""
    return sum(len(open_parameters(lab, curve.sections)) * len(ENDS) * 2 for curve in curves)


def measure_ratios(
    lab: Lab, curves: dict[str, Curve], ratios: Callable[[Measurement, Measurement], Ratios]
) -> dict[str, dict[str, dict[str, Ratios]]]:
    """Measures every curve (two boots, of which `ratios` makes the curve) at both ends of its open parameters.

    Returns the ratios by curve, end and parameter.
    """
    moved = {name: open_parameters(lab, curve.sections) for name, curve in curves.items()}
    specs = {
        (name, end, parameter, side): replace(spec, overrides=tuple((one, _end(lab, one, end)) for one in numbers))
        for name, curve in curves.items()
        for end in ENDS
        for parameter, numbers in moved[name].items()
        for side, spec in enumerate((curve.large, curve.small))
    }
    found = dict(zip(specs, measure(lab, list(specs.values())), strict=True))
    return {
        name: {
            end: {one: ratios(found[name, end, one, 0], found[name, end, one, 1]) for one in moved[name]}
            for end in ENDS
        }
        for name in curves
    }


def _end(lab: Lab, name: str, end: str) -> str:
    return CHOICES[name][end] if name in CHOICES else lab.machine.parameters[name].text(end)


def series_at(point: str, size: int, nominal: float | None, hinges: dict[str, dict[str, Ratios]]) -> list[Series]:
    """The ratios at one size as `hinge.POINT.low`, `.high` and, for comparison, `.value`, over the parameters'
    names.
    """
    names = list(hinges[ENDS[0]])
    found = [
        Series(f"hinge.{point}.{end}", "ratio", names, [hinges[end][name].get(size) for name in names]) for end in ENDS
    ]
    return [*found, Series(f"hinge.{point}.value", "ratio", names, [nominal] * len(names))] if names else []


def band(curve: str, nominal: Ratios, hinges: dict[str, dict[str, Ratios]]) -> list[Series]:
    """The least and the most that the ratio becomes at each size, over all ends of all parameters, one at a time."""
    if not hinges[ENDS[0]]:
        return []
    reached = {size: [ratio] for size, ratio in nominal.items()}
    for by_name in hinges.values():
        for ratios in by_name.values():
            for size, ratio in ratios.items():
                reached.setdefault(size, []).append(ratio)
    sizes = sorted(reached)
    return [
        Series(f"{curve}.ratio.{end}", "ratio", sizes, [pick(reached[size]) for size in sizes])
        for end, pick in (("least", min), ("most", max))
    ]


def plots(result: Result, points: Sequence[tuple[str, str]]) -> list[Plot]:
    """The bars of each of `points` (its name and a title), the parameters that move the ratio most on top."""
    found: list[Plot] = []
    for point, title in points:
        value = result.find(f"hinge.{point}.value")
        ends = [result.find(f"hinge.{point}.{end}") for end in ENDS]
        reached = [ratio for series in ends if series for ratio in series.y if ratio is not None]
        nominal = value.y[0] if value else None
        if nominal is None or all(abs(ratio - nominal) < LEAST_SHOWN * nominal for ratio in reached):
            continue
        found.append(
            Ranges(
                title,
                "times slower",
                f"hinge.{point}.low",
                f"hinge.{point}.high",
                nominal,
                least=LEAST_SHOWN,
                caption=CAPTION,
            )
        )
    return found
