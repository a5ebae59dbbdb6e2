# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut demo`: the shortest way from a fresh clone to the figure.

It shows, and does not judge: its status says whether it came to its end. What the checks say stands in the table and
the report; `./cobnut run` makes it the status.
"""

import time
from collections.abc import Sequence

from cobnut import paths, running, tables
from cobnut.experiments import uhlig02_fig4 as figure
from cobnut.results import Result, number

NAME = figure.EXPERIMENT.name
MOST_ROWS = 12  # of each curve


def run() -> int:
    """Runs the figure with its report; returns the exit status."""
    start = time.monotonic()
    done = running.run(NAME, board="pc", machine=None, given=[], quick=True, report_folder=paths.REPORTS)
    print(
        f"{done.experiment.sheet.title}\n{done.experiment.sheet.source}; cycles are modelled: {done.result.machine}\n"
    )
    show_curves(done.result)
    tables.show_checks(done.result)
    for note in done.notes:
        print(note)
    print(f"report: {paths.shown(done.page)}  (open it in a browser)")
    print(
        f"{time.monotonic() - start:.0f} s. All sizes and rounds: ./cobnut run {NAME}; everything else: ./cobnut list"
    )
    return 0


def show_curves(result: Result) -> None:
    """The curves as rows, some of the sizes: cycles of a round trip in both kinds of space, their ratio."""
    for letter, title in (("a", "bytes of nops"), ("b", "pages jumped to"), ("c", "pages read")):
        large, small, ratio = (result.find(f"{letter}.{name}") for name in (figure.LARGE, figure.SMALL, "ratio"))
        if large and small and ratio:
            columns: list[Sequence[float | str | None]] = [large.x, large.y, small.y, ratio.y]
            rows = [tuple(map(number, row)) for row in zip(*columns, strict=True)]
            step = -(-len(rows) // MOST_ROWS)
            shown = rows[::step] if (len(rows) - 1) % step == 0 else [*rows[::step], rows[-1]]
            tables.show(f"({letter}) modelled cycles of a round trip", (title, "large", "small", "large/small"), shown)
