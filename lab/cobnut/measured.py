# SPDX-License-Identifier: GPL-2.0-or-later
"""What the plugin writes as a model of a machine, and the replayer (docs/plugin.md), checked as it is read.

It stays what it is in JSON, with names for types: a number that was whole is so still.
"""

from collections import Counter
from collections.abc import Sequence
from typing import (
    Any,
    NotRequired,  # pydantic takes these alone before Python 3.12
)

from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from cobnut.errors import CobnutError

Number = int | float
WHOLE = with_config(ConfigDict(extra="allow"))  # what is not used here stays in it

Switch = TypedDict("Switch", {"from": str, "to": str, "how": str, "at": str | None})


@WHOLE
class Taken(TypedDict):
    """A switch, by its place among all, and how often it was made."""

    switch: int
    times: int


@WHOLE
class Cause(TypedDict):
    """Refills of a category, and the switch that they are charged to, by its place among all."""

    category: str
    kind: str
    switch: int | None
    refills: int
    cycles: Number


@WHOLE
class Function(TypedDict):
    """What a function of the kernel's cost in a case."""

    symbol: str
    cycles: Number


@WHOLE
class Region(TypedDict):
    """A measured case."""

    case: int
    iterations: int
    per_iteration: dict[str, list[Number]]
    ledger: dict[str, Number]
    cycles_total: Number
    cycles_per_iteration: list[Number]
    space: str
    spaces: list[str]
    causes: list[Cause]
    footprint: NotRequired[dict[str, int]]
    switches: NotRequired[list[Taken]]
    functions: NotRequired[list[Function]]


Succession = TypedDict("Succession", {"case": int, "from": str, "to": str, "times": int})


@WHOLE
class InRange(TypedDict):
    """What was counted in parts of the kernel's code, by their names, in a case."""

    case: int
    per_iteration: dict[str, dict[str, list[Number]]]


@WHOLE
class Measured(TypedDict):
    """A run."""

    machine: str
    machine_set: list[str]
    regions: list[Region]
    switches: list[Switch]
    totals: dict[str, Any]
    warnings: list[str]
    ranges: NotRequired[list[InRange]]
    processes: NotRequired[dict[str, list[str]]]
    successions: NotRequired[list[Succession]]
    without: NotRequired[str | None]


WRITTEN = TypeAdapter(Measured)
NOTHING: Measured = {
    "machine": "",
    "machine_set": [],
    "regions": [],
    "switches": [],
    "totals": {},
    "warnings": [],
}


def shifted(region: Region, by: int) -> Region:
    """The same behind so many other switches."""
    causes: list[Cause] = [
        {**one, "switch": None if one["switch"] is None else one["switch"] + by} for one in region["causes"]
    ]
    taken: list[Taken] = [{**one, "switch": one["switch"] + by} for one in region.get("switches", [])]
    return {**region, "causes": causes, "switches": taken}


def joined(regions: Sequence[Region]) -> Region:
    """A case that was begun and ended several times as one, with the iterations of all: at least once. Without
    footprints, and functions of the kernel's.
    """
    ledger, switches = Counter[str](), Counter[int]()
    causes: dict[tuple[str, str, int | None], Cause] = {}
    for region in regions:
        ledger.update(region["ledger"])
        switches.update({one["switch"]: one["times"] for one in region.get("switches", [])})
        for one in region["causes"]:
            key = one["category"], one["kind"], one["switch"]
            known = causes.get(key)
            refills, cycles = (known["refills"], known["cycles"]) if known else (0, 0)
            causes[key] = {**one, "refills": refills + one["refills"], "cycles": cycles + one["cycles"]}
    first = regions[0]
    return {
        "case": first["case"],
        "iterations": sum(region["iterations"] for region in regions),
        "per_iteration": {
            counter: [value for region in regions for value in region["per_iteration"][counter]]
            for counter in first["per_iteration"]
        },
        "ledger": dict(ledger),
        "cycles_total": sum(region["cycles_total"] for region in regions),
        "cycles_per_iteration": [cycles for region in regions for cycles in region["cycles_per_iteration"]],
        "space": first["space"],
        "spaces": list(dict.fromkeys(space for region in regions for space in region["spaces"])),
        "causes": list(causes.values()),
        "switches": [{"switch": switch, "times": times} for switch, times in switches.items()],
    }


def read(text: str | bytes) -> Measured:
    """What was measured, as it was written."""
    try:
        return WRITTEN.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CobnutError(f"what was measured cannot be read: {where}: {first['msg']}") from None
