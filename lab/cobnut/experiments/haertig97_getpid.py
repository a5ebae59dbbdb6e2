# SPDX-License-Identifier: GPL-2.0-or-later
"""`haertig97/getpid`: what getpid costs an unmodified program of Linux on a Pentium, natively and as a server's client,
and where its cycles go.
"""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets, tables
from cobnut.checks import Check, exactly, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import COUNTED, LARGE, NATIVE, SHARES, SMALL, Loop, Peer, Work
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

CALL = "getpid"
COLUMNS = (NATIVE, LARGE, SMALL)
PARTS = ("messages", "server", "program", "refills")
REFILLS = ("tlb_refill_code", "tlb_refill_data", "cache_refill", "write_back")
CR3_WRITES = {NATIVE: 0, LARGE: 2, SMALL: 0}
OF_SERVER = published.H97_GETPID_PARTS["server"]
OF_MESSAGES = published.H97_GETPID_LIBRARY - OF_SERVER


def run(lab: Lab) -> Result:
    """Boots each kernel with the program."""
    chosen = lab.settings
    warmup = chosen["warmup"]
    work = Work(
        "syscalls", f"./syscalls {warmup + chosen['calls']} /tmp/file", (Loop(CALL, CALL, f"{CALL}_done"),), warmup
    )
    peers = linux_programs.measure(lab, work, COLUMNS)
    checks = list(judge_calls(peers))
    for peer in peers.values():
        checks += linux_programs.judge_peer(peer, chosen["calls"])
        switches = peer.loops[CALL].count("cr3_writes")
        checks.append(SHEET.judge(f"{peer.name}.cr3_writes", switches, exactly(CR3_WRITES[peer.name])))
    parts = {name: parts_of(peer) for name, peer in peers.items() if name != NATIVE}
    series = linux_programs.series_of(peers)
    for part in PARTS:
        row = [found[part] for found in parts.values()]
        series.append(Series(f"parts.{part}", "modelled cycles", list(parts), row))
    return linux_programs.result(lab, peers, series, checks)


def parts_of(peer: Peer) -> dict[str, float]:
    """Cycles of a call by the program whose instructions they are: the server's, the program's, and those between them
    with what entries and switches take. What TLBs and caches have lost is apart, since it depends on where code and
    data lie.
    """
    turns = peer.loops[CALL]
    server, program = turns.own(linux_programs.SERVER), turns.own(linux_programs.PROGRAM)
    refills = turns.booked(*REFILLS)
    return {
        "messages": turns.cycles - server - program - refills,
        "server": server,
        "program": program,
        "refills": refills,
    }


def judge_calls(peers: Mapping[str, Peer]) -> Iterator[Check]:
    """What a call costs more than natively, and in which parts."""
    native, large, small = (peers[name].loops[CALL].cycles for name in COLUMNS)
    theirs = published.H97_GETPID_NATIVE
    both = (("small", small, published.H97_GETPID_LIBRARY), ("large", large, published.H97_GETPID_TRAMPOLINE))
    for name, ours, with_server in both:
        rule, values = no_more_than(round(with_server / theirs, 3)), {"with_server": with_server, "theirs": theirs}
        yield SHEET.judge(f"{name}.ratio", ours / native, rule, ours=ours, native=native, **values)
    for name, ours, with_server in both:
        yield SHEET.judge(f"{name}.added", ours - native, no_more_than(with_server - theirs))
    parts = parts_of(peers[SMALL])
    yield SHEET.judge("small.messages", parts["messages"] + parts["program"], reproduces(OF_MESSAGES))
    yield SHEET.judge("small.server", parts["server"], reproduces(OF_SERVER))


def show(result: Result) -> None:
    tables.show_rows(result, CALL, [f"{CALL}.{what}" for what in (*SHARES, *dict(COUNTED))])
    tables.show_rows(result, "modelled cycles of a call", [f"parts.{part}" for part in PARTS])


EXPERIMENT = Experiment(
    name="haertig97/getpid",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={
        "calls": Setting(200, 40, range(10, 10_001), "calls measured"),
        "warmup": Setting(50, 20, range(1_001), "calls before the measured ones"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
