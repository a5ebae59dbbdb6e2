# SPDX-License-Identifier: GPL-2.0-or-later
"""A still picture of an experiment's curves, for a README or a paper. The report is the place to explore them."""

from pathlib import Path

from cobnut.errors import CobnutError
from cobnut.experiments import Experiment
from cobnut.plots import Pictured
from cobnut.plots.colours import GRID, INK
from cobnut.results import Result

LEGEND_ROOM = (0.09, 0.17)  # above the curves of the upper and the lower row, for each line of the legend


def write(result: Result, experiment: Experiment, path: Path) -> None:
    """Draws every curve of `experiment` into one PNG: a column for each part, cycles above, their ratio below; graphs
    side by side.
    """
    plots = [plot for plot in experiment.plots(result) if isinstance(plot, Pictured)]
    if not plots:
        raise CobnutError(f"{experiment.name} has no curves to draw")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = 2 if any(plot.stacked for plot in plots) else 1
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
            plot.draw(axes[index % rows][index // rows], result, LEGEND_ROOM[index % rows])
        short = result.provenance.revision[:12]
        figure.suptitle(experiment.sheet.title, x=0.01, ha="left", fontsize=13, fontweight="bold")
        figure.text(
            0.01,
            0.005,
            f"cycles are modelled: {result.machine}; kernel and programs run on {result.provenance.emulator}, revision"
            f" {short}; diamonds and dashes: {experiment.sheet.source}",
            fontsize=7.5,
            color="#626872",
        )
        figure.tight_layout(rect=(0, 0.025, 1, 0.98))
        figure.savefig(path, dpi=130, metadata={"Software": None})
        pyplot.close(figure)
