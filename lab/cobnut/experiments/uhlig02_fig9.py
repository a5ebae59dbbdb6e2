# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig9`: who switches to whom, how often, and which groups the kernel made of them by itself.

U02 draws the switches of three compilations (figure 9) and of a web server (figure 10) as graphs and sees that programs
talk in small groups, from which it proposes groups and leaves them to others. Here the kernel forms them from the
switches that it counts, and the graph is of the switches that the plugin sees. The program `groups` makes the patterns.
"""

from dataclasses import dataclass

from cobnut.checks import Check, at_least, at_most, exactly, judge, named
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.talking_spaces import SLOT_MB, Heard, Talk, listen
from cobnut.plots import Plot, SwitchGraph
from cobnut.results import LedgerRow, Result, Series

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
    talks = [
        Talk(
            pattern,
            spaces,
            "groups",
            lab.settings["batch"],
            lab.settings["rounds"],
            WARMUP_MS,
            names=True,
            area_mb=area_mb,
        )
        for pattern, (spaces, area_mb) in PATTERNS.items()
    ]
    heard = listen(lab, talks)
    checks = [check for one in heard for check in judge_one(one)]
    series = [line for one in heard if not one.failure for line in series_of(one.talk.pattern, graph_of(one))]
    ledger = [
        LedgerRow(
            one.talk.pattern,
            None,
            one.ipcs,
            "cycles",
            one.region["ledger"],
            one.region["cycles_total"],
            space=one.region["space"],
        )
        for one in heard
        if one.region
    ]
    return lab.result(series, checks, ledger)


def judge_one(heard: Heard) -> list[Check]:
    """What U02 expects of groups, of the graph of one run."""
    pattern, graph = heard.talk.pattern, None if heard.failure else graph_of(heard)
    wanted = len({tag.group for tag in heard.tags} - {-1})
    busiest = graph.busiest_outside if graph else None
    failure = heard.failure or ""
    return [
        judge(
            f"{pattern}.groups",
            graph.found if graph else None,
            "groups",
            exactly(wanted) if graph else None,
            "Groups of the pattern that the kernel found: all their spaces at home in one host, and nobody of another"
            f" group there. {failure}".rstrip(),
        ),
        judge(
            f"{pattern}.between",
            graph.between if graph else None,
            "of all switches",
            at_most(MOST_BETWEEN),
            "Switches from one group to another, neither end being in all hosts: infrequent, says U02."
            f" {failure}".rstrip(),
        ),
        judge(
            f"{pattern}.cr3_writes",
            heard.each("cr3_writes"),
            "CR3 writes of an IPC",
            at_most(MOST_BETWEEN),
            f"Only switches between groups need one. {failure}".rstrip(),
        ),
        judge(
            f"{pattern}.global",
            float(graph.groups[busiest] == GLOBAL) if graph and busiest is not None else None,
            "spaces",
            exactly(1),
            "Of those in no group of the pattern the one with the most switches is in all hosts, like D in U02's"
            f" figure 11. {failure}".rstrip(),
        ),
        judge(
            f"{pattern}.known",
            graph.known if graph else None,
            "of all switches",
            at_least(LEAST_KNOWN),
            "Switches that the graph shows; others are to the program's root thread or the kernel's own."
            f" {failure}".rstrip(),
        ),
    ]


def series_of(pattern: str, graph: Graph) -> list[Series]:
    """The graph: edges `FROM-TO` with their times; nodes with their host's number, null for those in all, and the
    pattern's group.
    """
    ends = sorted(graph.times)
    spaces = sorted(graph.groups)
    names = [str(space) for space in spaces]
    return [
        Series(f"{pattern}.switches", "switches", [f"{a}-{b}" for a, b in ends], [graph.times[pair] for pair in ends]),
        Series(
            f"{pattern}.host",
            "host",
            names,
            [None if graph.groups[one] == GLOBAL else graph.groups[one] for one in spaces],
        ),
        Series(
            f"{pattern}.cluster",
            "group of the pattern",
            names,
            [None if graph.clusters[one] == -1 else graph.clusters[one] for one in spaces],
        ),
    ]


def plots(result: Result) -> list[Plot]:
    titles = {"pipeline": "Pipelines, as of compilations", "web": "A web server with workers, and one server of all"}
    return [
        SwitchGraph(
            titles[pattern],
            f"{pattern}.switches",
            f"{pattern}.host",
            f"{pattern}.cluster",
            caption=(
                "Who switches to whom. The wider a line, the more often, by a logarithm. A colour is a host, with the"
                " spaces at home in it and the switches among them; grey are spaces that are in all hosts, and switches"
                " to them, from them and between groups. Side by side: a group of the pattern; in the middle: those in"
                " none."
            ),
        )
        for pattern in PATTERNS
    ]


EXPERIMENT = Experiment(
    name="uhlig02/fig9",
    title="Who switches to whom, and the groups that the kernel makes of it",
    source="U02 section 5.2, figures 9 to 11",
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "batch": Setting(64, 64, range(1, 100_001), "items that a group works on before another one is scheduled"),
        "rounds": Setting(200, 100, range(1, 100_001), "batches measured; as many warm up"),
    },
    long_proof=True,
    run=run,
    plots=plots,
    checks=(named(PATTERNS, ("groups", "between", "cr3_writes", "global", "known")),),
    story=(
        "U02 shows the switches of three compilations: cpp, cc1 and as of each talk to one another only. So programs"
        " that talk should share a page directory, and who talks to all should be in every one. The program makes the"
        f" patterns; with slots of {SLOT_MB} MB in an area of 64 or 128 MB spaces have to share hosts. Nobody tells the"
        " kernel who belongs together: it counts switches and notes who was left (docs/tags.md). What is drawn are the"
        " switches that the plugin saw, and where the spaces are at home then."
    ),
    cannot_say=(
        (
            "The patterns are made up: no compiler and no web server runs. Figure 9 is of a kernel tree's compilation"
            " under Linux; its picture has no numbers to compare with."
        ),
        "Groups have had seconds to form, and the patterns do not change.",
        (
            "How often batches change the group is the program's choice: the share of switches between groups says that"
            " the kernel's groups are the pattern's, not how real programs behave."
        ),
    ),
    has_curves=True,
)
