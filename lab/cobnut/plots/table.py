# SPDX-License-Identifier: GPL-2.0-or-later
"""A table, for a page."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from cobnut.plots.base import Plot
from cobnut.results import Result


@dataclass(frozen=True)
class Table(Plot):
    """`series` maps names to the heads of columns, over rows that go by `x_title`; `rows` says what the x are called
    that are not called by their own names.
    """

    x_title: str
    series: dict[str, str]
    rows: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    def table(self, result: Result) -> list[tuple[str, list[float | None]]]:
        """Each row's name and its cells, one for each of the series; None where nothing was measured."""
        columns = [result.find(name) for name in self.series]
        names = next((list(series.x) for series in columns if series), [])
        cells = [dict(zip(series.x, series.y, strict=True)) if series else {} for series in columns]
        return [(self.rows.get(str(name), str(name)), [column.get(name) for column in cells]) for name in names]
