# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig9`: who switches to whom, how often, and which groups the kernel made of them by itself.

U02 draws the switches of three compilations (figure 9) and of a web server (figure 10) as graphs and sees that programs
talk in small groups, from which it proposes groups and leaves them to others. Here the kernel forms them from the
switches that it counts, and the graph is of the switches that the plugin sees. The program `groups` makes the patterns.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cobnut import sheets
from cobnut.checks import Check, at_least, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.talking_spaces import Heard, Talk, listen
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

# pattern: how many spaces, and an area in MB that has few enough slots that there is no way but groups: three or four
# of them in each host beside those of the spaces in no group
PATTERNS = {"pipeline": (25, 64), "web": (26, 128)}
WARMUP_MS = 2000
MOST_BETWEEN, LEAST_KNOWN = 0.02, 0.999
GLOBAL = -1  # the group of a space that is at home in all


@dataclass(frozen=True)
class Graph:
    """The switches of a run between the spaces that it names, and where each is at home.

    `groups` has for each space the number of its host, in order of appearance, or GLOBAL; `clusters` the pattern's
    group, -1: none.
    """

    times: dict[tuple[int, int], int]
    unknown: int  # switches of which one end is none of these spaces
    groups: dict[int, int]
    clusters: dict[int, int]

    @property
    def total(self) -> int:
        return sum(self.times.values()) + self.unknown

    @property
    def known(self) -> float | None:
        """Of all switches, those between the pattern's spaces."""
        return sum(self.times.values()) / self.total if self.total else None

    @property
    def between(self) -> float | None:
        """Of all switches, those from one group to another, without those from and to global spaces."""
        found = sum(
            n
            for (a, b), n in self.times.items()
            if GLOBAL not in (self.groups[a], self.groups[b]) and self.groups[a] != self.groups[b]
        )
        return found / self.total if self.total else None

    @property
    def found(self) -> int:
        """How many of the pattern's groups are groups: all who are not global in one host, and nobody of another group
        there.
        """
        return sum(self._is_group(cluster) for cluster in set(self.clusters.values()) - {-1})

    def _is_group(self, cluster: int) -> bool:
        hosts = {self.groups[space] for space, its in self.clusters.items() if its == cluster} - {GLOBAL}
        others = {self.groups[space] for space, its in self.clusters.items() if its not in (cluster, -1)}
        return len(hosts) == 1 and not hosts & others

    @property
    def busiest_outside(self) -> int | None:
        """Of the spaces in none of the pattern's groups, the one with the most switches."""
        outside = [space for space, cluster in self.clusters.items() if cluster == -1]
        return max(outside, key=lambda one: sum(n for ends, n in self.times.items() if one in ends), default=None)


def graph_of(heard: Heard) -> Graph:
    """Gives the spaces in the plugin's output their numbers: by host and slot, or by the slot alone where one space had
    it, whatever the host. A space that moves has several places.
    """
    names = dict(heard.names)  # at the end
    hosts: dict[str, int] = {}
    groups: dict[int, int] = {}
    for tag in heard.tags:
        host, _, _ = names[tag.space].partition("+")
        groups[tag.space] = GLOBAL if tag.size_mb and not tag.bound else hosts.setdefault(host, len(hosts))

    places: dict[tuple[str, str], set[int]] = {}
    for space, name in heard.names:
        host, _, base = name.partition("+")
        for place in ((host, base), ("", base)):
            places.setdefault(place, set()).add(space)

    def number(name: str) -> int | None:
        host, _, base = name.partition("+")
        spaces = places.get((host, base), places.get(("", base), set()))
        return next(iter(spaces)) if len(spaces) == 1 else None

    times: dict[tuple[int, int], int] = {}
    unknown = 0
    for found in heard.region["switches"] if heard.region else []:
        switch = heard.measured["switches"][found["switch"]]
        if switch["how"] not in ("cr3", "segments"):
            continue  # an invalidation
        source, target = number(switch["from"]), number(switch["to"])
        if source is None or target is None:
            unknown += found["times"]
        else:
            times[source, target] = times.get((source, target), 0) + found["times"]
    return Graph(times, unknown, groups, {tag.space: tag.group for tag in heard.tags})


def run(lab: Lab) -> Result:
    """One run of each pattern, with groups by the kernel's choice."""
    batch, rounds = lab.settings["batch"], lab.settings["rounds"]
    talks = [
        Talk(pattern, spaces, "groups", batch, rounds, WARMUP_MS, names=True, area_mb=area_mb)
        for pattern, (spaces, area_mb) in PATTERNS.items()
    ]
    heard = listen(lab, talks)
    checks = [check for one in heard for check in judge_one(one)]
    series = [line for one in heard if not one.failure for line in series_of(one.talk.pattern, graph_of(one))]
    return lab.result(series, checks, [row for one in heard for row in one.rows(one.talk.pattern)])


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
    ends, spaces = sorted(graph.times), sorted(graph.groups)
    names = [str(space) for space in spaces]

    def row(name: str, unit: str, numbers: dict[int, int], nothing: int) -> Series:
        values = [None if numbers[one] == nothing else numbers[one] for one in spaces]
        return Series(f"{pattern}.{name}", unit, names, values)

    return [
        Series(f"{pattern}.switches", "switches", [f"{a}-{b}" for a, b in ends], [graph.times[pair] for pair in ends]),
        row("host", "host", graph.groups, GLOBAL),
        row("cluster", "group of the pattern", graph.clusters, -1),
    ]


EXPERIMENT = Experiment(
    name="uhlig02/fig9",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "batch": Setting(64, 64, range(1, 100_001), "items that a group works on before another one is scheduled"),
        "rounds": Setting(200, 100, range(1, 100_001), "batches measured; as many warm up"),
    },
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
