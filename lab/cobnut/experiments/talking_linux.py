# SPDX-License-Identifier: GPL-2.0-or-later
"""Which spaces switch to each other while Linux, as a server, runs what a shell is told, and which processes Linux runs
one after the other: for `uhlig02/fig9` to `fig11`.

All spaces are small as far as the kernel's rules let them. The plugin tells spaces by where they are (docs/plugin.md):
by their page directory, and in small ones also by where their segments begin. Processes that have had the same space
one after the other are one node.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from cobnut.experiments import Lab, compiling, linux_programs
from cobnut.experiments.linux_programs import ALL, SERVER, WARMUP, Peer, Work
from cobnut.experiments.talking_graph import GLOBAL, changes, edges, place_of
from cobnut.linux import images
from cobnut.results import LedgerRow, Series

GCC = "gcc -O2 -pipe -no-integrated-cpp -c {source} -o /tmp/{number}.o &"  # cpp, cc1 and as at once, as in the paper
LEAST_KNOWN = 0.999  # of all switches, those of which both ends have a name
LEAST_WITH_SERVER = 0.95  # of all switches, those to or from the server
MOST_CR3 = 0.05  # of a switch: a process that begins or ends has no slot
ROOT = "root"  # whatever runs in a space of no process's: the root server, the kernel where it waits
PROCESS = re.compile(r"(.*) \((\d+)\)")


def works(lab: Lab) -> dict[str, Work]:
    """A pipeline of a shell's, and three compilations at once."""
    lines = "\n".join(f"{number} of some lines" for number in range(200 if lab.quick else 4000))
    pipeline = "cat text | sort -r | uniq -c | wc"
    source = compiling.QUICK if lab.quick else compiling.SOURCE.read_bytes()
    compilers = " ".join(GCC.format(source=compiling.SOURCE.name, number=number) for number in (1, 2, 3))
    files = {compiling.SOURCE.name: source}
    return {
        "shell": _work(pipeline, {"text": lines.encode()}, images.DEFAULT),
        "compile": _work(f"{compilers} wait", files, compiling.IMAGE),
    }


def _work(turn: str, files: Mapping[str, bytes], image: str) -> Work:
    command, loops = linux_programs.in_turns("turn", turn)
    return Work(None, command, loops, WARMUP, files=files, image=image, processes=True)


@dataclass(frozen=True)
class Graph:
    """Switches between spaces, each called by who was in it; `hosts` are the page directories that each was seen on,
    `successions` which process Linux ran after which.
    """

    times: Mapping[tuple[str, str], int]
    hosts: Mapping[str, frozenset[str]]
    small: frozenset[str]
    programs: frozenset[str]  # processes that have had a space, so without threads of the server
    successions: Mapping[tuple[str, str], int]
    unknown: int

    @property
    def total(self) -> int:
        return sum(self.times.values()) + self.unknown

    @property
    def known(self) -> float:
        """Of all switches, those of which both ends have a name."""
        return sum(self.times.values()) / self.total

    @property
    def with_server(self) -> float:
        """Of all switches, those to or from the server."""
        return sum(n for ends, n in self.times.items() if SERVER in ends) / self.total

    @property
    def is_server_everywhere(self) -> bool:
        """Whether the server is in all hosts."""
        return self.groups.get(SERVER) == GLOBAL

    @property
    def groups(self) -> dict[str, int]:
        """Each space's host by number, in the order of their names; GLOBAL for a small one that was on several."""
        numbers: dict[str, int] = {}
        found = {}
        for name in sorted(self.hosts):
            hosts = self.hosts[name]
            is_global = name in self.small and len(hosts) > 1
            found[name] = GLOBAL if is_global else numbers.setdefault(min(hosts), len(numbers))
        return found


def cr3_writes(peer: Peer, graph: Graph) -> float:
    """Of a switch in the measured turn."""
    return next(iter(peer.loops.values())).count("cr3_writes") / graph.total


def listen(lab: Lab, work: Work) -> Peer:
    """Boots Linux with all programs in small spaces."""
    return linux_programs.measure(lab, work, [ALL])[ALL]


def graph_of(peer: Peer) -> Graph:
    """What happened in the measured turn."""
    turn = next(iter(peer.loops.values()))
    case = turn.region["case"]
    successions = Counter[tuple[str, str]]()
    for one in peer.measured.get("successions", []):
        if one["case"] == case:
            successions[_label(one["from"]), _label(one["to"])] += one["times"]
    present = {name for pair in successions for name in pair}
    processes = peer.measured.get("processes", {})
    names = {space: _who(who, present) for space, who in processes.items()}
    programs = {_label(one) for had in processes.values() if SERVER not in had for one in had}
    times, unknown = Counter[tuple[str, str]](), 0
    hosts: dict[str, set[str]] = {}
    small = set()
    for before, after, count in changes(turn.region, turn.switches):
        source, target = names.get(before), names.get(after)
        if source is None or target is None:
            unknown += count
            continue
        for name, space in ((source, before), (target, after)):
            host, base = place_of(space)
            hosts.setdefault(name, set()).add(host)
            if base:
                small.add(name)
        if source != target:
            times[source, target] += count
    on = {name: frozenset(found) for name, found in hosts.items()}
    return Graph(times, on, frozenset(small), frozenset(programs & present), successions, unknown)


def _label(process: str) -> str:
    """A process's name and number, as a node of a graph may be called."""
    found = PROCESS.fullmatch(process)
    return f"{found[1].replace('-', '.')} {found[2]}" if found else process.replace("-", ".")


def _who(processes: list[str], present: set[str]) -> str:
    """Of those that have had a space, the ones that were there; a kernel that is a program goes first."""
    if SERVER in processes:
        return SERVER
    labels = [label for label in map(_label, processes) if label in present]
    return " ".join(labels) if labels else ROOT


def series_of(name: str, graph: Graph, clusters: Mapping[str, int] | None = None) -> list[Series]:
    """The graphs: edges `FROM-TO` with their times; spaces with their host's number, null for those in all. Processes
    are in these clusters, null for those in none; all are in one if there are none.
    """
    groups = graph.groups
    spaces = sorted(groups)
    hosts = [None if groups[one] == GLOBAL else groups[one] for one in spaces]
    around = [None if one in (SERVER, ROOT) else 0 for one in spaces]
    processes = sorted({one for pair in graph.successions for one in pair})
    together = [0 if clusters is None else clusters.get(one) for one in processes]
    return [
        edges(f"{name}.switches", "switches", graph.times),
        Series(f"{name}.host", "host", spaces, hosts),
        Series(f"{name}.cluster", "1: around the server", spaces, around),
        edges(f"{name}.successions", "times", graph.successions),
        Series(f"{name}.process", "host", processes, [host_of(one, groups) for one in processes]),
        Series(f"{name}.process.cluster", "1: a process", processes, together),
    ]


def host_of(process: str, groups: Mapping[str, int]) -> int | None:
    """The host of the space in which the process was, None if it was in several."""
    names = [name for name in groups if process in name]
    found = groups[min(names, key=len)] if names else GLOBAL  # where there were the fewest others
    return None if found == GLOBAL else found


def row_of(name: str, peer: Peer) -> LedgerRow:
    return replace(next(iter(peer.loops.values())).row(), name=name)
