# SPDX-License-Identifier: GPL-2.0-or-later
"""Long runs, modelled in random windows: what --windows and --pieces ask for (docs/lab.md)."""

import re
from dataclasses import dataclass
from pathlib import Path

from cobnut import writable
from cobnut.errors import CobnutError

PLAN = re.compile(r"\d+/\d+(:(warm=\d+|seed=\d+|misses=(on|off)))*")


@dataclass(frozen=True)
class Wish:
    """Which windows, in the words of `Plan` (lab/trace/src/core/windows/plan.rs), and the file that keeps them."""

    plan: str
    pieces: Path | None = None

    @property
    def plugin_arguments(self) -> list[tuple[str, str]]:
        kept = [("pieces", str(self.pieces.resolve()))] if self.pieces else []
        return [("windows", self.plan), *kept]

    @property
    def replay_arguments(self) -> list[str]:
        return [word for name, value in self.plugin_arguments for word in (f"--{name}", value)]


def wish(plan: str | None, pieces: Path | None) -> Wish | None:
    """What the options say; numbers out of their ranges are refused where they are used."""
    if plan is None:
        if pieces:
            raise CobnutError("--pieces: is for --windows")
        return None
    if not PLAN.fullmatch(plan):
        raise CobnutError(f"--windows {plan}: must be LENGTH/ONE_IN, then :warm=UNITS, :seed=N or :misses=on")
    writable.check(f"--pieces {pieces}", pieces, writable.try_file)
    return Wish(plan, pieces)
