# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars over names, those of several series on top of each other or side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cobnut.plots.base import Chart, Drawn, furthest
from cobnut.results import Result, Series, number

# Of the axis, over the highest bar with its number: that stands upright where bars stand apart.
APART, STACKED = 1.4, 1.1


@dataclass(frozen=True)
class Bars(Chart):
    """`series` maps names to labels; `rows` says what the x are called that are not called by their own names. Series
    that are no parts of a whole stand `apart`.
    """

    x_title: str
    y_title: str
    series: dict[str, str]
    rows: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    apart: bool = field(default=False, kw_only=True)

    @property
    def axes(self) -> tuple[str, str]:
        return self.x_title, self.y_title

    def widest(self, result: Result) -> float:
        return furthest(result, self.series)

    def traces(self, result: Result) -> Drawn:
        data = []
        for index, (name, label) in enumerate(self.series.items()):
            series = result.find(name)
            if series is not None:
                names = [self.rows.get(str(x), str(x).replace("_", " → ")) for x in series.x]
                data.append(
                    {
                        "type": "bar",
                        "name": label,
                        "x": names,
                        "y": series.y,
                        "role": f"step{index}",
                        "text": ["" if y is None else number(y) for y in series.y],
                        "textposition": "outside" if self.apart else "auto",
                        "textangle": -90 if self.apart else 0,
                        "constraintext": "none",
                        "hovertemplate": f"%{{x}}: %{{y:,.5~g}} {series.unit}<extra>{label}</extra>",
                    }
                )
        there = [one for one in map(result.find, self.series) if one is not None]
        if self.apart:
            return data, {"barmode": "group", "yaxis": {"range": _axis([one.y for one in there], APART)}}
        return data, {"barmode": "stack", "yaxis": {"range": _axis(_stacks(there), STACKED)}}


def _stacks(there: Sequence[Series]) -> list[list[float]]:
    """How high the bars of all series are together, for each x."""
    heights: dict[object, float] = {}
    for one in there:
        for x, y in zip(one.x, one.y, strict=True):
            heights[x] = heights.get(x, 0) + (y or 0)
    return [list(heights.values())]


def _axis(bars: Sequence[Sequence[float | None]], headroom: float) -> list[float]:
    """From 0, or from below the lowest bar."""
    ends = [0, *(y for one in bars for y in one if y is not None)]
    return [headroom * min(ends), headroom * max(ends)]
