# SPDX-License-Identifier: GPL-2.0-or-later
"""`haertig97/table5`: what a program pays that uses page protection through a pager at user level: the rows of H97's
table 5, which are the operations of Appel and Li (ASPLOS 1991), between spaces of either kind.

The table's numbers are not published here, since no source of them was at hand: the checks are about this kernel alone.
"""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from cobnut import sheets, tables
from cobnut.checks import Check, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, measure_all
from cobnut.missing import ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

SPACES = {"large": "large_large", "small": "small_small"}
FAULT, TRAP, PROT1, PROT100, UNPROT, APPEL1, APPEL100 = ROWS = (
    *("fault", "trap", "prot1", "prot100", "unprot"),
    *("prot1_trap_unprot", "prot100_trap_unprot"),
)  # by the guest's numbers of cases
PAGES = 100
EACH = {APPEL100: PAGES}  # of a row that is told for each of so many traps
# of the kernel's instructions: an eighth more than they are
LIMITS = {FAULT: 900, TRAP: 245, PROT1: 1620, PROT100: 69_300, UNPROT: 2730, APPEL1: 3120, APPEL100: 2330}
CR3_WRITES = {FAULT: 2, TRAP: 1, PROT1: 2, PROT100: 2, UNPROT: 2, APPEL1: 2, APPEL100: 2.02}


@dataclass(frozen=True)
class Protect(PingPong):
    """One boot of the program `protect`, whose cases are the rows."""

    program: ClassVar[str] = "protect"

    @property
    def arguments(self) -> str:
        return f"pair={self.pair} rounds={self.rounds} warmup={self.warmup} slot={self.slot}"

    @property
    def iterations(self) -> int:
        """Between two that are measured there is one in which pages are brought back to how they were."""
        return 2 * self.rounds - 1

    @property
    def cases(self) -> list[int]:
        return list(range(len(ROWS)))


@dataclass(frozen=True)
class Row:
    """What was measured of one operation between spaces of one kind."""

    name: str
    measured: Measurement
    clock_mhz: float

    def count(self, counter: str) -> float | None:
        """The median operation's."""
        region = self.measured.at(ROWS.index(self.name))
        values = region.counters.get(counter) if region else None
        return statistics.median(values[::2]) / EACH.get(self.name, 1) if values else None

    @property
    def us(self) -> float | None:
        return ratio(self.count("cycles"), self.clock_mhz)


Rows = Mapping[str, Mapping[str, Row]]  # by kind of space and name


def run(lab: Lab) -> Result:
    """Boots once for each kind of space."""
    measured = measure_all(lab, {space: Protect.of(lab, pair) for space, pair in SPACES.items()})
    clock = float(lab.machine.parameters["processor.clock_mhz"].value)
    rows = {space: {name: Row(name, one, clock) for name in ROWS} for space, one in measured.items()}
    checks = [check for space, found in rows.items() for row in found.values() for check in judge(space, row)]
    return lab.result(series_of(rows), checks)


def judge(space: str, row: Row) -> Iterator[Check]:
    """What the kernel executes, and how often page tables are switched."""
    name, failure = f"{space}.{row.name}", row.measured.failure
    switches = CR3_WRITES[row.name] if space == "large" else 0
    yield SHEET.judge(f"{name}.kernel", row.count("instructions_kernel"), at_most(LIMITS[row.name]), failure)
    yield SHEET.judge(f"{name}.cr3_writes", row.count("cr3_writes"), exactly(switches), failure)


def series_of(rows: Rows) -> Iterator[Series]:
    for space, found in rows.items():
        yield Series(f"{space}.us", "us, modelled", list(ROWS), [row.us for row in found.values()])
        for share in (*pingpong.SHARES, "user"):
            counts = [row.count(f"instructions_{share}") for row in found.values()]
            yield Series(f"{space}.{share}", "instructions", list(ROWS), counts)


def show(result: Result) -> None:
    tables.show_rows(result, "an operation", [f"{space}.{what}" for what in ("us", "kernel") for space in SPACES])


EXPERIMENT = Experiment(
    name="haertig97/table5",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={
        "rounds": Setting(50, 12, pingpong.ROUNDS, "operations measured, of each row"),
        "warmup": Setting(5, 2, pingpong.WARMUP, "operations before the measured ones"),
        "slot": pingpong.SPACES["slot"],
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
