# SPDX-License-Identifier: GPL-2.0-or-later
"""Which spaces switched to each other in a run of the program `groups`, by the plugin's names of spaces."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cobnut.experiments.talking_spaces import Heard
from cobnut.measured import Region, Switch
from cobnut.results import Series

GLOBAL = -1  # the group of a space that is at home in all


def changes(region: Region, switches: Sequence[Switch]) -> Iterator[tuple[str, str, int]]:
    """From which space to which, and how often; what only invalidates is left out."""
    for found in region["switches"]:
        switch = switches[found["switch"]]
        if switch["how"] in ("cr3", "segments"):
            yield switch["from"], switch["to"], found["times"]


def place_of(name: str) -> tuple[str, str]:
    """The host in a space's name, and where it begins there if it is small."""
    host, _, base = name.partition("+")
    return host, base


def edges(name: str, unit: str, times: Mapping[tuple[int, int], int] | Mapping[tuple[str, str], int]) -> Series:
    """A graph's edges `FROM-TO`, each with its times."""
    found = sorted((a, b, n) for (a, b), n in times.items())
    return Series(name, unit, [f"{a}-{b}" for a, b, _ in found], [n for _, _, n in found])


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
        """How many of the pattern's groups are groups: all their spaces that are not global in one host, and no space
        of another group there.
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
        host, _ = place_of(names[tag.space])
        groups[tag.space] = GLOBAL if tag.size_mb and not tag.bound else hosts.setdefault(host, len(hosts))

    places: dict[tuple[str, str], set[int]] = {}
    for space, name in heard.names:
        host, base = place_of(name)
        for place in ((host, base), ("", base)):
            places.setdefault(place, set()).add(space)

    def number(name: str) -> int | None:
        host, base = place_of(name)
        spaces = places.get((host, base), places.get(("", base), set()))
        return next(iter(spaces)) if len(spaces) == 1 else None

    times: dict[tuple[int, int], int] = {}
    unknown = 0
    for before, after, count in changes(heard.region, heard.measured["switches"]) if heard.region else ():
        source, target = number(before), number(after)
        if source is None or target is None:
            unknown += count
        else:
            times[source, target] = times.get((source, target), 0) + count
    return Graph(times, unknown, groups, {tag.space: tag.group for tag in heard.tags})
