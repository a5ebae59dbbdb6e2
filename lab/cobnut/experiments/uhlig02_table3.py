# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/table3`: requests of x11perf to an X server that is in a large space or in a small one.

Both are Debian's programs as they are. What x11perf prints about a test marks its turns: each is as many repetitions as
it was told, with a request or two before and behind. Of two runs, one of which has more repetitions in a turn, the
difference is these repetitions alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cobnut import published, sheets, tables
from cobnut.checks import Check, between, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, NATIVE, SERVERS, SMALL, Peer, Printed, Work
from cobnut.experiments.x_clients import COUNTED, MORE_THAN_SMALL, PAPERS, PEERS, Drawn, drawn, quickest
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

IMAGE, SCRIPT, DISPLAY = "x", "measure", ":0"
# of x11perf's shell: the X server preempts x11perf when a request comes, and is not preempted by its own answer. Else
# Linux' scheduler decides by the time that each has had, and a server that is preempted finds its next request without
# going to sleep: 8 system calls for a QueryPointer in the place of 13
IN_TURNS = "renice -n 19 -p $$"
PREPARED = f"""Xvfb {DISPLAY} -screen 0 1024x768x24 -noreset 2>/dev/null &
until [ -S /tmp/.X11-unix/X0 ]; do sleep 1; done
export DISPLAY={DISPLAY}
{IN_TURNS}
$LIMIT
"""
# of each run: before the first one is printed, one to get warm; then those that are measured; and what is between the
# last one and the line that sums them up, which has no repetitions
MEASURED = 16
TURNS = MEASURED + 1
# page tables are switched from x11perf to the X server and back, unless one of them is in a small space; with Linux in
# a large one for each system call as well
SWITCHES = {NATIVE: 2, SMALL: 2, SERVERS: 0, ALL: 0}


@dataclass(frozen=True)
class Request:
    """A test of x11perf: its option, how many objects a repetition has, and the repetitions of the run that is taken
    off the other, by whose numbers the tests are told apart.
    """

    name: str
    option: str
    objects: int
    once: int
    quick: bool = False

    def repetitions(self, more: int) -> tuple[int, int]:
        return self.once, self.once + more

    def loops(self, more: int) -> list[Printed]:
        """A run's turns, up to the line that sums them up."""
        return [
            Printed(f"{self.name}.{n}", f" {n * self.objects} reps", f" {TURNS * n * self.objects} trep")
            for n in self.repetitions(more)
        ]

    def script(self, more: int) -> str:
        runs = [f"x11perf -repeat {TURNS} -reps {n} {self.option} || exit 1" for n in self.repetitions(more)]
        return "\n".join([*runs, ""])


REQUESTS = (
    Request("dot", "-dot", 1000, 1),
    Request("pointer", "-pointer", 1, 2, quick=True),
    Request("property", "-prop", 1, 3),
    Request("image", "-getimage10", 4, 4),
)


def run(lab: Lab) -> Result:
    """Boots each kernel with the X server and all of x11perf's runs."""
    requests = [request for request in REQUESTS if request.quick or not lab.quick]
    more = lab.settings["repetitions"]
    names = PAPERS if lab.quick else PEERS
    peers = linux_programs.measure(lab, work(requests, more), names)
    found = {name: {request.name: each(request, more, peer) for request in requests} for name, peer in peers.items()}
    checks = [check for request in requests for check in judge_request(request.name, found)]
    for name, peer in peers.items():
        checks += linux_programs.judge_peer(peer, TURNS)
    for name, wanted in SWITCHES.items():
        if name in found:
            writes = found[name]["pointer"].counted["cr3_writes"]
            checks.append(SHEET.judge(f"{name}.cr3_writes", writes, between(wanted, wanted + 0.1)))
    ledger = [row for name, objects in found.items() for row in ledger_of(name, objects)]
    emulator = f"{lab.emulator}, {linux_programs.versions()}"
    return lab.result(series_of(requests, found), checks, ledger, emulator=emulator)


def work(requests: Sequence[Request], more: int) -> Work:
    """An X server, and x11perf's runs of each request."""
    script = PREPARED + "".join(request.script(more) for request in requests)
    loops = tuple(loop for request in requests for loop in request.loops(more))
    command = f"sh {SCRIPT}"
    return Work(
        None,
        command,
        loops,
        warmup=0,
        files={SCRIPT: script.encode()},
        image=IMAGE,
        commands={SERVERS: f"LIMIT='{MORE_THAN_SMALL}' {command}"},
    )


def each(request: Request, more: int, peer: Peer) -> Drawn:
    """An object of the repetitions that one run has more than the other."""
    once, often = (quickest(peer.loops[loop.name].region, MEASURED) for loop in request.loops(more))
    return drawn(once, often, more * request.objects)


def judge_request(name: str, found: Mapping[str, Mapping[str, Drawn]]) -> Iterator[Check]:
    """A request's cycles with the X server in a large and in a small space, and what they differ by."""
    large, small = (found[peer][name].cycles for peer in PAPERS)
    theirs = published.U02_TABLE3[name]
    for peer, ours, their in zip(PAPERS, (large, small), theirs, strict=True):
        yield SHEET.judge(f"{name}.cycles.{peer}", ours, reproduces(their))
    gain = round(theirs[0] / theirs[1] - 1, 4)
    drawing = reproduces(gain, published.U02_DRAWING, '"a performance benefit below 1% for drawing functions"')
    rule = drawing if name == "dot" else reproduces(gain)
    yield SHEET.judge(f"{name}.gain", large / small - 1, rule, large=large, small=small)


def ledger_of(peer: str, objects: Mapping[str, Drawn]) -> list[LedgerRow]:
    return [
        LedgerRow(f"{name}.{peer}", None, 1, "cycles", dict(one.ledger), sum(one.ledger.values()))
        for name, one in objects.items()
    ]


def series_of(requests: Sequence[Request], found: Mapping[str, Mapping[str, Drawn]]) -> list[Series]:
    """Of each request, what is counted for an object under each kernel."""
    names = list(found)
    return [
        Series(f"{request.name}.{what}", unit, names, [found[name][request.name].counted[what] for name in names])
        for request in requests
        for what, unit in COUNTED.items()
    ]


def show(result: Result) -> None:
    for request in REQUESTS:
        rows = [f"{request.name}.{what}" for what in COUNTED]
        if result.find(rows[0]):
            tables.show_rows(result, f"{request.name}, an object", rows)


EXPERIMENT = Experiment(
    name="uhlig02/table3",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "repetitions": Setting(100, 100, range(20, 1001), "of a request in a turn of x11perf's, beside one to four"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
