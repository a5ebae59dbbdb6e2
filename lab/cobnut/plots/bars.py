# SPDX-License-Identifier: GPL-2.0-or-later
"""Bars over names, those of several series on top of each other."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cobnut.plots.base import Chart, Drawn, furthest
from cobnut.results import Result


@dataclass(frozen=True)
class Bars(Chart):
    """`series` maps names to labels; `rows` says what the x are called that are not called by their own names."""

    x_title: str
    y_title: str
    series: dict[str, str]
    rows: Mapping[str, str] = field(default_factory=dict, kw_only=True)

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
                        "text": series.y,
                        "textposition": "auto",
                        "textangle": 0,
                        "constraintext": "none",
                        "hovertemplate": f"%{{x}}: %{{y:,.5~g}} {series.unit}<extra>{label}</extra>",
                    }
                )
        return data, {"barmode": "stack"}
