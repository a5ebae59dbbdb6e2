# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/table2`: what system calls cost an unmodified program of Linux: natively, and with Linux as a server in a
large and in a small space.
"""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets, tables
from cobnut.checks import Check, above, at_least, at_most, exactly, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, COUNTED, LARGE, NATIVE, SHARES, SMALL, UML, Loop, Peer, Work
from cobnut.plots import Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

CALLS = tuple(published.U02_TABLE2)
FAST = "fast_getpid"  # by sysenter; the paper has none
ROWS = (*CALLS, FAST)
# goals of ours, of getpid
SMALL_GOAL, GAIN_GOAL, FAST_GOAL = 1.3, 1.6, 1.5
KERNEL_GOAL, OS_GOAL, WHOLE_GOAL = 190, 80, 430
TRACED = ("kernel", "linux", "program")  # of a call in User-Mode Linux: its host's kernel, itself, the program
CR3_WRITES = {NATIVE: 0, LARGE: 2, SMALL: 0, ALL: 0, UML: 2}


def run(lab: Lab) -> Result:
    """Boots each kernel with the program."""
    warmup, turns = lab.settings["warmup"], lab.settings["calls"]
    loops = tuple(Loop(call, call, f"{call}_done") for call in ROWS)
    work = Work("syscalls", f"./syscalls {warmup + turns} /tmp/file", loops, warmup)
    names = [NATIVE, LARGE, SMALL, *(name for name in (ALL, UML) if lab.settings[name])]
    peers = linux_programs.measure(lab, work, names)
    checks = [check for call in CALLS for check in judge_call(call, peers)]
    checks += judge_goals(peers)
    series = linux_programs.series_of({name: peer for name, peer in peers.items() if name != UML})
    if UML in peers:
        checks += judge_traced(peers[UML], peers[SMALL])
        series += series_of_traced(peers[UML], peers[SMALL])
    for peer in peers.values():
        switches = max(loop.count("cr3_writes") for loop in peer.loops.values())
        checks += linux_programs.judge_peer(peer, turns)
        checks.append(SHEET.judge(f"{peer.name}.cr3_writes", switches, exactly(CR3_WRITES[peer.name])))
    return linux_programs.result(lab, peers, series, checks)


def judge_call(call: str, peers: Mapping[str, Peer]) -> Iterator[Check]:
    """How its costs under the kernels compare, against the paper's."""
    native, large, small = (peers[name].loops[call].cycles for name in (NATIVE, LARGE, SMALL))
    their_native, their_large, their_small = published.U02_TABLE2[call]
    rule = no_more_than(round(their_small / their_native, 3))
    base = {"native": native, "their_native": their_native}
    yield SHEET.judge(f"{call}.small", small / native, rule, ours=small, theirs=their_small, **base)
    rule = reproduces(round(their_large / their_native, 3))
    yield SHEET.judge(f"{call}.large", large / native, rule, ours=large, theirs=their_large, **base)
    yield SHEET.judge(f"{call}.gain", large / small, reproduces(round(their_large / their_small, 3)))


def judge_goals(peers: Mapping[str, Peer]) -> Iterator[Check]:
    """Goals of ours, of the shortest call."""
    native, large, small = (peers[name].loops["getpid"] for name in (NATIVE, LARGE, SMALL))
    fast_native, fast_small = (peers[name].loops[FAST].cycles for name in (NATIVE, SMALL))
    whole, natively = sum(small.shares.values()), sum(native.shares.values())
    yield SHEET.judge("getpid.small.goal", small.cycles / native.cycles, at_most(SMALL_GOAL))
    yield SHEET.judge(f"{FAST}.small.goal", fast_small / fast_native, at_most(FAST_GOAL), native=fast_native)
    yield SHEET.judge("getpid.gain.goal", large.cycles / small.cycles, at_least(GAIN_GOAL))
    yield SHEET.judge("getpid.small.kernel", small.count("instructions_kernel"), at_most(KERNEL_GOAL))
    yield SHEET.judge("getpid.small.os", small.shares["os"], at_most(OS_GOAL))
    yield SHEET.judge("getpid.small.instructions", whole, at_most(WHOLE_GOAL), natively=natively)


def judge_traced(traced: Peer, small: Peer) -> Iterator[Check]:
    """User-Mode Linux against the server in a small space."""
    for call in ROWS:
        one = traced.loops[call]
        kernel = one.shares["kernel"]
        times = one.cycles / small.loops[call].cycles
        yield SHEET.judge(f"{call}.traced", times, above(1), kernel=kernel, cycles=one.cycles)


def series_of_traced(traced: Peer, small: Peer) -> list[Series]:
    """By call: it takes so much more that it is told apart."""
    loops = [traced.loops[call] for call in ROWS]
    times = [one.cycles / small.loops[one.loop].cycles for one in loops]
    counted = [Series(f"{UML}.{what}", unit, ROWS, [one.count(what) for one in loops]) for what, unit in COUNTED]
    shares = [Series(f"{UML}.{what}", "instructions", ROWS, [one.shares[what] for one in loops]) for what in TRACED]
    return [*shares, *counted, Series(f"{UML}.times", "times the small", ROWS, times)]


def show(result: Result) -> None:
    for call in ROWS:
        tables.show_rows(result, call, [f"{call}.{what}" for what in (*SHARES, *dict(COUNTED))])
    if result.find(f"{UML}.times"):
        tables.show_rows(result, "User-Mode Linux", [f"{UML}.{what}" for what in (*TRACED, *dict(COUNTED), "times")])


def plots(result: Result) -> list[Plot]:
    drawn = [*(plot for call in ROWS for plot in SHEET.drawn("instructions", call=call)), *SHEET.drawn("ledger")]
    return [*drawn, *(SHEET.drawn(UML) if result.find(f"{UML}.times") else [])]


EXPERIMENT = Experiment(
    name="uhlig02/table2",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "calls": Setting(200, 40, range(10, 10_001), "calls measured of each kind"),
        "warmup": Setting(50, 20, range(1_001), "calls before the measured ones"),
        ALL: Setting(0, 0, range(2), "1: with programs in small spaces, too"),
        UML: Setting(1, 0, range(2), "0: without User-Mode Linux on Debian's kernel"),
    },
    run=run,
    plots=plots,
    show=show,
)
