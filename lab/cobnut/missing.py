# SPDX-License-Identifier: GPL-2.0-or-later
"""Arithmetic with measurements of which any may be missing (None): then what is made of them is missing, too."""

from collections.abc import Iterable


def known(values: Iterable[float | None]) -> list[float] | None:
    """The values, if there is every one of them."""
    found = list(values)
    numbers = [value for value in found if value is not None]
    return numbers if len(numbers) == len(found) else None


def total(values: Iterable[float | None]) -> float | None:
    """Their sum."""
    numbers = known(values)
    return None if numbers is None else sum(numbers)


def difference(value: float | None, less: float | None) -> float | None:
    """The one less the other."""
    return None if value is None or less is None else value - less


def ratio(value: float | None, base: float | None) -> float | None:
    """The one over the other; nothing over 0 is known."""
    return value / base if value is not None and base else None


def least(values: Iterable[float | None]) -> float | None:
    """The least of them."""
    return min(known(values) or [], default=None)


def most(values: Iterable[float | None]) -> float | None:
    """The greatest of them."""
    return max(known(values) or [], default=None)
