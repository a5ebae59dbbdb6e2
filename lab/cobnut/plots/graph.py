# SPDX-License-Identifier: GPL-2.0-or-later
"""A graph of switches between spaces, for pages and pictures alike.

Nodes of a cluster stand side by side on a circle, those of none in its middle. An edge bends to the left of its way, so
that the two directions between nodes run apart, and its width is a logarithm of how often it is taken.
"""

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from cobnut.plots.base import Chart, Drawn, Pictured
from cobnut.plots.colours import GROUPS
from cobnut.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BEND, STEPS = 0.22, 14
INNER = 0.16  # radius on which several nodes in the middle stand
NOBODYS = 0.5  # by how much edges of no group are narrower
LONGEST_INSIDE, LONGEST = 3, 14  # letters of a name that stands in its node, and of one beside it
LIMIT = 1.4  # what is drawn around the circle of radius 1, names among it
BESIDE = 0.09  # from a node's middle to the name beside it


@dataclass(frozen=True)
class Node:
    name: str
    group: int | None
    x: float
    y: float

    @property
    def label(self) -> str:
        """Its name. Of several processes, each a name and a number, the last and how many more: a shell becomes the
        program that it runs.
        """
        *more, last = re.findall(r"\S+ \d+", self.name) or [self.name]
        return f"{last} +{len(more)}" if more and len(self.name) > LONGEST else self.name

    @property
    def is_inside(self) -> bool:
        """Whether its label stands in it."""
        return len(self.label) <= LONGEST_INSIDE

    @property
    def side(self) -> tuple[str, str]:
        """Where the label is otherwise: top, middle or bottom, and left, center or right."""
        if abs(self.x) > BESIDE:
            return "middle", "right" if self.x > 0 else "left"
        return "bottom" if self.y < -BESIDE else "top", "center"


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


@dataclass(frozen=True)
class SwitchGraph(Chart, Pictured):
    """`edges` is the series of switches over names FROM-TO; `groups` and `clusters` are over the nodes: what colours
    them, and what keeps them side by side.
    """

    edges: str
    groups: str
    clusters: str
    stacked: ClassVar[bool] = False

    @property
    def axes(self) -> tuple[str, str]:
        return "", ""

    def traces(self, result: Result) -> Drawn:
        nodes, edges = self.placed(result)
        data: list[dict] = [
            {
                "type": "scatter",
                "mode": "lines",
                "x": edge.x,
                "y": edge.y,
                "role": _group_role(edge.group),
                "opacity": 1 if edge.group is not None else 0.5,
                "line": {"width": edge.width},
                "showlegend": False,
                "hovertemplate": (f"{edge.start} → {edge.end}: {edge.times:,.0f} switches<extra></extra>"),
            }
            for edge in sorted(edges, key=lambda edge: edge.group is not None)
        ]
        for group in sorted({node.group for node in nodes}, key=lambda group: (group is None, group)):
            members = [node for node in nodes if node.group == group]
            label = "in all" if group is None else f"group {group + 1}"
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers+text",
                    "name": label,
                    "x": [node.x for node in members],
                    "y": [node.y for node in members],
                    "text": [node.label for node in members],
                    "hovertext": [node.name for node in members],
                    "textposition": ["middle center" if node.is_inside else " ".join(node.side) for node in members],
                    "role": _group_role(group),
                    "marker": {"size": 22},
                    "textfont": {"size": 11},
                    "hovertemplate": f"%{{hovertext}}<extra>{label}</extra>",
                }
            )
        hidden = {"visible": False, "range": [-LIMIT, LIMIT]}
        return data, {
            "xaxis": hidden,
            "yaxis": hidden | {"scaleanchor": "x", "rangemode": "normal"},
            "height": 560,
            "hovermode": "closest",
        }

    def placed(self, result: Result) -> tuple[list[Node], list[Edge]]:
        """The nodes and edges, where they are drawn."""
        edges, groups, clusters = map(result.find, (self.edges, self.groups, self.clusters))
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

    def draw(self, axis: "Axes", result: Result, legend_room: float) -> None:
        nodes, edges = self.placed(result)
        for edge in sorted(edges, key=lambda edge: edge.group is not None):
            own = edge.group is not None
            axis.plot(
                edge.x,
                edge.y,
                color=_group_colour(edge.group),
                linewidth=edge.width,
                alpha=1 if own else 0.35,
                zorder=2 if own else 1,
            )
        for node in nodes:
            axis.plot(
                [node.x],
                [node.y],
                marker="o",
                markersize=15,
                color=_group_colour(node.group),
                markeredgecolor="white",
                zorder=3,
            )
            _label(axis, node)
        axis.set_title(self.title, loc="left", fontsize=10)
        axis.set_xlim(-LIMIT, LIMIT)
        axis.set_ylim(-LIMIT, LIMIT)
        axis.set_aspect("equal")
        axis.axis("off")


def _label(axis: "Axes", node: Node) -> None:
    """Writes its label, in it or beside it."""
    if node.is_inside:
        axis.text(node.x, node.y, node.label, ha="center", va="center", fontsize=8, color="white", zorder=4)
        return
    up, across = node.side
    x = node.x + {"left": -BESIDE, "center": 0, "right": BESIDE}[across]
    y = node.y + {"bottom": -BESIDE, "middle": 0, "top": BESIDE}[up]
    ha = {"left": "right", "center": "center", "right": "left"}[across]  # the text ends, or begins, at the node
    va = {"bottom": "top", "middle": "center", "top": "bottom"}[up]
    axis.text(x, y, node.label, ha=ha, va=va, fontsize=8, zorder=4)


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


def _group_role(group: int | None) -> str:
    return "soft" if group is None else f"group{group}"


def _group_colour(group: int | None) -> str:
    return "#8a9098" if group is None else GROUPS[group % len(GROUPS)]
