# SPDX-License-Identifier: GPL-2.0-or-later
"""`haertig97/getpid`: what getpid costs an unmodified program of Linux on a Pentium, natively and as a server's client,
and where its cycles go.
"""

from collections.abc import Mapping

from cobnut import published, tables
from cobnut.checks import TOLERANCE, Check, KnownMiss, judge, named, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ABOUT, COUNTED, LARGE, NATIVE, SHARES, SMALL, Loop, Peer, Work
from cobnut.plots import Bars, Ledger, Plot
from cobnut.results import Result, Series

CALL = "getpid"
COLUMNS = (NATIVE, LARGE, SMALL)
PARTS = ("messages", "server", "program")
OF_SERVER = published.H97_GETPID_PARTS["server"]
OF_MESSAGES = published.H97_GETPID_LIBRARY - OF_SERVER
KNOWN_MISSES = {
    "small.server": KnownMiss(
        round(OF_SERVER * (1 + TOLERANCE)),
        255,
        "150 of the server's 206 instructions, 171 cycles in all, are the os layer's, which takes all registers out of"
        " a message and puts them into the next; the other 56 are Linux's getpid, which looks for the number of a"
        " process in its name space. What caches of 8 KB with two ways lose in a call, mostly there, depends on where"
        " compiler and packages put code: 84 cycles in one build, 66 in another.",
    ),
    "large.added": KnownMiss(
        published.H97_GETPID_TRAMPOLINE - published.H97_GETPID_NATIVE,
        620,
        "25 TLB entries come back after the two switches, 273 cycles. The paper does not say in which kind of space its"
        " server was.",
    ),
}


def run(lab: Lab) -> Result:
    """Boots each kernel with the program."""
    chosen = lab.settings
    warmup = chosen["warmup"]
    work = Work(
        "syscalls", f"syscalls {warmup + chosen['calls']} /tmp/file", (Loop(CALL, CALL, f"{CALL}_done"),), warmup
    )
    peers = linux_programs.measure(lab, work, COLUMNS)
    checks = judge_calls(peers)
    for peer in peers.values():
        checks += linux_programs.judge_peer(peer, chosen["calls"])
    parts = {name: parts_of(peer) for name, peer in peers.items() if name != NATIVE}
    series = linux_programs.series_of(peers)
    for part in PARTS:
        row = [found[part] for found in parts.values()]
        series.append(Series(f"parts.{part}", "modelled cycles", list(parts), row))
    emulator = f"{lab.emulator}, {linux_programs.versions()}"
    return lab.result(series, checks, linux_programs.ledger_of(peers), emulator=emulator)


def parts_of(peer: Peer) -> dict[str, float]:
    """Cycles of a call by whose code they are spent in: the program's own with its `int`, the server's, and what is
    between them.
    """
    turns = peer.loops[CALL]
    server, program = turns.spent(linux_programs.SERVER), turns.spent(linux_programs.PROGRAM)
    whole = turns.mean("cycles")
    return {"messages": whole - server - program, "server": server, "program": program}


def judge_calls(peers: Mapping[str, Peer]) -> list[Check]:
    native, large, small = (peers[name].loops[CALL].cycles for name in COLUMNS)
    parts = parts_of(peers[SMALL])
    library = published.H97_GETPID_LIBRARY / published.H97_GETPID_NATIVE
    trampoline = published.H97_GETPID_TRAMPOLINE / published.H97_GETPID_NATIVE
    return [
        judge(
            "small.ratio",
            small / native,
            "times native",
            no_more_than(round(library, 3)),
            f"{small:,.0f} modelled cycles to {native:,.0f}. Published for programs with a library of L4Linux's:"
            f" {published.H97_GETPID_LIBRARY} to {published.H97_GETPID_NATIVE}.",
        ),
        judge(
            "large.ratio",
            large / native,
            "times native",
            no_more_than(round(trampoline, 3)),
            f"{large:,.0f} modelled cycles to {native:,.0f}. Published for unmodified programs:"
            f" {published.H97_GETPID_TRAMPOLINE} to {published.H97_GETPID_NATIVE}.",
        ),
        judge(
            "small.added",
            small - native,
            "cycles",
            no_more_than(published.H97_GETPID_LIBRARY - published.H97_GETPID_NATIVE),
            "More than natively. Published for programs with a library of L4Linux's.",
        ),
        judge(
            "large.added",
            large - native,
            "cycles",
            no_more_than(published.H97_GETPID_TRAMPOLINE - published.H97_GETPID_NATIVE),
            "More than natively. Published for unmodified programs.",
        ),
        judge(
            "small.messages",
            parts["messages"] + parts["program"],
            "cycles",
            reproduces(OF_MESSAGES),
            "All but the server: published are 20 to enter the library, 168 to send, 188 to reply and 19 to leave.",
        ),
        judge(
            "small.server",
            parts["server"],
            "cycles",
            reproduces(OF_SERVER),
            "Of the server: its os layer and Linux.",
        ),
    ]


def show(result: Result) -> None:
    tables.show_rows(result, CALL, [f"{CALL}.{what}" for what in (*SHARES, *dict(COUNTED))])
    tables.show_rows(result, "modelled cycles of a call", [f"parts.{part}" for part in PARTS])


def plots(result: Result) -> list[Plot]:
    return [
        Bars("Instructions of getpid", "kernel", "instructions", {f"{CALL}.{share}": share for share in SHARES}),
        Bars(
            "Modelled cycles of getpid", "server's space", "modelled cycles", {f"parts.{part}": part for part in PARTS}
        ),
        Ledger(
            "Where the modelled cycles of a call go",
            "kernel",
            "modelled cycles",
            {f"{CALL}.{name}": ABOUT[name] for name in COLUMNS},
            wide=True,
        ),
    ]


EXPERIMENT = Experiment(
    name="haertig97/getpid",
    title="getpid of Linux as a server, on a Pentium",
    source="Haertig, Hohmuth, Liedtke, Schoenberg, Wolter 1997, section 5 and its break-up of a call",
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={
        "calls": Setting(200, 40, range(10, 10_001), "calls measured"),
        "warmup": Setting(50, 20, range(1_001), "calls before the measured ones"),
    },
    run=run,
    plots=plots,
    checks=(
        named((SMALL, LARGE), ("ratio", "added")),
        named(SMALL, ("messages", "server")),
        named(COLUMNS, ("turns", "doubts")),
    ),
    show=show,
    known_misses=KNOWN_MISSES,
    story=(
        "The shortest system call of a static program, by `int $0x80`, under Debian's kernel and under Linux as a"
        " server on this one. Nothing of the program is changed or replaced, so its call is an exception that this"
        " kernel sends to the server as a message: what the paper calls the trampoline, and is compared with both of"
        " its figures."
    ),
    cannot_say=(
        (
            "Cycles are modelled. Debian's kernel executes 296 instructions for this call, at 406 modelled cycles,"
            " where the paper's Linux takes 223 cycles: ratios and differences are checked, not the cycles themselves."
        ),
        (
            "Debian's kernel needs instructions of the Pentium Pro's; it is emulated on a processor that has them,"
            " which the model charges as others of their kind."
        ),
        "Of the paper's five parts the library's two have no counterpart, and sending and replying are told as one.",
    ),
)
