# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/table2`: what system calls cost an unmodified program of Linux: natively, and with Linux as a server in a
large and in a small space.
"""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets, tables
from cobnut.checks import Check, at_least, at_most, exactly, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, COUNTED, LARGE, NATIVE, SHARES, SMALL, Loop, Peer, Work
from cobnut.plots import Plot
from cobnut.results import Result

SHEET = sheets.beside(__file__)

CALLS = tuple(published.U02_TABLE2)
FAST = "fast_getpid"  # by sysenter; the paper has none
ROWS = (*CALLS, FAST)
# goals of ours, of getpid
SMALL_GOAL, GAIN_GOAL, FAST_GOAL = 1.3, 1.6, 1.5
KERNEL_GOAL, OS_GOAL, WHOLE_GOAL = 190, 80, 430
CR3_WRITES = {NATIVE: 0, LARGE: 2, SMALL: 0, ALL: 0}


def run(lab: Lab) -> Result:
    """Boots each kernel with the program."""
    warmup, turns = lab.settings["warmup"], lab.settings["calls"]
    loops = tuple(Loop(call, call, f"{call}_done") for call in ROWS)
    work = Work("syscalls", f"./syscalls {warmup + turns} /tmp/file", loops, warmup)
    names = [NATIVE, LARGE, SMALL, *([ALL] if lab.settings["all"] else [])]
    peers = linux_programs.measure(lab, work, names)
    checks = [check for call in CALLS for check in judge_call(call, peers)]
    checks += judge_goals(peers)
    for peer in peers.values():
        switches = max(loop.count("cr3_writes") for loop in peer.loops.values())
        checks += linux_programs.judge_peer(peer, turns)
        checks.append(SHEET.judge(f"{peer.name}.cr3_writes", switches, exactly(CR3_WRITES[peer.name])))
    return linux_programs.result(lab, peers, linux_programs.series_of(peers), checks)


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


def show(result: Result) -> None:
    for call in ROWS:
        tables.show_rows(result, call, [f"{call}.{what}" for what in (*SHARES, *dict(COUNTED))])


def plots(result: Result) -> list[Plot]:
    return [*(plot for call in ROWS for plot in SHEET.drawn("instructions", call=call)), *SHEET.drawn("ledger")]


EXPERIMENT = Experiment(
    name="uhlig02/table2",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "calls": Setting(200, 40, range(10, 10_001), "calls measured of each kind"),
        "warmup": Setting(50, 20, range(1_001), "calls before the measured ones"),
        "all": Setting(0, 0, range(2), "1: with programs in small spaces, too"),
    },
    run=run,
    plots=plots,
    show=show,
)
