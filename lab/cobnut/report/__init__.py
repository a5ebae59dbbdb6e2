# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a run: an HTML page, made from the result and the experiment's description of its plots.

`page` fills the template with what the plots draw (`cobnut.plots`), `history` lists the reports of a folder.
plotly.js lies beside the pages, once for all of them, so that they can be opened years later on a machine without a
network.
"""

from cobnut.report.page import write

__all__ = ["write"]
