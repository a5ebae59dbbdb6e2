# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/table3`: what the handling of address spaces costs in a remote procedure call, for typical pairs of
spaces.

L95's table 3. Whole round trips are measured, not sums of table 2; which instructions count is said in
`address_spaces`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cobnut import published, sheets
from cobnut.checks import Check, between
from cobnut.experiments import Experiment, Kind, Lab, address_spaces
from cobnut.experiments.address_spaces import Handling, boot, charged, handling, judge_handling, ledger_row
from cobnut.experiments.liedtke95_table2 import SETTINGS
from cobnut.experiments.pingpong import PingPong, measure_all
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

TOLERANCE = 0.05


@dataclass(frozen=True)
class Row:
    """A pair of client and server; where calls flush, also with working sets that fill the TLBs."""

    name: str
    text: str
    pair: str
    servers: int = 1
    flushes: bool = False


ROWS = (
    Row("LS+SP", "large client, small server", "large_small"),
    Row("SS+SS", "small client, small server", "small_small"),
    Row("SL+LS", "small client, large server that is not the previous large space", "small_large", 2, True),
    Row("SP+LS", "small client, large server that is the previous large space", "small_large"),
    Row("LL+LL", "large client, large server", "large_large", 1, True),
    Row("LP+LP", "both in one large space", "intra"),
)


def run(lab: Lab) -> Result:
    """Measures the round trips of each pair."""
    boots = {
        (row.name, full): _boot(lab, row, full) for row in ROWS for full in (False, True) if row.flushes or not full
    }
    measured = measure_all(lab, boots)
    regions = {key: one.at(one.spec.cases[0]) for key, one in measured.items()}
    found = {key: handling(region) for key, region in regions.items()}
    checks = [check for row in ROWS for check in judge_row(row, found[row.name, False], found.get((row.name, True)))]
    checks += [
        judge_charges(row, found[row.name, False], charged(regions[row.name, False])) for row in ROWS if row.flushes
    ]
    ledger = [
        line
        for (name, full), region in regions.items()
        for line in ledger_row(f"{name}.full" if full else name, region)
    ]
    return lab.result(series_of(found), checks, ledger)


def judge_row(row: Row, least: Handling | None, most: Handling | None) -> Iterator[Check]:
    """A row without a flush has one cost; one with a flush its least and its most."""
    cheapest, dearest = published.L95_TABLE3[row.name]
    server = f", the server on {address_spaces.FULL_DATA} of data." if row.servers == 1 else "."
    judge = partial(judge_handling, SHEET, text=row.text, server=server)
    name = "least" if row.flushes else "cycles"
    yield judge(f"{row.name}.{name}", least, least.cycles if least else None, cheapest)
    if row.flushes:
        yield judge(f"{row.name}.most", most, most.cycles if most else None, dearest)


def judge_charges(row: Row, found: Handling | None, charges: float | None) -> Check:
    """The ledger's account of the flushes against the one that n comes from."""
    if found is None:
        return SHEET.judge(f"{row.name}.charged", None, None, n=None)
    n = found.refills
    return SHEET.judge(f"{row.name}.charged", charges, between((1 - TOLERANCE) * n, (1 + TOLERANCE) * n), n=n)


def series_of(found: dict[tuple[str, bool], Handling | None]) -> list[Series]:
    """The table's columns."""
    return address_spaces.columns_of(published.L95_TABLE3, [row.name for row in ROWS], found)


def _boot(lab: Lab, row: Row, full: bool) -> PingPong:
    served = address_spaces.FULL_DATA if full and row.servers == 1 else 0
    return boot(lab, row.pair, full=full, servers=row.servers, served=served)


EXPERIMENT = Experiment(
    name="liedtke95/table3",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings=SETTINGS,
    run=run,
    plots=SHEET.all_plots,
)
