# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks: a measured number held against a rule, beside what a paper published.

A check is never ok by default: it needs a measurement, and a rule that the measurement satisfies. One that fails stays in the
result with its reason.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rule:
    """What a measurement has to satisfy, and how that reads in a sentence."""

    text: str
    holds: Callable[[float], bool]


def at_most(limit: float) -> Rule:
    return Rule(f"at most {limit:g}", lambda value: value <= limit)


def at_least(limit: float) -> Rule:
    return Rule(f"at least {limit:g}", lambda value: value >= limit)


def below(limit: float) -> Rule:
    return Rule(f"below {limit:g}", lambda value: value < limit)


def above(limit: float) -> Rule:
    return Rule(f"above {limit:g}", lambda value: value > limit)


def exactly(wanted: float) -> Rule:
    return Rule(f"exactly {wanted:g}", lambda value: value == wanted)


def between(low: float, high: float) -> Rule:
    return Rule(f"from {low:g} to {high:g}", lambda value: low <= value <= high)


@dataclass(frozen=True)
class Check:
    """One line of a result's verdict. `published` is None where the paper gives no number."""

    name: str
    published: float | None
    measured: float | None
    unit: str
    ok: bool
    why: str


def judge(
    name: str, measured: float | None, unit: str, rule: Rule | None, why: str, *, published: float | None = None
) -> Check:
    """Holds `measured` against `rule`; None as a measurement, or no rule to hold it against, is never ok."""
    if measured is None or not math.isfinite(measured):
        return Check(
            name, published, None, unit, False, f"not measured; wanted {rule.text if rule else 'a rule'}. {why}"
        )
    if rule is None:
        return Check(name, published, measured, unit, False, f"nothing to hold it against. {why}")
    return Check(name, published, measured, unit, rule.holds(measured), f"{rule.text}. {why}")


def explained(checks: Sequence[Check], explanations: Mapping[str, str]) -> list[Check]:
    """Adds to the checks that were measured and failed what is known about the difference, by the check's name."""
    return [
        replace(check, why=f"{check.why} {explanations[check.name]}")
        if not check.ok and check.measured is not None and check.name in explanations
        else check
        for check in checks
    ]
