# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut demo`: the shortest way from a fresh clone to the figure.

It shows, and does not judge: its status says whether it came to its end. What the checks say stands in the table and
the report; `./cobnut run` makes it the status.
"""

import time

from cobnut import paths, running, tables
from cobnut.experiments import uhlig02_fig4 as figure

NAME = figure.EXPERIMENT.name


def run() -> int:
    """Runs the figure with its report; returns the exit status."""
    start = time.monotonic()
    done = running.run(NAME, board="pc", machine=None, given=[], quick=True, report_folder=paths.REPORTS)
    print(f"{done.experiment.title}\n{done.experiment.source}; cycles are modelled: {done.result.machine}\n")
    figure.show_curves(done.result)
    tables.show_checks(done.result)
    for note in done.notes:
        print(note)
    print(f"report: {paths.shown(done.page)}  (open it in a browser)")
    print(
        f"{time.monotonic() - start:.0f} s. All sizes and rounds: ./cobnut run {NAME}; everything else: ./cobnut list"
    )
    return 0
