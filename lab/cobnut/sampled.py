# SPDX-License-Identifier: GPL-2.0-or-later
"""What was found of a run that was modelled in random windows (docs/lab.md)."""

from typing import NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from cobnut import tables
from cobnut.errors import CobnutError
from cobnut.measured import WHOLE, Number, Switch
from cobnut.results import number

EXACT = "exact"


@WHOLE
class Estimate(TypedDict):
    """A figure, and its standard error; none of a single window."""

    value: float
    error: float | None


@WHOLE
class Function(TypedDict):
    """Cycles of a function of the kernel or of a program."""

    symbol: str
    value: float
    error: float | None


@WHOLE
class Cause(TypedDict):
    """Refills of a category, and the switch that they are charged to, by its place among the report's."""

    category: str
    kind: str
    switch: int | None
    refills: Estimate
    cycles: Estimate


@WHOLE
class Scope(TypedDict):
    """A run, or a case of it."""

    case: NotRequired[int]
    iterations: NotRequired[int]
    instructions: int
    units: int
    windows: int
    counted: dict[str, int]
    estimated: dict[str, Estimate | None]
    functions: list[Function]
    causes: list[Cause]
    ranges: dict[str, dict[str, int]]


@WHOLE
class Plan(TypedDict):
    length: int
    one_in: int
    warm: int
    misses: bool
    seed: int


@WHOLE
class Sampled(TypedDict):
    """What the plugin and the replayer write of a run in windows."""

    machine: str
    machine_set: list[str]
    without: str | None
    windows: Plan
    run: Scope
    cases: list[Scope]
    switches: list[Switch]
    warnings: list[str]


WRITTEN = TypeAdapter(Sampled)
CYCLES = "cycles"
COUNTS = ("misses", "refills", "mispredictions", "loads", "backs")  # how figures end that are no cycles


def read(text: str | bytes) -> Sampled:
    """What was measured, as it was written."""
    try:
        return WRITTEN.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise CobnutError(f"what was measured cannot be read: {first['loc']}: {first['msg']}") from None


def show(text: str) -> Sampled:
    """Prints every figure with its standard error: of an iteration of each case, or of the whole run without cases.
    Of functions and causes the dearest.
    """
    sampled = read(text)
    name = ", ".join([sampled["machine"], *sampled["machine_set"]])
    if sampled["without"]:
        name += f", without {sampled['without']}"
    plan = sampled["windows"]
    for scope in sampled["cases"] or [sampled["run"]]:
        what = f"an iteration of case {scope['case']}" if "case" in scope else "the whole run"
        among = (
            f"{scope['windows']:,} windows among {scope['units']:,} units of {plan['length']:,} instructions,"
            f" seed {plan['seed']}"
        )
        tables.show(f"{name}: {what}, from {among}", ("", "figure", "standard error", "unit"), _rows(scope))
        _show_functions(f"{name}: {what}", scope)
        _show_causes(f"{name}: {what}", scope, sampled["switches"])
    return sampled


def _show_functions(name: str, scope: Scope) -> None:
    each = _each(scope)
    dearest = scope["functions"][: tables.MOST_FUNCTIONS]
    rows = [(one["symbol"], number(one["value"] / each), _off(one["error"], each)) for one in dearest]
    if rows:
        tables.show(f"{name}, the dearest functions with their refills", ("function", "cycles", "standard error"), rows)


def _show_causes(name: str, scope: Scope, switches: list[Switch]) -> None:
    each = _each(scope)
    dearest = sorted(scope["causes"], key=lambda one: -one["cycles"]["value"])[: tables.MOST_CAUSES]
    rows = []
    for one in dearest:
        lost = one["kind"]
        if one["switch"] is not None:
            switch = switches[one["switch"]]
            lost += f", {switch['from']} to {switch['to']} ({switch['how'].replace('_', ' ')})"
        cycles = one["cycles"]
        rows.append(
            (
                one["category"].replace("_", " "),
                lost,
                number(one["refills"]["value"] / each),
                number(cycles["value"] / each),
                _off(cycles["error"], each),
            )
        )
    if rows:
        heads = ("", "how it was lost", "refills", "cycles", "standard error")
        tables.show(f"{name}, what the dearest refills are charged to", heads, rows)


def _each(scope: Scope) -> int:
    return max(scope.get("iterations", 1), 1)


def _off(error: Number | None, each: int) -> str:
    return "one window" if error is None else f"+- {number(error / each)}"


def _rows(scope: Scope) -> list[tuple[str, str, str, str]]:
    each = _each(scope)
    rows = []
    for name, estimate in scope["estimated"].items():
        unit = "times" if name.endswith(COUNTS) else "cycles"
        said = name.replace("_", " ")
        if name in scope["counted"]:
            rows.append((said, number(scope["counted"][name] / each), EXACT, unit))
        elif estimate is None:
            rows.append((said, "-", "no window", unit))
        elif estimate["value"] or name == CYCLES:
            rows.append((said, number(estimate["value"] / each), _off(estimate["error"], each), unit))
    return rows
