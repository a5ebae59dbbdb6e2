# SPDX-License-Identifier: GPL-2.0-or-later
"""What the sanitizer writes (docs/sanitizer.md), checked as it is read.

Keys that are not used here are passed over.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from cobnut.errors import CobnutError

FROM_OUTSIDE = ConfigDict(extra="ignore", strict=False)


def _address(value: Any) -> Any:
    return int(value, 16) if isinstance(value, str) else value


Address = Annotated[int, BeforeValidator(_address)]


@dataclass(frozen=True, config=FROM_OUTSIDE)
class Report:
    """Something stale that was used, in a `line`; `store_symbol` is where what it was made from was changed."""

    line: str
    kind: str = ""
    privilege: int | None = None
    store_symbol: str | None = None


@dataclass(frozen=True, config=FROM_OUTSIDE, kw_only=True)
class Seen:
    """What an instruction did in a run; `symbol` is where it is, if that is known."""

    instruction: Address
    symbol: str | None = None

    @property
    def where(self) -> str:
        return self.symbol or f"{self.instruction:#010x}"


@dataclass(frozen=True, config=FROM_OUTSIDE, kw_only=True)
class Invalidation(Seen):
    """How often it was executed, dropped anything, and anything stale. ARM's does not count the second."""

    executed: int
    needed: int
    effective: int = 0
    by: str = ""


@dataclass(frozen=True, config=FROM_OUTSIDE, kw_only=True)
class Erasure(Seen):
    """A store that cleared directory entries or global bits."""

    directory_entries: int
    global_bits: int


@dataclass(frozen=True, config=FROM_OUTSIDE, kw_only=True)
class Loss(Seen):
    """A store that took translations away: how many, and how long one at most was not invalidated after it."""

    losses: int
    longest: int


@dataclass(frozen=True, config=FROM_OUTSIDE, kw_only=True)
class Mark(Seen):
    """ARM: a store to what was watched, and how often it only cleared bits."""

    executed: int
    cleared: int


@dataclass(frozen=True, config=FROM_OUTSIDE)
class Findings:
    """What the sanitizer found in one run."""

    reports: list[Report]
    invalidations: list[Invalidation]
    erasures: list[Erasure]
    counts: dict[str, int]
    losses: list[Loss] = Field(default_factory=list)
    marks: list[Mark] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        return [report.line for report in self.reports]

    @property
    def of_the_kernel(self) -> list[str]:
        """Lines of the reports that are the kernel's affair: not of programs that use a segment past its limit. A
        processor faults where QEMU carries that out (docs/sanitizer.md); what the kernel loads for programs is judged
        by other kinds of reports.
        """
        own = (one for one in self.reports if (one.kind, one.privilege) != ("segment-limit", 3))
        return [one.line for one in own]


NOTHING = Findings([], [], [], dict.fromkeys(("accesses", "late_rights", "losses", "page_faults"), 0))
WRITTEN = TypeAdapter(Findings)


def read(out: Path) -> Findings:
    """The findings in the plugin's file `out`; a run that left none was not sanitized, which is never good news."""
    if not out.exists():
        raise CobnutError("the sanitizer wrote no reports")
    try:
        found = WRITTEN.validate_json(out.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CobnutError(f"the sanitizer's reports cannot be read: {where}: {first['msg']}") from None
    if found.warnings:
        raise CobnutError(f"the sanitizer cannot judge this guest: {found.warnings[0]}")
    return found
