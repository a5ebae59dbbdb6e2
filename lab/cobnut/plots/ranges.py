# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars from one value to another, around what it is without a change."""

from dataclasses import dataclass, field

from cobnut.plots.base import Chart, Drawn, Mark
from cobnut.results import Result

ENDS = ("at its low end", "at its high end")


@dataclass(frozen=True)
class Ranges(Chart):
    """What a `value` becomes with each of a number of parameters `at its low end` and `at its high end`, which are the
    series `low` and `high` over their names. Those that come from the value by less than the share `least` of it are
    left out.
    """

    x_title: str
    low: str
    high: str
    value: float
    least: float = field(default=0.0, kw_only=True)

    @property
    def axes(self) -> tuple[str, str]:
        return self.x_title, ""

    @property
    def all_marks(self) -> tuple[Mark, ...]:
        return (*self.marks, Mark("as it is", x=self.value))

    def traces(self, result: Result) -> Drawn:
        lows, highs = result.find(self.low), result.find(self.high)
        rows = []
        if lows is not None and highs is not None:
            rows = [
                (x, low, high)
                for x, low, high in zip(lows.x, lows.y, highs.y, strict=True)
                if low is not None and high is not None
            ]
        value = self.value
        rows = [row for row in rows if max(abs(row[1] - value), abs(row[2] - value)) >= self.least * value]
        rows.sort(key=lambda row: abs(row[2] - row[1]))
        names = [row[0] for row in rows]
        data = [
            {
                "type": "bar",
                "orientation": "h",
                "y": names,
                "base": [min(row[1:]) for row in rows],
                "x": [abs(row[2] - row[1]) for row in rows],
                "role": "band",
                "showlegend": False,
                "hoverinfo": "skip",
            }
        ]
        for index, label in enumerate(ENDS, start=1):
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": label,
                    "y": names,
                    "x": [row[index] for row in rows],
                    "role": ("small", "large")[index - 1],
                    "marker": {"size": 10, "symbol": ("triangle-left", "triangle-right")[index - 1]},
                    "hovertemplate": f"%{{y}}: %{{x:.4~g}}<extra>{label}</extra>",
                }
            )
        return data, {"barmode": "overlay", "xaxis": {"rangemode": "normal"}, "height": 150 + 26 * max(len(rows), 4)}
