# SPDX-License-Identifier: GPL-2.0-or-later
"""What the refills of a measured case are charged to (docs/lab.md, causes): as the model says it, and summed for
people.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from cobnut.measured import Region, Switch

# in the order of a bar, from below
TAKERS = {
    "call": "flushed by the call",
    "reply": "flushed by the reply",
    "invalidation": "flushed otherwise",
    "eviction": "evicted",
    "cold": "never there",
    "none": "no refills",
}


@dataclass(frozen=True)
class Charge:
    """The refills of one category that one switch or invalidation made necessary; `how` is None where none is known."""

    category: str
    kind: str  # flushed, evicted or cold
    how: str | None
    from_space: str | None
    to_space: str | None
    at: str | None  # address of the instruction that wrote CR3
    refills: int
    cycles: float

    def taker(self, space: str | None) -> str:
        """A key of `TAKERS`: the call leaves `space`, the reply comes back to it."""
        if self.kind != "flushed":
            return {"evicted": "eviction", "cold": "cold"}[self.kind]
        if not self.by_switch:
            return "invalidation"
        if self.from_space == space:
            return "call"
        return "reply" if self.to_space == space else "invalidation"

    @property
    def by_switch(self) -> bool:
        """Whether a switch of page tables flushed what had to be refilled."""
        return self.kind == "flushed" and self.how == "cr3"


def read(found: Region, switches: list[Switch]) -> list[Charge]:
    """The charges of a case in the plugin's output; a ValueError says which are more than the ledger has."""
    charges = []
    for charge in found["causes"]:
        of = switches[charge["switch"]] if charge["switch"] is not None else None
        charges.append(
            Charge(
                charge["category"],
                charge["kind"],
                of["how"] if of else None,
                of["from"] if of else None,
                of["to"] if of else None,
                of["at"] if of else None,
                charge["refills"],
                charge["cycles"],
            )
        )
    for category, cycles in found["ledger"].items():
        if sum(charge.cycles for charge in charges if charge.category == category) > cycles:
            raise ValueError(f"more is charged for {category} than the ledger has")
    return charges


def by_taker(charges: Iterable[Charge], space: str | None, total: float) -> dict[str, float]:
    """`total` by the keys of `TAKERS`, zeros among them."""
    sums = dict.fromkeys(TAKERS, 0.0)
    for charge in charges:
        sums[charge.taker(space)] += charge.cycles
    sums["none"] = total - sum(sums.values())
    return sums
