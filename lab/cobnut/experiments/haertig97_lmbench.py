# SPDX-License-Identifier: GPL-2.0-or-later
"""`haertig97/lmbench`: the programs of lmbench as Debian has them, natively and with Linux as a server.

What an operation takes is lmbench's own figure: its clock is virtual time, in which each instruction takes 16 ns, as on
a Pentium at 133 MHz that needs two cycles for it. Modelled cycles are those instructions with as many cycles for each
as the program's timed turns take: of two runs of the program, one of which repeats them more often, the difference has
neither its start nor its calibration.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cobnut import published, sheets, tables
from cobnut.checks import Check, no_more_than
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, LARGE, NATIVE, SMALL, Peer, Printed, Turns, Work
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

IMAGE, SCRIPT, FILE = "lmbench", "measure", "/tmp/file"
MICROSECONDS = r"([\d.]+) microseconds"
INSTRUCTIONS = ("instructions_kernel", "instructions_user", "instructions_stub", "instructions_trampoline")
ONCE, WARMUP = 1, 1  # repetitions in the run that is taken off; runs before both
SECOND = 1_000_000  # microseconds
INSTRUCTION_LOG2_NS = 4
INSTRUCTIONS_EACH = 1000 / 2**INSTRUCTION_LOG2_NS  # microsecond
PREPARED = f"""mkdir -p /var/tmp/lmbench
cp /bin/lmbench/hello /var/tmp/lmbench
head -c 1048576 /dev/zero > {FILE}
export ENOUGH={{enough}} TIMING_O=0 LOOP_O=0
"""


@dataclass(frozen=True)
class Row:
    """One measurement of lmbench's: the program with its arguments, and what it prints, of which each number is
    microseconds for an operation or, a `rate`, operations in a second.
    """

    name: str
    words: str
    printed: str = MICROSECONDS
    rate: bool = False
    quick: bool = False

    @property
    def begins(self) -> str:
        return f"row {self.name} begins"

    @property
    def ends(self) -> str:
        return f"row {self.name} ends"

    def script(self, repetitions: int) -> str:
        """What the guest's shell does: a run to get warm, one to take off, one to measure."""
        program, _, arguments = self.words.partition(" ")
        runs = [f"/bin/lmbench/{program} -N {n} {arguments}" for n in (ONCE, ONCE, repetitions)]
        lines = [line for run in runs for line in (f"echo {self.begins}", f"{run} 2>&1")]
        return "\n".join([*lines, f"echo {self.ends}", ""])

    def figure(self, console: str) -> float:
        """Microseconds of an operation, as the last run says."""
        said = console.partition(self.ends)[0].split(self.begins)
        found = re.search(self.printed, said[-1], re.MULTILINE)
        if found is None:
            raise CobnutError(f"'{self.words}' has not said what it measured: {said[-1].strip()[-200:]}")
        return sum(SECOND / float(one) if self.rate else float(one) for one in found.groups())


ROWS = (
    Row("null", "lat_syscall null", quick=True),
    Row("read", "lat_syscall read"),
    Row("write", "lat_syscall write"),
    Row("stat", f"lat_syscall stat {FILE}"),
    Row("fstat", f"lat_syscall fstat {FILE}"),
    Row("open", f"lat_syscall open {FILE}"),
    Row("select", "lat_select -n 100 file"),
    Row("fcntl", "lat_fcntl"),
    Row("sig_install", "lat_sig install"),
    Row("sig_catch", "lat_sig catch", quick=True),
    Row("sig_prot", f"lat_sig prot {FILE}"),
    Row("pipe", "lat_pipe"),
    Row("unix", "lat_unix"),
    Row("sem", "lat_sem"),
    Row("fork", "lat_proc fork", quick=True),
    Row("exec", "lat_proc exec"),
    Row("shell", "lat_proc shell"),
    Row("pagefault", f"lat_pagefault {FILE}"),
    Row("mmap", f"lat_mmap 1m {FILE}", r"^1\.048576 ([\d.]+)"),
    Row("file_create_delete", "lat_fs /tmp", r"^0k\s+\d+\s+([\d.]+)\s+([\d.]+)", rate=True),
    Row("bw_file_rd", f"bw_file_rd 1m io_only {FILE}", r"^1\.05 ([\d.]+)", rate=True),
    Row("bw_mmap_rd", f"bw_mmap_rd 1m open2close {FILE}", r"^1\.05 ([\d.]+)", rate=True),
)


@dataclass(frozen=True)
class Operation:
    """What an operation takes under one kernel."""

    instructions: float
    cycles_each: float

    @property
    def cycles(self) -> float:
        return self.instructions * self.cycles_each


def run(lab: Lab) -> Result:
    """Boots each kernel with all programs."""
    rows = [row for row in ROWS if row.quick or not lab.quick]
    script = PREPARED.format(enough=lab.settings["microseconds"])
    script += "".join(row.script(lab.settings["repetitions"]) for row in rows)
    loops = tuple(Printed(row.name, row.begins, row.ends) for row in rows)
    work = Work(
        None,
        f"sh {SCRIPT}",
        loops,
        WARMUP,
        files={SCRIPT: script.encode()},
        image=IMAGE,
        instruction_log2_ns=INSTRUCTION_LOG2_NS,
    )
    peers = linux_programs.measure(lab, work, [NATIVE, LARGE, SMALL, *([ALL] if lab.settings["all"] else [])])
    found = {name: {row.name: operation(row, peer) for row in rows} for name, peer in peers.items()}
    checks = [check for row in rows for check in judge_row(row.name, found)]
    checks += linux_programs.judge_peers(peers, 2)
    return linux_programs.result(lab, peers, series_of(rows, found), checks)


def operation(row: Row, peer: Peer) -> Operation:
    """What was measured of a row under one kernel."""
    turns = peer.loops[row.name]
    instructions, cycles = more_of(turns, *INSTRUCTIONS), more_of(turns, "cycles")
    if instructions <= 0:
        raise CobnutError(f"{peer.name}: '{row.words}' executed no more where it was repeated more often")
    return Operation(INSTRUCTIONS_EACH * row.figure(peer.console), cycles / instructions)


def more_of(turns: Turns, *counters: str) -> float:
    """How much more was counted in the run that repeats its turns."""
    counted = turns.region["per_iteration"]
    once, often = (sum(counted.get(counter, (0, 0))[turn] for counter in counters) for turn in range(2))
    return often - once


def judge_row(name: str, found: Mapping[str, Mapping[str, Operation]]) -> Iterator[Check]:
    """A row against the worst that the paper has."""
    native = found[NATIVE][name].cycles
    for kernel in (SMALL, LARGE):
        ours = found[kernel][name].cycles
        rule = no_more_than(published.H97_LMBENCH_WORST)
        yield SHEET.judge(f"{kernel}.{name}", ours / native, rule, ours=ours, native=native)


def series_of(rows: Sequence[Row], found: Mapping[str, Mapping[str, Operation]]) -> list[Series]:
    """By row, an operation's instructions and cycles under each kernel, and what it is in times native."""
    names = [row.name for row in rows]
    series = []
    for kernel, operations in found.items():
        all_of = [operations[name] for name in names]
        times = [one.cycles / found[NATIVE][name].cycles for name, one in zip(names, all_of, strict=True)]
        series += [
            Series(f"instructions.{kernel}", "instructions", names, [one.instructions for one in all_of]),
            Series(f"cycles.{kernel}", "modelled cycles", names, [one.cycles for one in all_of]),
            Series(f"times.{kernel}", "times native", names, times),
        ]
    return series


def show(result: Result) -> None:
    """A table of each, with a column for each kernel."""
    for what in ("instructions", "cycles", "times"):
        found = [one for one in result.series if one.name.startswith(f"{what}.")]
        heads = tuple(one.name.partition(".")[2] for one in found)
        columns = [map(tables.number, one.y) for one in found]
        tables.show(found[0].unit, ("", *heads), list(zip(map(str, found[0].x), *columns, strict=True)))


EXPERIMENT = Experiment(
    name="haertig97/lmbench",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={
        "microseconds": Setting(20_000, 10_000, range(500, 1_000_001), "of virtual time that lmbench times at least"),
        "repetitions": Setting(3, 3, range(2, 12), "of its timed turns in the measured run"),
        "all": Setting(0, 0, range(2), "1: with programs in small spaces, too"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
