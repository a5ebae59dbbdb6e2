# SPDX-License-Identifier: GPL-2.0-or-later
"""Curves, over numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cobnut.plots.base import Chart, Drawn, Pictured, furthest
from cobnut.plots.colours import BAND, COLOURS, GRID, PUBLISHED
from cobnut.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# role of a series: by the words in its name, so that large and small spaces look the same in every picture
ROLES = (
    ("standard.same", "large2"),
    ("fast.different", "small"),
    ("fast.same", "small2"),
    ("large_large", "large"),
    ("small_small", "small"),
    ("standard", "large"),
    ("segmented", "small"),
    ("ratio", "accent"),
    ("low", "small"),
    ("high", "large"),
    ("charged", "large"),
    ("saved", "small"),
    (".large", "large"),
    (".fixed", "step1"),
    (".automatic", "step0"),
)
OTHERS = ("accent", "large", "small", "small2", "large2", "spare")  # in turn, for what has no role of its own


@dataclass(frozen=True)
class Lines(Chart, Pictured):
    """A curve for each of `series`, which maps names to labels; `band` names two series to shade the room between."""

    x_title: str
    y_title: str
    series: dict[str, str]
    band: tuple[str, str] | None = field(default=None, kw_only=True)

    @property
    def axes(self) -> tuple[str, str]:
        return self.x_title, self.y_title

    def widest(self, result: Result) -> float:
        return furthest(result, self.series)

    def traces(self, result: Result) -> Drawn:
        data = self._band(result)
        role = self.roles
        for name, label in self.series.items():
            series = result.find(name)
            if series is not None:
                data.append(
                    {
                        "type": "scatter",
                        "mode": "lines+markers",
                        "name": label,
                        "x": series.x,
                        "y": series.y,
                        "role": role[name],
                        "hovertemplate": f"%{{x:,}}: %{{y:,.5~g}} {series.unit}<extra>{label}</extra>",
                    }
                )
        return data, {"hovermode": "x unified"}

    def _band(self, result: Result) -> list[dict[str, Any]]:
        """The shaded room between two series, below the curves."""
        least, most = (result.find(name) for name in self.band) if self.band else (None, None)
        if least is None or most is None:
            return []
        edge = {"type": "scatter", "mode": "lines", "role": "band", "showlegend": False, "hoverinfo": "skip"}
        return [
            {**edge, "x": least.x, "y": least.y},
            {
                **edge,
                "x": most.x,
                "y": most.y,
                "fill": "tonexty",
                "name": "open numbers at their ends",
                "showlegend": True,
            },
        ]

    @property
    def roles(self) -> dict[str, str]:
        """The role of each curve: that of the words in its name, or one that no other curve has."""
        own = {name: next((role for word, role in ROLES if word in name), None) for name in self.series}
        found: dict[str, str] = {}
        for name, role in own.items():
            taken = {*found.values(), *(one for one in own.values() if one and one != role)}
            free = [one for one in OTHERS if one not in taken]
            found[name] = role if role and role not in found.values() else free[0] if free else OTHERS[0]
        return found

    def draw(self, axis: "Axes", result: Result, legend_room: float) -> None:
        least, most = (result.find(name) for name in self.band) if self.band else (None, None)
        if least and most:
            axis.fill_between(
                least.x, gapped(least.y), gapped(most.y), color=BAND, linewidth=0, label="open numbers at their ends"
            )
        role = self.roles
        for name, label in self.series.items():
            series = result.find(name)
            if series is not None:
                axis.plot(
                    series.x,
                    gapped(series.y),
                    marker="o",
                    markersize=2.2,
                    linewidth=1.8,
                    label=label,
                    color=COLOURS[role[name]],
                )
        for mark in self.marks:
            if mark.x is not None and mark.y is not None:
                axis.plot(
                    [mark.x],
                    [mark.y],
                    marker="D",
                    markersize=7,
                    markerfacecolor="none",
                    markeredgewidth=1.8,
                    color=PUBLISHED,
                    linestyle="none",
                    label=mark.label,
                )
            elif mark.y is not None:
                axis.axhline(mark.y, color=PUBLISHED, linestyle="--", linewidth=1.2, label=mark.label)
        axis.set_title(self.title, loc="left", fontsize=10)
        axis.locator_params(axis="x", nbins=6)
        axis.set_xlabel(self.x_title)
        axis.set_ylabel(self.y_title)
        axis.set_ylim(bottom=0, top=axis.get_ylim()[1] * (1 + legend_room * len(axis.get_legend_handles_labels()[0])))
        axis.grid(color=GRID, linewidth=0.7)
        axis.set_axisbelow(True)
        axis.legend(fontsize=7.5, frameon=False, loc="upper left")
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)


def gapped(values: Sequence[float | None]) -> list[float]:
    """The values as matplotlib takes them: one that is missing leaves a gap."""
    return [math.nan if value is None else value for value in values]
