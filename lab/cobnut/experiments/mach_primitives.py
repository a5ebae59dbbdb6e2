# SPDX-License-Identifier: GPL-2.0-or-later
"""`mach/primitives`: what Mach's objects cost as a server's on this kernel, beside a plain message of this kernel's
between the same tasks, and what H97 measured of a Mach that was its time's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cobnut import published, sheets, systems, tables
from cobnut.checks import Check, at_most
from cobnut.emulators import Boot
from cobnut.experiments import Experiment, Kind, Lab, modelled, pingpong, runner
from cobnut.measured import Region
from cobnut.missing import ratio, total
from cobnut.modules import Module
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

SYSTEM, PROGRAM = "machcost", "machbench"
SPACES = ("large", "small")
IPC, NULL, PORT, RPC, RIGHT, MEMORY, ZERO, COPY, PAGER, FILE, FORK = ROWS = (
    *("ipc", "null", "port", "rpc", "right"),
    *("memory", "zero", "copy", "pager", "file", "fork"),
)  # by the guest's numbers of cases
SHARES = (*pingpong.SHARES, "user")
# of all instructions, the kernel's and the servers': an eighth more than they are
LIMITS = {
    IPC: 232,
    NULL: 547,
    PORT: 1_592,
    RPC: 6_571,
    RIGHT: 7_597,
    MEMORY: 8_023,
    ZERO: 1_364,
    COPY: 2_760,
    PAGER: 8_210,
    FILE: 19_467,
    FORK: 103_700,
}


@dataclass(frozen=True)
class Row:
    """What was measured of one primitive between spaces of one kind; nothing is None."""

    name: str
    region: Region | None
    clock_mhz: float
    failure: str | None

    def count(self, counter: str) -> float | None:
        """The median one's."""
        values = self.region["per_iteration"].get(counter) if self.region else None
        return sorted(values)[len(values) // 2] if values else None

    @property
    def instructions(self) -> float | None:
        return total(self.count(f"instructions_{share}") for share in SHARES)

    @property
    def us(self) -> float | None:
        return ratio(self.count("cycles"), self.clock_mhz)


Rows = Mapping[str, Mapping[str, Row]]  # by kind of space and name


def run(lab: Lab) -> Result:
    """Boots the system once for each kind of space."""
    clock = float(lab.machine.parameters["processor.clock_mhz"].value)
    found = runner.mapped(lab, SPACES, lambda space: modelled.run(lab, boot_of(lab, space), PROGRAM))
    pingpong.raise_if_all_failed(list(found.values()))
    rows = {}
    for space, one in found.items():
        regions = {region["case"]: region for region in one.measured["regions"]}
        rows[space] = {name: Row(name, regions.get(n), clock, one.failure) for n, name in enumerate(ROWS)}
    checks = [check for space in SPACES for check in judge(space, rows[space])]
    ledger = [
        LedgerRow(f"{space}.{row.name}", None, row.region["iterations"], "cycles", row.region["ledger"], cycles)
        for space, some in rows.items()
        for row in some.values()
        if row.region and (cycles := row.region["cycles_total"])
    ]
    return lab.result(series_of(rows), checks, ledger)


def boot_of(lab: Lab, space: str) -> Boot:
    """The system, with all of its programs in large spaces or in those that the kernel gives them: small ones."""
    system = systems.load(SYSTEM)
    if space == "large":
        system = system.changed(**{name: {"space": "large"} for name in system.order})
    chosen = (Module(lab.board.program("sigma0")), *system.modules(lab.board, pingpong.PingPong.memory_mb))
    return Boot(lab.board.kernel, chosen, cpu=lab.cpu, memory_mb=pingpong.PingPong.memory_mb)


def judge(space: str, rows: Mapping[str, Row]) -> Iterator[Check]:
    """What each takes."""
    for row in rows.values():
        yield SHEET.judge(f"{space}.{row.name}.instructions", row.instructions, at_most(LIMITS[row.name]), row.failure)


def series_of(rows: Rows) -> Iterator[Series]:
    """Over the primitives; and H97's figures of MkLinux, which ran on Mach."""
    for space, found in rows.items():
        yield Series(f"{space}.us", "us, modelled", list(ROWS), [row.us for row in found.values()])
        beside = [ratio(row.us, found[IPC].us) for row in found.values()]
        yield Series(f"{space}.over_ipc", "times a plain message", list(ROWS), beside)
        for share in SHARES:
            counts = [row.count(f"instructions_{share}") for row in found.values()]
            yield Series(f"{space}.{share}", "instructions", list(ROWS), counts)
    pipe, getpid = published.H97_MKLINUX_PIPE_US, published.H97_MKLINUX_GETPID_US
    yield Series("published.pipe", "us, a round trip through MkLinux' pipes", list(pipe), list(pipe.values()))
    yield Series("published.getpid", "us, a call of MkLinux' server", list(getpid), list(getpid.values()))


def show(result: Result) -> None:
    tables.show_rows(result, "a primitive", [f"{space}.{what}" for what in ("us", "over_ipc") for space in SPACES])
    tables.show_rows(result, "MkLinux on Mach, published", ["published.pipe", "published.getpid"])


EXPERIMENT = Experiment(
    name="mach/primitives",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={},
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
