# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars of where modelled cycles go, one for each row of the ledger."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from cobnut.causes import TAKERS, by_taker
from cobnut.plots.base import Chart, Drawn, furthest
from cobnut.results import LedgerRow, Result

MOST_BARS = 22
CATEGORIES = {
    "instructions": "instructions",
    "kernel_entry_exit": "kernel entry and exit",
    "segment_reload": "segment or tag reload",
    "tlb_refill_code": "TLB refill, code",
    "tlb_refill_data": "TLB refill, data",
    "cache_refill": "cache refill",
    "write_back": "write-back",
    "trace_rebuild": "trace-cache rebuild",
    "flush": "flush",
    "stall": "pipeline stall",
    "limit_fault": "faults past limits",
}


@dataclass(frozen=True)
class Stacked(Chart):
    """`rows` maps names of the ledger's rows to short labels. `labels` names their amounts, in order from below."""

    labels: ClassVar[Mapping[str, str]]

    x_title: str
    y_title: str
    rows: dict[str, str]

    @property
    def axes(self) -> tuple[str, str]:
        return self.x_title, self.y_title

    def widest(self, result: Result) -> float:
        return furthest(result, self.rows)

    @abstractmethod
    def amounts(self, row: LedgerRow) -> dict[str, float]:
        """What a bar is made of."""

    def traces(self, result: Result) -> Drawn:
        rows = _thinned([row for row in result.ledger if row.name in self.rows])
        order = {name: index for index, name in enumerate(self.rows)}
        rows.sort(key=lambda row: (row.x if row.x is not None else 0, order[row.name]))
        by_size = all(row.x is not None for row in rows)
        if by_size:
            x: list = [[f"{row.x:,.0f}" for row in rows], [self.rows[row.name] for row in rows]]
        else:
            x = [self.rows[row.name].replace("_", " → ") for row in rows]
        data = [
            {
                "type": "bar",
                "name": label,
                "x": x,
                "y": [_per_round(row, self.amounts(row).get(key, 0)) for row in rows],
                "role": key,
                "hovertemplate": f"%{{x}}: %{{y:,.1f}} cycles<extra>{label}</extra>",
            }
            for key, label in self.labels.items()
            if any(self.amounts(row).get(key) for row in rows)
        ]
        return data, {"barmode": "stack", "hovermode": "closest"}


class Ledger(Stacked):
    """By category."""

    labels = CATEGORIES

    def amounts(self, row: LedgerRow) -> dict[str, float]:
        return row.entries


class Causes(Stacked):
    """By what refills are charged to."""

    labels = TAKERS

    def amounts(self, row: LedgerRow) -> dict[str, float]:
        return by_taker(row.causes, row.space, row.total)


def _thinned(rows: list[LedgerRow]) -> list[LedgerRow]:
    """The rows of as many sizes, evenly spaced, as can be told apart in a plot."""
    sizes = sorted({row.x for row in rows if row.x is not None})
    step = -(-len(sizes) // MOST_BARS)
    kept = set(sizes[::step]) if step else set()
    return [row for row in rows if row.x is None or row.x in kept]


def _per_round(row: LedgerRow, cycles: float) -> float:
    return cycles / row.rounds if row.rounds else 0
