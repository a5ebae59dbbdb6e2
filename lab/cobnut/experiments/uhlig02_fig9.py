# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig9`: who switches to whom, how often, and which groups the kernel made of them by itself.

U02 draws the switches of three compilations (figure 9) and of a web server (figure 10) as graphs and sees that programs
talk in small groups, from which it proposes groups and leaves them to others. Here the kernel forms them from the
switches that it counts, and the graph is of the switches that the plugin sees. The program `groups` makes the patterns;
with `guest=linux` it is Linux as a server, with a pipeline of a shell's and three compilations at once.
"""

from collections.abc import Iterator

from cobnut import sheets
from cobnut.checks import Check, at_least, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs, talking_linux
from cobnut.experiments.linux_programs import Peer
from cobnut.experiments.talking_graph import GLOBAL, Graph, edges, graph_of
from cobnut.experiments.talking_linux import LEAST_KNOWN, LEAST_WITH_SERVER, MOST_CR3
from cobnut.experiments.talking_spaces import Heard, Talk, listen
from cobnut.plots import Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

# pattern: how many spaces, and an area in MB that has few enough slots that there is no way but groups: three or four
# of them in each host beside those of the spaces in no group
PATTERNS = {"pipeline": (25, 64), "web": (26, 128)}
WARMUP_MS = 2000
MOST_BETWEEN = 0.02
GUESTS = PATTERN, LINUX = "patterns", "linux"
FIRST = {PATTERN: [f"{pattern}.switches" for pattern in PATTERNS], LINUX: ["shell.switches", "compile.switches"]}


def run(lab: Lab) -> Result:
    """One run of each pattern, or of each work under Linux, with groups by the kernel's choice."""
    return run_linux(lab) if GUESTS[lab.settings["guest"]] == LINUX else run_patterns(lab)


def run_patterns(lab: Lab) -> Result:
    batch, rounds = lab.settings["batch"], lab.settings["rounds"]
    talks = [
        Talk(pattern, spaces, "groups", batch, rounds, WARMUP_MS, names=True, area_mb=area_mb)
        for pattern, (spaces, area_mb) in PATTERNS.items()
    ]
    heard = listen(lab, talks)
    checks = [check for one in heard for check in judge_one(one)]
    series = [line for one in heard if not one.failure for line in series_of(one.talk.pattern, graph_of(one))]
    return lab.result(series, checks, [row for one in heard for row in one.rows(one.talk.pattern)])


def run_linux(lab: Lab) -> Result:
    works = talking_linux.works(lab)
    heard = {name: talking_linux.listen(lab, work) for name, work in works.items()}
    checks = [check for name, peer in heard.items() for check in judge_linux(name, peer)]
    series = [
        line for name, peer in heard.items() for line in talking_linux.series_of(name, talking_linux.graph_of(peer))
    ]
    rows = [talking_linux.row_of(name, peer) for name, peer in heard.items()]
    return lab.result(series, checks, rows, emulator=f"{lab.emulator}, {linux_programs.versions()}")


def judge_linux(name: str, peer: Peer) -> Iterator[Check]:
    """Who is in all groups, and what switches between groups cost."""
    graph = talking_linux.graph_of(peer)
    yield SHEET.judge(f"linux.{name}.known", graph.known, at_least(LEAST_KNOWN))
    yield SHEET.judge(f"linux.{name}.with_server", graph.with_server, at_least(LEAST_WITH_SERVER))
    yield SHEET.judge(f"linux.{name}.global", float(graph.is_server_everywhere), exactly(1))
    yield SHEET.judge(f"linux.{name}.cr3_writes", talking_linux.cr3_writes(peer, graph), at_most(MOST_CR3))


def judge_one(heard: Heard) -> Iterator[Check]:
    """What U02 expects of groups, of the graph of one run."""
    pattern, graph, failure = heard.talk.pattern, None if heard.failure else graph_of(heard), heard.failure
    wanted = exactly(len({tag.group for tag in heard.tags} - {-1})) if graph else None
    busiest = graph.busiest_outside if graph else None
    everywhere = float(graph.groups[busiest] == GLOBAL) if graph and busiest is not None else None
    yield SHEET.judge(f"{pattern}.groups", graph.found if graph else None, wanted, failure)
    yield SHEET.judge(f"{pattern}.between", graph.between if graph else None, at_most(MOST_BETWEEN), failure)
    yield SHEET.judge(f"{pattern}.cr3_writes", heard.each("cr3_writes"), at_most(MOST_BETWEEN), failure)
    yield SHEET.judge(f"{pattern}.global", everywhere, exactly(1), failure)
    yield SHEET.judge(f"{pattern}.known", graph.known if graph else None, at_least(LEAST_KNOWN), failure)


def series_of(pattern: str, graph: Graph) -> list[Series]:
    """The graph: edges `FROM-TO` with their times; nodes with their host's number, null for those in all, and the
    pattern's group.
    """
    spaces = sorted(graph.groups)
    names = [str(space) for space in spaces]

    def row(name: str, unit: str, numbers: dict[int, int], nothing: int) -> Series:
        values = [None if numbers[one] == nothing else numbers[one] for one in spaces]
        return Series(f"{pattern}.{name}", unit, names, values)

    return [
        edges(f"{pattern}.switches", "switches", graph.times),
        row("host", "host", graph.groups, GLOBAL),
        row("cluster", "group of the pattern", graph.clusters, -1),
    ]


def plots(result: Result) -> list[Plot]:
    """Of the guest that was run."""
    names = [name for name in GUESTS if any(result.find(first) for first in FIRST[name])]
    return SHEET.drawn(*names)


EXPERIMENT = Experiment(
    name="uhlig02/fig9",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "guest": Setting(0, 0, range(2), "what runs", names=GUESTS),
        "batch": Setting(64, 64, range(1, 100_001), "items that a group works on before another one is scheduled"),
        "rounds": Setting(200, 100, range(1, 100_001), "batches measured; as many warm up"),
    },
    long_proof=True,
    run=run,
    plots=plots,
    has_curves=True,
)
