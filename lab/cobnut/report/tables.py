# SPDX-License-Identifier: GPL-2.0-or-later
"""From a plot of the kind "table" to the cells of an HTML table."""

from cobnut.experiments import Plot
from cobnut.results import Result


def rows(plot: Plot, result: Result) -> list[tuple[str, list[float | None]]]:
    """Each row's name and its cells, one for each of the plot's series; None where nothing was measured."""
    columns = [result.find(name) for name in plot.series]
    names = next((list(series.x) for series in columns if series), [])
    cells = [dict(zip(series.x, series.y, strict=True)) if series else {} for series in columns]
    return [(plot.rows.get(str(name), str(name)), [column.get(name) for column in cells]) for name in names]
