# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of programs that have to do with each other, under Linux as a server, all of whose programs may be in small
spaces: for `uhlig02/fig10` and `uhlig02/fig11`. A web server is one with its FastCGI server and its client; so is a
pipeline.

The microkernel sees each of them switch to the server alone. Which process Linux ran after which says who its real
partners are: a group is what is connected by each process's strongest partner.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cobnut import linux_guest
from cobnut.checks import Check
from cobnut.experiments import Lab, linux_programs, talking_linux
from cobnut.experiments.linux_programs import SERVER, Peer, Printed, Work
from cobnut.experiments.talking_graph import GLOBAL
from cobnut.experiments.talking_linux import Graph
from cobnut.linux import fastcgi, images
from cobnut.results import Result

IMAGE, SCRIPT, VISITOR = "web", "web.sh", "visitor"
BEGIN, END = "the next one", "that was all"
WARMUP = 1  # turns before the measured one
LEAST_SHARE = 0.01  # of all successions: a process with fewer is in no group
PAGE = "'/hello?0' 'hello world, of 0 pages\n'"


@dataclass(frozen=True)
class Group:
    """Programs that have to do with each other: their names as Linux has them, what starts them before the first turn
    and what they do in one.
    """

    programs: tuple[str, ...]
    start: str
    turn: str


def web_servers(requests: int) -> tuple[Group, ...]:
    """Two, each asked for so many pages that its FastCGI server makes."""
    return (
        Group(
            ("greeter", "lighttpd", VISITOR), "lighttpd_serves", f"./{VISITOR} 8080 {requests} first {PAGE} >/dev/null"
        ),
        Group(
            ("apache2", "greeter", VISITOR), "apache_serves", f"./{VISITOR} 8081 {requests} second {PAGE} >/dev/null"
        ),
    )


def pipeline(kilobytes: int) -> Group:
    """Three programs through which so many zeros go."""
    return Group(("head", "tr", "wc"), "true", f"head -c {kilobytes}k /dev/zero | tr '\\0' x | wc -c >/dev/null")


def listen(lab: Lab, *groups: Group) -> Peer:
    """Boots Linux with the groups, all at once, in turns of which the last one is measured."""
    starts = " && ".join(group.start for group in groups)
    turn = " ".join(f"{group.turn} &" for group in groups)
    command = f". ./{SCRIPT} && {starts} && for turn in 1 2; do echo {BEGIN}; {turn} wait; done; echo {END}"
    files = {SCRIPT: (images.FOLDER / SCRIPT).read_bytes()}
    programs = (linux_guest.program(VISITOR), fastcgi.ensure())
    loops = (Printed("turn", BEGIN, END),)
    work = Work(None, command, loops, WARMUP, files=files, image=IMAGE, processes=True, others=programs)
    return talking_linux.listen(lab, work)


def run(
    lab: Lab, name: str, wanted: tuple[Group, ...], judge: Callable[[tuple[Group, ...], Peer], Iterable[Check]]
) -> Result:
    """Boots Linux with the groups, draws what was seen of them by this name, and judges it."""
    peer = listen(lab, *wanted)
    graph = talking_linux.graph_of(peer)
    series = talking_linux.series_of(name, graph, numbers(real_groups(graph)))
    rows = [talking_linux.row_of(name, peer)]
    return lab.result(series, list(judge(wanted, peer)), rows, emulator=f"{lab.emulator}, {linux_programs.versions()}")


def real_groups(graph: Graph) -> list[set[str]]:
    """Processes by their strongest partners, in the order of their names; those that ran seldom are in none."""
    total = sum(graph.successions.values())
    shared, ran = Counter[tuple[str, str]](), Counter[str]()
    for (before, after), times in graph.successions.items():
        ran[after] += times
        if {before, after} <= graph.programs:
            shared[before, after] += times
            shared[after, before] += times
    busy = sorted(one for one in graph.programs if ran[one] >= LEAST_SHARE * total)
    groups = {one: {one} for one in busy}
    for one in busy:
        partner = max(busy, key=lambda other: shared[one, other])
        if shared[one, partner] and groups[one] is not groups[partner]:
            groups[one] |= groups[partner]
            for member in groups[partner]:
                groups[member] = groups[one]
    return list({id(group): group for group in groups.values()}.values())


def found(wanted: tuple[Group, ...], groups: list[set[str]]) -> list[set[str]]:
    """Of the real groups, those that are just the programs of one that was started."""
    programs = [list(group.programs) for group in wanted]
    return [group for group in groups if sorted(one.rsplit(" ", 1)[0] for one in group) in programs]


def inside(graph: Graph, groups: list[set[str]]) -> float:
    """Of all successions of processes in groups, those within one."""
    number = numbers(groups)
    among = {ends: n for ends, n in graph.successions.items() if set(ends) <= number.keys()}
    return sum(n for (a, b), n in among.items() if number[a] == number[b]) / max(1, sum(among.values()))


def numbers(groups: list[set[str]]) -> dict[str, int]:
    """Each process's group."""
    return {one: number for number, group in enumerate(groups) for one in group}


def together(graph: Graph, groups: list[set[str]]) -> int:
    """How many groups have one host: those of their processes that are not in several."""
    hosts = [{talking_linux.host_of(one, graph.groups) for one in group} - {None} for group in groups]
    return sum(len(its) <= 1 for its in hosts)


def most_partners(graph: Graph) -> int:
    """The most spaces that a process's space switches to or from, as the microkernel sees it."""
    partners: dict[str, set[str]] = {}
    for a, b in graph.times:
        partners.setdefault(a, set()).add(b)
        partners.setdefault(b, set()).add(a)
    return max(len(its) for space, its in partners.items() if space != SERVER)


def is_everywhere(graph: Graph) -> bool:
    """Whether the server is in all hosts."""
    return graph.groups.get(SERVER) == GLOBAL
