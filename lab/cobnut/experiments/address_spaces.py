# SPDX-License-Identifier: GPL-2.0-or-later
"""The handling of address spaces in an IPC, counted by itself, as L95 section 4.1 delimits it in its listing.

The kernel's fast path carries labels (kernel/ia32/fastpath.S); the plugin counts what is executed between them. Of
L95's listing, `space` is the comparison of the two spaces, `host` that of the page directories with the load of CR3,
`segments` the update of the descriptors with the reloads of the user's segment registers. The entry load of a kernel
data segment is not there: the fast path reaches memory through the stack segment. The switch of threads, the message,
and what the instructions of kernel entry and exit do (CS and SS among it) are no part of it, there as here.

What a flush costs later comes in as L95's 9n: n is the number of TLB misses on what a flush has taken away.
"""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cobnut import published
from cobnut.checks import Check, no_more_than
from cobnut.experiments import Lab
from cobnut.experiments.pingpong import PingPong, Region
from cobnut.results import LedgerRow, Series
from cobnut.sheets import Sheet

PARTS = ("space", "segments", "host")
TLB_REFILLS = ("tlb_refill_code", "tlb_refill_data")
PASSES = "passes"  # one instruction that every IPC of the fast path executes once
_PIECES = (
    ("space", "space", "thread"),
    ("space", "compare", "segments"),
    ("segments", "segments", "host"),
    ("host", "host", "leave"),
    ("space", "equal_segments", "large_to_large"),
    ("host", "large_to_large", "check_gs"),
    ("segments", "check_gs", "switched"),
    (PASSES, "space", "thread"),
)
_SHARED_PIECES = (
    ("segments", "gs_for_segments", "to_host"),
    ("host", "to_host", "clean_for_large"),
    ("segments", "same_segments", "open_receiver"),
)
# Messages of no words have most of it a second time.
LABELS = tuple(
    (part, f"{first}_{kind}", f"{end}_{kind}")
    for way in ("int", "sysenter")
    for kind, pieces in ((way, (*_PIECES, *_SHARED_PIECES)), (f"null_{way}", _PIECES))
    for part, first, end in pieces
)
# A working set that nearly fills the TLBs of a Pentium: pages of code and of data beside those of kernel and partner.
FULL_CODE, FULL_DATA = 28, 58


@dataclass(frozen=True)
class Handling:
    """What the handling of address spaces took in one switch or in several: cycles of its parts, instructions, n."""

    parts: dict[str, float]
    instructions: float
    refills: float

    @property
    def direct(self) -> float:
        """Cycles without those of later TLB misses."""
        return sum(self.parts.values())

    @property
    def cycles(self) -> float:
        """L95's measure: direct cycles and 9n."""
        return self.direct + published.L95_MISS * self.refills

    def __str__(self) -> str:
        parts = ", ".join(f"{part} {cycles:g}" for part, cycles in self.parts.items())
        flush = f", then n = {self.refills:g}" if self.refills else ""
        return f"{self.instructions:g} instructions, {self.direct:g} cycles ({parts}){flush}"


def boot(
    lab: Lab, pair: str, *, full: bool = False, servers: int = 1, halves: bool = False, served: int = 0
) -> PingPong:
    """A ping-pong whose handling of address spaces is counted; the active side's working set is nothing, or `full`."""
    spec = PingPong.of(lab, pair, servers=servers, halves=halves, served=served, parts=LABELS)
    return replace(spec, gen="jumps", sizes=(FULL_CODE, FULL_CODE, 1), reads=FULL_DATA) if full else spec


def handling(region: Region | None, half: int | None = None) -> Handling | None:
    """The median of a region's round trips, or of one half of them: 0 the way there, 1 the way back.

    None where a switch did not take the labelled path, or nothing was measured.
    """
    if region is None:
        return None
    chosen = slice(None) if half is None else slice(half, None, 2)
    parts = {name: {what: values[chosen] for what, values in found.items()} for name, found in region.parts.items()}
    code, data = (region.counters.get(f"{tlb}_flushed_refills") for tlb in ("itlb", "dtlb"))
    if code is None or data is None or any(not parts.get(name, {}).get("cycles") for name in (*PARTS, PASSES)):
        return None
    if statistics.median(parts[PASSES]["instructions"]) != (2 if half is None else 1):
        return None
    refills = [sum(pair) for pair in zip(code[chosen], data[chosen], strict=True)]
    return Handling(
        {name: statistics.median(parts[name]["cycles"]) for name in PARTS},
        sum(statistics.median(parts[name]["instructions"]) for name in PARTS),
        statistics.median(refills),
    )


def charged(region: Region | None) -> float | None:
    """TLB refills of a round trip, or of a half, that the model charges to a flush by a switch: n, by another
    account.
    """
    if region is None:
        return None
    refills = sum(charge.refills for charge in region.causes if charge.by_switch and charge.category in TLB_REFILLS)
    return refills / region.rounds


def judge_handling(
    sheet: Sheet, name: str, found: Handling | None, cycles: float | None, limit: float, **values: Any
) -> Check:
    """Compares the cycles of what was `found` with the paper's."""
    full = {"code": FULL_CODE, "data": FULL_DATA, "fewest": published.L95_MISSES[0], "most": published.L95_MISSES[1]}
    return sheet.judge(name, cycles, no_more_than(limit), f"Here: {found}." if found else None, **full, **values)


def columns_of(
    theirs: Mapping[str, tuple[float, float]], names: list[str], found: Mapping[tuple[str, bool], Handling | None]
) -> list[Series]:
    """A table of the paper's beside what was found, without working sets and, where that flushes, with full ones."""
    plain, full = ([found.get((name, whole)) for name in names] for whole in (False, True))

    def column(name: str, unit: str, among: list[Handling | None], value: Callable[[Handling], float]) -> Series:
        return Series(name, unit, names, [value(one) if one else None for one in among])

    return [
        Series("published.least", "cycles", names, [theirs[name][0] for name in names]),
        Series("published.most", "cycles", names, [theirs[name][1] for name in names]),
        column("direct", "modelled cycles", plain, lambda one: one.direct),
        column("refills.least", "TLB misses", plain, lambda one: one.refills),
        column("cycles.least", "modelled cycles", plain, lambda one: one.cycles),
        column("refills.most", "TLB misses", full, lambda one: one.refills),
        column("cycles.most", "modelled cycles", full, lambda one: one.cycles),
    ]


def ledger_row(name: str, region: Region | None) -> list[LedgerRow]:
    """Where all modelled cycles of the round trips went, the handling of address spaces among them."""
    return [region.row(name)] if region else []
