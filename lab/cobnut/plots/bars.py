# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars over names, those of several series on top of each other or side by side."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cobnut.plots.base import Chart, Drawn, furthest
from cobnut.results import Result, number

HEADROOM = 1.4  # of the axis, over the highest bar with its number


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
        if not self.apart:
            return data, {"barmode": "stack"}
        there = [one for one in map(result.find, self.series) if one is not None]
        highest = max((y for one in there for y in one.y if y is not None), default=0)
        return data, {"barmode": "group", "yaxis": {"range": [0, HEADROOM * highest]}}
