# SPDX-License-Identifier: GPL-2.0-or-later
"""`mach/primitives`: what Mach's objects cost as a server's on this kernel, beside a plain message of this kernel's
between the same tasks, beside GNU Mach's own on the same machine, and what H97 measured of a Mach that was its time's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cobnut import gnumach, published, sheets, systems, tables
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
GNUMACH = "gnumach"
IPC, NULL, PORT, RPC, RIGHT, MEMORY, ZERO, COPY, PAGER, FILE, FORK, PAGE, TRAP, THREADS = ROWS = (
    *("ipc", "null", "port", "rpc", "right"),
    *("memory", "zero", "copy", "pager", "file", "fork", "page", "trap", "threads"),
)  # by the guests' numbers of cases
OURS = ROWS[: ROWS.index(TRAP)]
# what GNU Mach's row is that takes the place of ours
BESIDE = {name: name for name in OURS if name != FILE} | {IPC: RPC}
SHARES = (*pingpong.SHARES, "user")
SHOWN = {"us": "us, modelled", "over_ipc": "times a plain message", "over_gnumach": "times GNU Mach's"}
# of all instructions, the kernel's and the servers': at most an eighth more than they are
LIMITS = {
    IPC: 231,
    NULL: 547,
    PORT: 1_377,
    RPC: 3_648,
    RIGHT: 4_543,
    MEMORY: 5_034,
    ZERO: 1_364,
    COPY: 2_760,
    PAGER: 7_983,
    FILE: 18_357,
    FORK: 102_904,
    PAGE: 5_034,
}


@dataclass(frozen=True)
class Row:
    """What was measured of one primitive, between spaces of one kind or on GNU Mach; nothing is None."""

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


Rows = Mapping[str, Mapping[str, Row]]  # by kind of space, or GNU Mach, and name


def run(lab: Lab) -> Result:
    """Boots the system once for each kind of space, and GNU Mach."""
    clock = float(lab.machine.parameters["processor.clock_mhz"].value)
    boots = {space: (boot_of(lab, space), PROGRAM) for space in SPACES}
    boots[GNUMACH] = gnumach.boot(lab.cpu, pingpong.PingPong.memory_mb), gnumach.PROGRAM
    found = runner.mapped(lab, boots, lambda name: modelled.run(lab, *boots[name]))
    pingpong.raise_if_all_failed(list(found.values()))
    rows = {}
    for kind, one in found.items():
        regions = {region["case"]: region for region in one.measured["regions"]}
        rows[kind] = {name: Row(name, regions.get(n), clock, one.failure) for n, name in enumerate(ROWS)}
    checks = [check for space in SPACES for check in judge(space, rows[space], rows[GNUMACH])]
    ledger = [
        LedgerRow(f"{kind}.{row.name}", None, row.region["iterations"], "cycles", row.region["ledger"], cycles)
        for kind, some in rows.items()
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


def judge(space: str, rows: Mapping[str, Row], theirs: Mapping[str, Row]) -> Iterator[Check]:
    """What each takes, and whether it is faster than GNU Mach's."""
    for name in OURS:
        row = rows[name]
        yield SHEET.judge(f"{space}.{name}.instructions", row.instructions, at_most(LIMITS[name]), row.failure)
    for name, beside in BESIDE.items():
        row, other = rows[name], theirs[beside]
        times = ratio(row.us, other.us)
        yield SHEET.judge(f"{space}.{name}.over_gnumach", times, at_most(1), row.failure or other.failure)


def series_of(rows: Rows) -> Iterator[Series]:
    """Over the primitives; and H97's figures of MkLinux, which ran on Mach."""
    for kind, found in rows.items():
        yield Series(f"{kind}.us", "us, modelled", list(ROWS), [row.us for row in found.values()])
        for share in SHARES:
            counts = [row.count(f"instructions_{share}") for row in found.values()]
            yield Series(f"{kind}.{share}", "instructions", list(ROWS), counts)
    for space in SPACES:
        beside = [ratio(rows[space][name].us, rows[space][IPC].us) for name in OURS]
        yield Series(f"{space}.over_ipc", "times a plain message", list(OURS), beside)
        times = [ratio(rows[space][ours].us, rows[GNUMACH][theirs].us) for ours, theirs in BESIDE.items()]
        yield Series(f"{space}.over_gnumach", "times GNU Mach's", list(BESIDE), times)
    pipe, getpid = published.H97_MKLINUX_PIPE_US, published.H97_MKLINUX_GETPID_US
    yield Series("published.pipe", "us, a round trip through MkLinux' pipes", list(pipe), list(pipe.values()))
    yield Series("published.getpid", "us, a call of MkLinux' server", list(getpid), list(getpid.values()))


def show(result: Result) -> None:
    for what, title in SHOWN.items():
        found = {kind: result.find(f"{kind}.{what}") for kind in (*SPACES, GNUMACH)}
        rows = [(kind, *map(tables.number, one.y)) for kind, one in found.items() if one]
        heads = next(one.x for one in found.values() if one)
        tables.show(title, ("", *map(str, heads)), rows)
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
