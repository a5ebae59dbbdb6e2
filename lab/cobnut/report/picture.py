# SPDX-License-Identifier: GPL-2.0-or-later
"""A still picture of an experiment's curves, for a README or a paper. The report is the place to explore them."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Plot
from cobnut.report import figures, graphs
from cobnut.results import Result

if TYPE_CHECKING:  # matplotlib takes half a second to import, which only a picture should cost
    from matplotlib.axes import Axes

LEGEND_ROOM = (0.09, 0.17)  # above the curves of the upper and the lower row, for each line of the legend
BAND = "#d6e2e6"
GROUPS = ("#4f7cac", "#7fb069", "#d1495b", "#edae49", "#8d6b94", "#6b705c", "#e07a5f", "#b23a48")
DRAWN = ("lines", "graph")
PUBLISHED, INK, GRID = "#98670a", "#22252a", "#e3e1da"
COLOURS = {
    "large": "#b4472e",
    "small": "#1f6f8b",
    "accent": "#6a4c93",
    "large2": "#d9608f",
    "small2": "#3d9a50",
    "spare": "#5b6470",
    "step0": "#1f6f8b",
    "step1": "#98670a",
}


def write(result: Result, experiment: Experiment, path: Path) -> None:
    """Draws every curve of `experiment` into one PNG: a column for each part, cycles above, their ratio below; graphs
    side by side.
    """
    plots = [plot for plot in experiment.plots(result) if plot.kind in DRAWN]
    if not plots:
        raise CobnutError(f"{experiment.name} has no curves to draw")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = 1 if all(plot.kind == "graph" for plot in plots) else 2
    columns = (len(plots) + rows - 1) // rows
    with pyplot.rc_context(
        {
            "font.family": "DejaVu Sans",
            "font.size": 9,
            "axes.edgecolor": GRID,
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
        }
    ):
        size = (5.6 * columns, 6.6) if rows == 1 else (4.1 * columns, 6.6)
        figure, axes = pyplot.subplots(rows, columns, figsize=size, height_ratios=(3, 2)[:rows], squeeze=False)
        for index, plot in enumerate(plots):
            if plot.kind == "graph":
                _draw_graph(axes[index % rows][index // rows], plot, result)
                continue
            _draw(axes[index % rows][index // rows], plot, result, LEGEND_ROOM[index % rows])
        short = result.provenance.revision[:12]
        figure.suptitle(experiment.title, x=0.01, ha="left", fontsize=13, fontweight="bold")
        figure.text(
            0.01,
            0.005,
            f"cycles are modelled: {result.machine}; kernel and programs run on {result.provenance.emulator}, revision"
            f" {short}; diamonds and dashes: {experiment.source}",
            fontsize=7.5,
            color="#626872",
        )
        figure.tight_layout(rect=(0, 0.025, 1, 0.98))
        figure.savefig(path, dpi=130, metadata={"Software": None})
        pyplot.close(figure)


def _draw(axis: "Axes", plot: Plot, result: Result, legend_room: float) -> None:
    least, most = (result.find(name) for name in plot.band) if plot.band else (None, None)
    if least and most:
        axis.fill_between(
            least.x, gapped(least.y), gapped(most.y), color=BAND, linewidth=0, label="open numbers at their ends"
        )
    role = figures.roles(plot)
    for name, label in plot.series.items():
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
    for mark in plot.marks:
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
    axis.set_title(plot.title, loc="left", fontsize=10)
    axis.locator_params(axis="x", nbins=6)
    axis.set_xlabel(plot.x_title)
    axis.set_ylabel(plot.y_title)
    axis.set_ylim(bottom=0, top=axis.get_ylim()[1] * (1 + legend_room * len(axis.get_legend_handles_labels()[0])))
    axis.grid(color=GRID, linewidth=0.7)
    axis.set_axisbelow(True)
    axis.legend(fontsize=7.5, frameon=False, loc="upper left")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def gapped(values: Sequence[float | None]) -> list[float]:
    """The values as matplotlib takes them: one that is missing leaves a gap."""
    return [math.nan if value is None else value for value in values]


def _draw_graph(axis: "Axes", plot: Plot, result: Result) -> None:
    nodes, edges = graphs.layout(plot, result)
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
        axis.text(node.x, node.y, node.name, ha="center", va="center", fontsize=8, color="white", zorder=4)
    axis.set_title(plot.title, loc="left", fontsize=10)
    axis.set_xlim(-1.25, 1.25)
    axis.set_ylim(-1.25, 1.25)
    axis.set_aspect("equal")
    axis.axis("off")


def _group_colour(group: int | None) -> str:
    return "#8a9098" if group is None else GROUPS[group % len(GROUPS)]
