# SPDX-License-Identifier: GPL-2.0-or-later
"""`haertig97/aim`: users who work at the same time on a Pentium, natively and with Linux as a server."""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets, tables
from cobnut.checks import Check, no_more_than
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import COUNTED, LARGE, NATIVE, SMALL, Peer, Printed, Work
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PEERS = (NATIVE, LARGE, SMALL)
PROGRAM, NAME = "users", "load"
WARMUP = 1  # runs before the measured one of each load, after which all files are in memory
FOLDER = "/tmp/users"
FAULTS = "limit_fault"  # of the ledger: this glibc makes them, the paper's had no thread-local storage


def run(lab: Lab) -> Result:
    """Boots each kernel with the program, which is told the loads one after the other."""
    loads = loads_of(lab.settings["users"])
    jobs = lab.settings["jobs"]
    turns = [
        f"for turn in 1 2; do echo {begin(n)}; ./{PROGRAM} {n} {jobs} {FOLDER} || exit 1; done; echo {end(n)}"
        for n in loads
    ]
    loops = tuple(Printed(load(n), begin(n), end(n)) for n in loads)
    work = Work(PROGRAM, f"mkdir {FOLDER}; {'; '.join(turns)}", loops, WARMUP)
    peers = linux_programs.measure(lab, work, PEERS)
    checks = [*judge_loads(loads, peers), *linux_programs.judge_peers(peers, 1)]
    return linux_programs.result(lab, peers, series_of(loads, peers), checks)


def loads_of(most: int) -> list[int]:
    """Numbers of users: one, and twice as many each time."""
    return [1 << power for power in range(most.bit_length()) if 1 << power <= most]


def load(users: int) -> str:
    return f"{NAME}{users}"


def begin(users: int) -> str:
    """What is printed before a run with so many: no text is part of another."""
    return f"now {users} at once"


def end(users: int) -> str:
    """What is printed after the last of them."""
    return f"there were {users}."


def judge_loads(loads: list[int], peers: Mapping[str, Peer]) -> Iterator[Check]:
    """What all loads together take, against Debian's kernel, with the faults past segments' limits and without."""

    def total(name: str) -> float:
        return sum(peers[name].loops[load(n)].cycles for n in loads)

    native = total(NATIVE)
    for name in (SMALL, LARGE):
        ours = total(name)
        faults = sum(peers[name].loops[load(n)].booked(FAULTS) for n in loads)
        rule = no_more_than(published.H97_AIM)
        yield SHEET.judge(f"{name}.times", ours / native, rule, ours=ours, native=native)
        yield SHEET.judge(f"{name}.without_faults", (ours - faults) / native, rule, faults=faults)


def series_of(loads: list[int], peers: Mapping[str, Peer]) -> list[Series]:
    """By number of users, what is counted under each kernel, and what that is in times native."""
    series = []
    for name, peer in peers.items():
        turns = [peer.loops[load(n)] for n in loads]
        for what, unit in COUNTED:
            series.append(Series(f"{what}.{name}", unit, loads, [one.count(what) for one in turns]))
        natively = [peers[NATIVE].loops[load(n)].cycles for n in loads]
        times = [one.cycles / first for one, first in zip(turns, natively, strict=True)]
        series.append(Series(f"times.{name}", "times native", loads, times))
    return series


def show(result: Result) -> None:
    for what in ("cycles", "times"):
        tables.show_rows(result, "by number of users", [f"{what}.{name}" for name in PEERS])


EXPERIMENT = Experiment(
    name="haertig97/aim",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={
        "users": Setting(4, 2, range(1, 33), "at once, at most; the other loads are 1, 2, 4 and so on"),
        "jobs": Setting(24, 12, range(1, 1001), "that each does, of twelve kinds in turn"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
