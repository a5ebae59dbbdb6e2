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

from cobnut.checks import Check
from cobnut.experiments import Lab, linux_programs, talking_linux
from cobnut.experiments.linux_programs import SERVER, WARMUP, Peer, Work
from cobnut.experiments.talking_linux import Graph
from cobnut.linux import web
from cobnut.results import Result

LEAST_SHARE = 0.01  # of all successions: a process with fewer is in no group
LEAST_INSIDE = 0.9  # of all successions of processes in groups, those within one
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
        Group(("greeter", "lighttpd", web.VISITOR), "lighttpd_serves", _visits(8080, requests, "first")),
        Group(("apache2", "greeter", web.VISITOR), "apache_serves", _visits(8081, requests, "second")),
    )


def _visits(port: int, requests: int, text: str) -> str:
    return f"./{web.VISITOR} {port} {requests} {text} {PAGE} >/dev/null"


def pipeline(kilobytes: int) -> Group:
    """Three programs through which so many zeros go."""
    return Group(("head", "tr", "wc"), "true", f"head -c {kilobytes}k /dev/zero | tr '\\0' x | wc -c >/dev/null")


def listen(lab: Lab, *groups: Group) -> Peer:
    """Boots Linux with the groups, all at once, in turns of which the last one is measured."""
    starts = " && ".join(group.start for group in groups)
    turn = " ".join(f"{group.turn} &" for group in groups)
    turns, loops = linux_programs.in_turns("turn", f"{turn} wait")
    command = f". ./{web.SCRIPT} && {starts} && {turns}"
    work = Work(None, command, loops, WARMUP, files=web.files(), image=web.IMAGE, processes=True, others=web.programs())
    return talking_linux.listen(lab, work)


@dataclass(frozen=True)
class Seen:
    """What a run has shown: the groups that its processes are, by their successions; `wanted` are those started."""

    peer: Peer
    graph: Graph
    groups: list[set[str]]
    wanted: tuple[Group, ...]

    @property
    def found(self) -> list[set[str]]:
        """Of the groups, those that are just the programs of one that was started."""
        programs = [list(group.programs) for group in self.wanted]
        return [group for group in self.groups if sorted(one.rsplit(" ", 1)[0] for one in group) in programs]

    @property
    def inside(self) -> float:
        """Of all successions of processes in groups, those within one."""
        number = numbers(self.groups)
        among = {ends: n for ends, n in self.graph.successions.items() if set(ends) <= number.keys()}
        return sum(n for (a, b), n in among.items() if number[a] == number[b]) / max(1, sum(among.values()))


def seen(peer: Peer, wanted: tuple[Group, ...]) -> Seen:
    graph = talking_linux.graph_of(peer)
    return Seen(peer, graph, real_groups(graph), wanted)


def run(lab: Lab, name: str, wanted: tuple[Group, ...], judge: Callable[[Seen], Iterable[Check]]) -> Result:
    """Boots Linux with the groups, draws what was seen of them by this name, and judges it."""
    shown = seen(listen(lab, *wanted), wanted)
    series = talking_linux.series_of(name, shown.graph, numbers(shown.groups))
    rows = [talking_linux.row_of(name, shown.peer)]
    return lab.result(series, list(judge(shown)), rows, emulator=f"{lab.emulator}, {linux_programs.versions()}")


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
