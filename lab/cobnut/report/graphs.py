# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the nodes and edges of a graph are drawn, for pages and pictures alike.

Nodes of a cluster stand side by side on a circle, those of none in its middle. An edge bends to the left of its way, so
that the two directions between nodes run apart, and its width is a logarithm of how often it is taken.
"""

import math
from dataclasses import dataclass

from cobnut.experiments import Plot
from cobnut.results import Result

BEND, STEPS = 0.22, 14
INNER = 0.16  # radius on which several nodes in the middle stand
NOBODYS = 0.5  # by how much edges of no group are narrower


@dataclass(frozen=True)
class Node:
    name: str
    group: int | None
    x: float
    y: float


@dataclass(frozen=True)
class Edge:
    """`group` is that of both ends, None where they have different ones or none."""

    start: str
    end: str
    times: float
    group: int | None
    width: float
    x: list[float]
    y: list[float]


def layout(plot: Plot, result: Result) -> tuple[list[Node], list[Edge]]:
    """The graph of `plot`, whose series are edges named FROM-TO with their times, and of the nodes their groups and
    their clusters.
    """
    edges, groups, clusters = (result.find(name) for name in plot.series)
    if edges is None or groups is None or clusters is None:
        return [], []
    places = place({str(name): cluster for name, cluster in zip(clusters.x, clusters.y, strict=True)})
    placed = {
        str(name): Node(str(name), None if group is None else int(group), *places[str(name)])
        for name, group in zip(groups.x, groups.y, strict=True)
    }
    found = []
    for name, times in zip(edges.x, edges.y, strict=True):
        start, end = (placed[part] for part in str(name).split("-"))
        group = start.group if start.group == end.group else None
        width = (0.6 + 0.45 * math.log2(1 + (times or 0))) * (NOBODYS if group is None else 1)
        found.append(Edge(start.name, end.name, times or 0, group, width, *curve(start, end)))
    return list(placed.values()), found


def place(clusters: dict[str, float | None]) -> dict[str, tuple[float, float]]:
    """A position for each node, on or within the unit circle, by its cluster; clockwise from the top."""
    numbered = {name: cluster for name, cluster in clusters.items() if cluster is not None}
    around = sorted(numbered, key=lambda name: numbered[name])
    middle = [name for name in clusters if clusters[name] is None]
    gaps = len({clusters[name] for name in around})
    turn, radius = 0, INNER if len(middle) > 1 else 0.0
    placed = {}
    for index, name in enumerate(around):
        turn += bool(index) and clusters[name] != clusters[around[index - 1]]
        angle = math.tau * (index + turn) / (len(around) + gaps)
        placed[name] = (math.sin(angle), math.cos(angle))
    for index, name in enumerate(middle):
        angle = math.tau * index / len(middle)
        placed[name] = (radius * math.sin(angle), radius * math.cos(angle))
    return placed


def curve(start: Node, end: Node) -> tuple[list[float], list[float]]:
    """Points along a quadratic curve that bends to the left of the way from `start` to `end`."""
    middle_x = (start.x + end.x) / 2 - BEND * (end.y - start.y)
    middle_y = (start.y + end.y) / 2 + BEND * (end.x - start.x)
    parts = [step / STEPS for step in range(STEPS + 1)]

    def along(a: float, b: float, c: float) -> list[float]:
        return [(1 - t) ** 2 * a + 2 * t * (1 - t) * b + t**2 * c for t in parts]

    return along(start.x, middle_x, end.x), along(start.y, middle_y, end.y)
