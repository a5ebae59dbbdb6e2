# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of plots that a report is made of: what each shows of a result, and how it is drawn.

For a page, a plot is data and layout for plotly.js; for a picture, some can draw themselves with matplotlib. A kind of
plot is a class of its own; a new one needs no more than that.
"""

from cobnut.plots.bars import Bars
from cobnut.plots.base import Chart, Mark, Pictured, Plot
from cobnut.plots.graph import SwitchGraph
from cobnut.plots.ledger import Causes, Ledger
from cobnut.plots.lines import Lines
from cobnut.plots.ranges import Ranges
from cobnut.plots.table import Table

__all__ = ["Bars", "Causes", "Chart", "Ledger", "Lines", "Mark", "Pictured", "Plot", "Ranges", "SwitchGraph", "Table"]
