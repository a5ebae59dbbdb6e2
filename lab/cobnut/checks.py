# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks: a measured number, judged by a rule, beside what a paper published.

A check is never ok by default: it needs a measurement, and a rule that the measurement satisfies. One that is not ok
stays in the result with its reason: a *known miss* if the difference is understood and the value lies where that
explains it, else *failed*.

Where a paper published a number, there are two kinds of rules and no others. `reproduces` holds a measurement to the
number, on both sides, as far as its source lets it vary or else by 15 %. `no_more_than` and `no_less_than` ask for one
side only: that this kernel is no worse than what was published. Such a check says nothing about the model. Where only
a drawing was published, `drawn` asks for the interval that can be read off it; there is no number to be off from.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

Verdict = Literal["ok", "known_miss", "failed"]
# published: a value to reproduce; no_worse: a published one that this kernel should not be worse than; drawn: nobody
# printed the number, a figure gives an interval; own: nobody published it
Kind = Literal["published", "no_worse", "drawn", "own"]
KINDS: Mapping[Kind, str] = {
    "published": "published values",
    "no_worse": "no worse than published",
    "drawn": "intervals of figures",
    "own": "own checks",
}
NO_WORDS: Mapping[str, Sequence[str]] = {}
TOLERANCE = 0.15  # of a published value whose source says nothing of how far it varies


@dataclass(frozen=True)
class Rule:
    """What a measurement has to satisfy, and how that reads in a sentence.

    `published` is the number that the rule is about, where there is one; `kind` says in which way.
    """

    text: str
    holds: Callable[[float], bool]
    kind: Kind = "own"
    published: float | None = None


def reproduces(published: float, within: tuple[float, float] | None = None, by: str = "") -> Rule:
    """The one rule for a published value: `within` what its source says, quoted in `by`, or else 15 %."""
    if within is None:
        most = TOLERANCE * abs(published)
        text = f"{published:g}, give or take {TOLERANCE:.0%}"
        return Rule(text, lambda value: abs(value - published) <= most, "published", published)
    low, high = within
    text = (f"exactly {low:g}" if low == high else f"from {low:g} to {high:g}") + f" ({by})"
    return Rule(text, lambda value: low <= value <= high, "published", published)


def no_more_than(published: float) -> Rule:
    return Rule(f"no more than {published:g}", lambda value: value <= published, "no_worse", published)


def no_less_than(published: float) -> Rule:
    return Rule(f"no less than {published:g}", lambda value: value >= published, "no_worse", published)


def drawn(low: float, high: float, by: str) -> Rule:
    """An interval that a figure gives; `by` says how."""
    return Rule(f"from {low:g} to {high:g} ({by})", lambda value: low <= value <= high, "drawn")


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
    """One line of a result. `published` is None where the paper gives no number; `ok` says that the verdict is "ok".

    `accepted` is the interval that the reason of a miss explains, None where nothing is known about one.
    """

    name: str
    published: float | None
    measured: float | None
    unit: str
    ok: bool
    why: str
    verdict: Verdict
    kind: Kind
    accepted: tuple[float, float] | None = None


@dataclass(frozen=True)
class KnownMiss:
    """Why a check is missed, and the values, `low` to `high`, that this explains. Another value has failed all the
    same.
    """

    low: int | float  # as it was written: results have it so, too
    high: int | float
    reason: str


def named(*parts: str | Iterable[str]) -> str:
    """The names of checks, as an experiment declares them: parts with dots between, each one name or any of some.

    A word in capitals stands for what only a run knows, as a number of threads; one of some names is what it is.
    """
    return ".".join(part if isinstance(part, str) else "{" + ",".join(part) + "}" for part in parts)


def joined(declared: Iterable[str]) -> list[str]:
    """The same names in fewer words: those that differ in their last part only are one."""
    last: dict[str, list[str]] = {}
    for name in declared:
        match = re.fullmatch(r"(.*?)([a-z_0-9]+|{[^}]*})", name)
        before, some = match.groups() if match else (name, "")
        last.setdefault(before, []).extend(some.strip("{}").split(","))
    return [before + (some[0] if len(some) == 1 else named(some)) for before, some in last.items()]


def undeclared(checks: Iterable[Check], declared: Iterable[str]) -> list[str]:
    """The names of those that are none of the `declared`."""
    declared = list(declared)
    return [check.name for check in checks if all(captured(check.name, one) is None for one in declared)]


def captured(name: str, declared: str, any_of: Mapping[str, Sequence[str]] = NO_WORDS) -> dict[str, str] | None:
    """What the words in capitals of `declared` are in `name`; None if that is another name. A word that `any_of` has
    is one of those.
    """
    match = re.fullmatch(_expression(declared, tuple((word, tuple(some)) for word, some in any_of.items())), name)
    return match.groupdict() if match else None


def alternatives(declared: str) -> list[str]:
    """Every name that `{A,B}` in `declared` stands for."""
    parts = re.split(r"{([^}]*)}", declared)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


@cache
def _expression(declared: str, any_of: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    known = {word: "|".join(map(re.escape, some)) for word, some in any_of}

    def part(match: re.Match[str]) -> str:
        if match["some"] is not None:
            return "(?:" + "|".join(map(re.escape, match["some"].split(","))) + ")"
        word = match["word"]
        return f"(?P<{word}>{known.get(word, '.+')})" if word else re.escape(match[0])

    return re.sub(r"{(?P<some>[^}]*)}|(?P<word>[A-Z]+)|.", part, declared)


def judge(name: str, measured: float | None, unit: str, rule: Rule | None, why: str) -> Check:
    """Judges `measured` by `rule`; without a measurement (None) or without a rule a check is never ok."""
    ok = False
    if measured is None or not math.isfinite(measured):
        measured, why = None, f"not measured; wanted {rule.text if rule else 'a rule'}. {why}"
    elif rule is None:
        why = f"nothing to hold it against. {why}"
    else:
        ok, why = rule.holds(measured), f"{rule.text}. {why}"
    published, kind = (rule.published, rule.kind) if rule else (None, "own")
    return Check(name, published, measured, unit, ok, why, "ok" if ok else "failed", kind)


def with_known_misses(checks: Sequence[Check], misses: Mapping[str, KnownMiss]) -> list[Check]:
    """Tells known misses from failures, by the checks' names; the reason is added to both."""

    def with_reason(check: Check) -> Check:
        miss = misses.get(check.name)
        if check.ok or check.measured is None or miss is None:
            return check
        known = miss.low <= check.measured <= miss.high
        why = f"{check.why} {miss.reason} That explains {miss.low:g} to {miss.high:g}."
        return replace(check, why=why, verdict="known_miss" if known else "failed", accepted=(miss.low, miss.high))

    return [with_reason(check) for check in checks]


def by_kind(checks: Iterable[Check]) -> dict[Kind, list[Check]]:
    """The checks of each kind that there is, in the order in which kinds are shown."""
    checks = list(checks)
    found = {kind: [check for check in checks if check.kind == kind] for kind in KINDS}
    return {kind: some for kind, some in found.items() if some}


def met(kind: Kind, checks: Sequence[Check]) -> str:
    """For example: published values: 3 of 4 met."""
    return f"{KINDS[kind]}: {sum(check.ok for check in checks)} of {len(checks)} met"


def in_words(checks: Sequence[Check]) -> str:
    """For example: published values: 3 of 4 met, own checks: 5 of 5 met; 1 known miss, 0 failed."""
    known = sum(check.verdict == "known_miss" for check in checks)
    failed = sum(check.verdict == "failed" for check in checks)
    kinds = ", ".join(met(kind, some) for kind, some in by_kind(checks).items())
    return f"{kinds}; {known} known {'miss' if known == 1 else 'misses'}, {failed} failed"
