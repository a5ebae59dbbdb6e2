# SPDX-License-Identifier: GPL-2.0-or-later
"""Invalidations of a guest that the sanitizer takes to be without effect, one in each run: where that is noticed, the
silence of the run as it is means something.
"""

from cobnut.checks import Check, above, at_least
from cobnut.findings import Findings, Invalidation
from cobnut.results import Series
from cobnut.sheets import Sheet

IGNORABLE = ("invlpg", "cr3")  # what the plugin's argument ignore= knows


def candidates(found: Findings) -> list[Invalidation]:
    """Those that took something stale away, the busiest first."""
    useful = [one for one in found.invalidations if one.needed and one.by in IGNORABLE]
    return sorted(useful, key=lambda one: -one.needed)


def argument(one: Invalidation) -> str:
    """As the plugin is told to ignore it."""
    return f"{one.instruction:#010x}"


def judge_candidates(sheet: Sheet, useful: list[Invalidation], least: int) -> Check:
    """Without invalidations that matter none could be ignored, and nothing would be shown by that."""
    names = ", ".join(one.where for one in useful) or "none"
    return sheet.judge("candidates", len(useful), at_least(least), names=names)


def judge_noticed(sheet: Sheet, one: Invalidation, reports: list[str], **said: str) -> Check:
    """What the run without it reported; `said` are more of the sheet's words."""
    told = " ".join(reports[:1])
    return sheet.judge(f"noticed.{one.symbol}", len(reports), above(0), by=one.by, needed=one.needed, told=told, **said)


def series_of(found: Findings, prefix: str = "") -> list[Series]:
    """How often each invalidation that mattered was executed, and took something stale away."""
    needed = [one for one in found.invalidations if one.needed]
    places = [one.where for one in needed]
    return [
        Series(f"{prefix}executed", "times", places, [one.executed for one in needed]),
        Series(f"{prefix}needed", "times", places, [one.needed for one in needed]),
    ]
