# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a run: one self-contained HTML page, made from the result and the experiment's description of its
plots.

`figures` turns plots into what plotly.js draws, `page` fills the template. The page carries plotly.js itself, so that
it can be opened years later on a machine without a network.
"""

from cobnut.report.page import write

__all__ = ["write"]
