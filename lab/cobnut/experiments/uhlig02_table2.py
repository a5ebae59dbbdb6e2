# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/table2`: what system calls cost an unmodified program of Linux: natively, and with Linux as a server in a
large and in a small space.
"""

from collections.abc import Mapping

from cobnut import published, tables
from cobnut.checks import Check, KnownMiss, at_least, at_most, exactly, judge, named, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ABOUT, ALL, COUNTED, LARGE, NATIVE, SHARES, SMALL, Loop, Peer, Work
from cobnut.plots import Bars, Ledger, Plot
from cobnut.results import Result

CALLS = tuple(published.U02_TABLE2)
RATIOS = ("small", "large", "gain")
# goals of ours, of getpid
SMALL_GOAL, GAIN_GOAL = 1.3, 1.6
KERNEL_GOAL, OS_GOAL, WHOLE_GOAL = 190, 80, 430
CR3_WRITES = {NATIVE: 0, LARGE: 2, SMALL: 0, ALL: 0}

PAGES = (
    "In the paper the difference between large and small grows little with the call, from 1,637 to 2,378 cycles: two"
    " CR3 writes, 960, and refills. Linux 6.1 executes more code for a file than the paper's Linux, and touches"
    " more pages: a read takes 20 entries of the code TLB, at 62 cycles, 20 of the data TLB, at 47, and 350 trace"
    " lines again after its two switches."
)
KNOWN_MISSES = {
    "read_4k.gain": KnownMiss(1.5, 2.1, PAGES),
    "write_4k.gain": KnownMiss(1.5, 2.1, PAGES),
    "gettimeofday.large": KnownMiss(
        2.33,
        2.95,
        "The server copies the 8 bytes to the program by a walk through page tables in software, 300 instructions, and"
        " asks the microkernel for the time: 490 instructions more than for getpid, where natively it is 70.",
    ),
    "gettimeofday.small": KnownMiss(
        1.38,
        1.6,
        "The server copies the 8 bytes to the program by a walk through page tables in software, 300 instructions, and"
        " asks the microkernel for the time: 490 instructions more than for getpid, where natively it is 70.",
    ),
    "getpid.small.os": KnownMiss(
        OS_GOAL, 155, "All registers go through the task's frame twice, and the task's flags are read five times."
    ),
}


def run(lab: Lab) -> Result:
    """Boots each kernel with the program."""
    chosen = lab.settings
    warmup = chosen["warmup"]
    work = Work(
        "syscalls",
        f"syscalls {warmup + chosen['calls']} /tmp/file",
        tuple(Loop(call, call, f"{call}_done") for call in CALLS),
        warmup,
    )
    names = [NATIVE, LARGE, SMALL, *([ALL] if chosen["all"] else [])]
    peers = linux_programs.measure(lab, work, names)
    checks = [check for call in CALLS for check in judge_call(call, peers)]
    checks += judge_goals(peers)
    for peer in peers.values():
        checks += linux_programs.judge_peer(peer, chosen["calls"])
        checks.append(judge_switches(peer))
    emulator = f"{lab.emulator}, {linux_programs.versions()}"
    return lab.result(linux_programs.series_of(peers), checks, linux_programs.ledger_of(peers), emulator=emulator)


def judge_call(call: str, peers: Mapping[str, Peer]) -> list[Check]:
    """How its costs under the kernels compare, against the paper's."""
    native, large, small = (peers[name].loops[call].cycles for name in (NATIVE, LARGE, SMALL))
    their_native, their_large, their_small = published.U02_TABLE2[call]
    return [
        judge(
            f"{call}.small",
            small / native,
            "times native",
            no_more_than(round(their_small / their_native, 3)),
            f"The server in a small space against {ABOUT[NATIVE]}: {small:,.0f} modelled cycles to {native:,.0f}."
            f" Published: {their_small:,} to {their_native:,}.",
        ),
        judge(
            f"{call}.large",
            large / native,
            "times native",
            reproduces(round(their_large / their_native, 3)),
            f"The server in a large space against {ABOUT[NATIVE]}: {large:,.0f} modelled cycles to {native:,.0f}."
            f" Published: {their_large:,} to {their_native:,}.",
        ),
        judge(
            f"{call}.gain",
            large / small,
            "times the small",
            reproduces(round(their_large / their_small, 3)),
            "The server in a large space against it in a small one.",
        ),
    ]


def judge_goals(peers: Mapping[str, Peer]) -> list[Check]:
    """Goals of ours, of the shortest call."""
    native, large, small = (peers[name].loops["getpid"] for name in (NATIVE, LARGE, SMALL))
    shares = small.shares
    return [
        judge(
            "getpid.small.goal",
            small.cycles / native.cycles,
            "times native",
            at_most(SMALL_GOAL),
            "The paper has 1.43.",
        ),
        judge(
            "getpid.gain.goal",
            large.cycles / small.cycles,
            "times the small",
            at_least(GAIN_GOAL),
            "The paper has 1.74.",
        ),
        judge(
            "getpid.small.kernel",
            small.count("instructions_kernel"),
            "instructions",
            at_most(KERNEL_GOAL),
            "This kernel's, for the call and its answer.",
        ),
        judge(
            "getpid.small.os",
            shares["os"],
            "instructions",
            at_most(OS_GOAL),
            "The os layer's, between the microkernel and Linux's own code.",
        ),
        judge(
            "getpid.small.instructions",
            sum(shares.values()),
            "instructions",
            at_most(WHOLE_GOAL),
            f"All. {ABOUT[NATIVE]} executes {sum(native.shares.values()):.0f}.",
        ),
    ]


def judge_switches(peer: Peer) -> Check:
    return judge(
        f"{peer.name}.cr3_writes",
        max(loop.count("cr3_writes") for loop in peer.loops.values()),
        "writes a call",
        exactly(CR3_WRITES[peer.name]),
        "Page tables are switched twice for a server in a large space, and for no other.",
    )


def show(result: Result) -> None:
    for call in CALLS:
        tables.show_rows(result, call, [f"{call}.{what}" for what in (*SHARES, *dict(COUNTED))])


def plots(result: Result) -> list[Plot]:
    cycles = {f"{call}.{name}": f"{call}, {ABOUT[name]}" for call in CALLS for name in ABOUT}
    return [
        *(
            Bars(f"Instructions of {call}", "kernel", "instructions", {f"{call}.{share}": share for share in SHARES})
            for call in CALLS
        ),
        Ledger("Where the modelled cycles of a call go", "call and kernel", "modelled cycles", cycles, wide=True),
    ]


EXPERIMENT = Experiment(
    name="uhlig02/table2",
    title="System calls of Linux as a server",
    source="Uhlig, Dannowski, Skoglund, Haeberlen, Heiser 2002, table 2",
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "calls": Setting(200, 40, range(10, 10_001), "calls measured of each kind"),
        "warmup": Setting(50, 20, range(1_001), "calls before the measured ones"),
        "all": Setting(0, 0, range(2), "1: with programs in small spaces, too"),
    },
    run=run,
    plots=plots,
    checks=(
        named(CALLS, RATIOS),
        named("getpid", ("small", "gain"), "goal"),
        named("getpid", "small", ("kernel", "os", "instructions")),
        named(ABOUT, ("turns", "doubts", "cr3_writes")),
    ),
    show=show,
    known_misses=KNOWN_MISSES,
    story=(
        "A static program calls getpid and gettimeofday, and reads and writes 4 KB of a file in memory, each by `int"
        " $0x80` in a loop. It is the same file under Debian's kernel and under Linux as a server on this one, of the"
        " same version of Linux; and nothing in it is for the measurement. As a server's client it pays for an"
        " exception that becomes a message, and for its answer: two switches, which are page tables where the server"
        " is in a large space, and segments where it is in a small one."
    ),
    cannot_say=(
        (
            "Cycles are modelled, not measured on a processor: instructions are counted, and the machine file says what"
            " an event costs."
        ),
        (
            "Another Linux: the paper's is older by twenty years, and its calls execute other code. Its own cycles"
            " say less than the ratios, which are checked. It does not say what its reads and writes go to; here it is"
            " a file in memory, by pread64 and pwrite64."
        ),
        (
            "Both run without mitigations, which as a server Linux does not have. QEMU raises no faults past a"
            " segment's limit; this program makes none."
        ),
    ),
)
