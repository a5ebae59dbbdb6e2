# SPDX-License-Identifier: GPL-2.0-or-later
"""What all kinds of plots have in common, and the published values in them.

A trace names its colour by role ("role:large"); the page's script replaces roles by the theme's colours, so that the
same figure is readable in light and dark.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ConfigDict

from cobnut.results import Result

if TYPE_CHECKING:  # matplotlib takes half a second to import, which only a picture should cost
    from matplotlib.axes import Axes

Drawn = tuple[list[dict[str, Any]], dict[str, Any]]  # what plotly draws, and the layout around it


@dataclass(frozen=True)
class Mark:
    """A published value to draw into a plot: a point, or a line across it where only one coordinate is given."""

    label: str
    x: int | float | None = None
    y: int | float | None = None


@dataclass(frozen=True)
class Plot:
    """One picture of a report, in terms of a result; a `wide` one takes a row for itself."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # where one is read from a file

    title: str
    caption: str = field(default="", kw_only=True)
    wide: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Chart(Plot, ABC):
    """A plot that plotly draws, with published values as marks."""

    marks: tuple[Mark, ...] = field(default=(), kw_only=True)

    def figure(self, result: Result) -> dict[str, Any]:
        """The plotly figure, as plain data."""
        data, layout = self.traces(result)
        shapes, marks, notes = _drawn(self.all_marks, self.widest(result))
        x_title, y_title = self.axes
        layout |= {
            "xaxis": {"title": {"text": x_title}, "automargin": True, **layout.get("xaxis", {})},
            "yaxis": {"title": {"text": y_title}, "automargin": True, "rangemode": "tozero", **layout.get("yaxis", {})},
            "shapes": shapes,
            "annotations": notes,
        }
        return {"data": [*data, *marks], "layout": layout}

    @property
    def all_marks(self) -> tuple[Mark, ...]:
        return self.marks

    @property
    @abstractmethod
    def axes(self) -> tuple[str, str]:
        """What the axes are called."""

    @abstractmethod
    def traces(self, result: Result) -> Drawn:
        """What is drawn of `result`, without marks, and what of the layout is this plot's own."""

    def widest(self, result: Result) -> float:
        """How far the first of its series goes to the right, for a mark's label; 0 without numbers."""
        return 0


class Pictured(ABC):
    """A plot that can be drawn as a still picture, too. Those that are `stacked` stand in two rows."""

    stacked: ClassVar[bool] = True

    @abstractmethod
    def draw(self, axis: "Axes", result: Result, legend_room: float) -> None:
        """Draws it; the legend takes the share `legend_room` of the height for each of its lines."""


def furthest(result: Result, names: Iterable[str]) -> float:
    """The greatest x of the first series that there is of these names; 0 where x holds names."""
    series = next((found for name in names if (found := result.find(name))), None)
    return max((x for x in series.x if isinstance(x, (int, float))), default=0) if series else 0


def _drawn(given: tuple[Mark, ...], widest: float) -> tuple[list[dict], list[dict], list[dict]]:
    """Published values: points as a series of their own, single coordinates as lines across the plot."""
    shapes, notes = [], []
    points = [(mark.x, mark.y, mark.label) for mark in given if mark.x is not None and mark.y is not None]
    for mark in given:
        if mark.x is None and mark.y is not None:
            shapes.append(
                {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": mark.y, "y1": mark.y, "role": "published"}
            )
            notes.append(
                {
                    "xref": "paper",
                    "x": 1,
                    "xanchor": "right",
                    "y": mark.y,
                    "yanchor": "bottom",
                    "text": mark.label,
                    "showarrow": False,
                    "role": "published",
                }
            )
        elif mark.y is None and mark.x is not None:
            shapes.append(
                {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": mark.x, "x1": mark.x, "role": "published"}
            )
    traces = []
    if points:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "published",
                "x": [x for x, _, _ in points],
                "y": [y for _, y, _ in points],
                "text": [label for _, _, label in points],
                "role": "published",
                "marker": {"symbol": "diamond-open", "size": 13, "line": {"width": 2.5}},
                "hovertemplate": "%{text}<extra>published</extra>",
            }
        )
        for x, y, label in points:
            at_right = x > widest / 2
            notes.append(
                {
                    "x": x,
                    "y": y,
                    "text": label,
                    "showarrow": False,
                    "xanchor": "right" if at_right else "left",
                    "xshift": -12 if at_right else 12,
                    "role": "published",
                }
            )
    return shapes, traces, notes
