# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/table2`: what the handling of address spaces costs in one switch, for each type of switch.

L95's table 2 on its Pentium. Round trips are measured in halves, so that each type of switch is seen by itself; which
instructions count is said in `address_spaces`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cobnut import published, sheets
from cobnut.checks import Check
from cobnut.experiments import Experiment, Kind, Lab, Setting, address_spaces, pingpong
from cobnut.experiments.address_spaces import Handling, boot, handling, judge_handling, ledger_row
from cobnut.experiments.pingpong import Measurement, PingPong, measure_all
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

THERE, BACK = 0, 1
FULL = "full"


@dataclass(frozen=True)
class Row:
    """A type of switch: what it is, which ping-pong shows it in which half, and whether it flushes.

    `lasting` says that what its flush took is refilled in both halves, for the other half flushes nothing.
    """

    name: str
    text: str
    pair: str
    half: int
    servers: int = 1
    flushes: bool = False
    lasting: bool = False


ROWS = (
    Row("LL", "large to another large", "large_large", BACK, flushes=True),
    Row("LP", "large to large, the same", "intra", THERE),
    Row("LS", "large to small", "large_small", THERE),
    Row("SS", "small to small", "small_small", THERE),
    Row("SP", "small to the previous large", "large_small", BACK),
    Row("SL", "small to another large", "small_large", THERE, servers=2, flushes=True, lasting=True),
)


def run(lab: Lab) -> Result:
    """Measures each type of switch, those that flush also with a working set that fills the TLBs."""
    wanted = {
        (row.name, full): _boot(lab, row, full) for row in ROWS for full in (False, True) if row.flushes or not full
    }
    measured = measure_all(lab, {spec: spec for spec in wanted.values()})
    found = {key: switch(row_of(key[0]), measured[spec]) for key, spec in wanted.items()}
    checks = [check for row in ROWS for check in judge_row(row, found[row.name, False], found.get((row.name, True)))]
    ledger = [
        line
        for (name, full), spec in wanted.items()
        for line in ledger_row(f"{name}.{FULL}" if full else name, measured[spec].at(spec.cases[0]))
    ]
    return lab.result(series_of(found), checks, ledger)


def row_of(name: str) -> Row:
    return next(row for row in ROWS if row.name == name)


def switch(row: Row, measurement: Measurement) -> Handling | None:
    """The handling in the row's switch, with n of all refills up to the next flush."""
    region = measurement.at(measurement.spec.cases[0])
    there_or_back = handling(region, row.half)
    if not row.lasting or there_or_back is None:
        return there_or_back
    other = handling(region, 1 - row.half)
    if other is None:
        return None
    return Handling(there_or_back.parts, there_or_back.instructions, there_or_back.refills + other.refills)


def judge_row(row: Row, least: Handling | None, most: Handling | None) -> Iterator[Check]:
    """A row without a flush has one cost; one with a flush its direct cost, its least and its most."""
    cheapest, dearest = published.L95_TABLE2[row.name]
    judge = partial(judge_handling, SHEET, text=row.text)
    if not row.flushes:
        yield judge(f"{row.name}.cycles", least, least.cycles if least else None, cheapest)
        return
    yield judge(f"{row.name}.direct", least, least.direct if least else None, published.L95_FLUSHING)
    yield judge(f"{row.name}.least", least, least.cycles if least else None, cheapest)
    yield judge(f"{row.name}.most", most, most.cycles if most else None, dearest)


def series_of(found: dict[tuple[str, bool], Handling | None]) -> list[Series]:
    """The table's columns, and for each type of switch its parts."""
    names = [row.name for row in ROWS]
    plain = [found[name, False] for name in names]
    parts = [
        Series(f"part.{part}", "modelled cycles", names, [one.parts[part] if one else None for one in plain])
        for part in address_spaces.PARTS
    ]
    instructions = [one.instructions if one else None for one in plain]
    columns = address_spaces.columns_of(published.L95_TABLE2, names, found)
    return [*columns, Series("instructions", "instructions", names, instructions), *parts]


def _boot(lab: Lab, row: Row, full: bool) -> PingPong:
    return boot(lab, row.pair, full=full, servers=row.servers, halves=True)


SETTINGS = {
    "rounds": Setting(100, 20, pingpong.ROUNDS, "round trips measured"),
    "warmup": Setting(10, 10, pingpong.WARMUP, "round trips before the measured ones"),
    **pingpong.SPACES,
}

EXPERIMENT = Experiment(
    name="liedtke95/table2",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings=SETTINGS,
    run=run,
    plots=SHEET.all_plots,
)
