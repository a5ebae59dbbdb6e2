# SPDX-License-Identifier: GPL-2.0-or-later
"""Results on the console: a table on a terminal, for which rich is loaded, one plain line for each row elsewhere."""

import sys
from collections.abc import Sequence
from typing import Literal

from cobnut.causes import TAKERS, by_taker
from cobnut.checks import Verdict, by_kind, in_words, met
from cobnut.measured import Measured, Region, read
from cobnut.recording import Replayed
from cobnut.results import Result, number
from cobnut.sweeping import moved

WIDE = 10_000  # columns: wide enough for any table
MOST_CAUSES = MOST_CASES = 5
MOST_FUNCTIONS = 10
SHOWN: dict[Verdict, str] = {"ok": "ok", "known_miss": "known miss", "failed": "NOT OK"}
STYLES = {SHOWN["known_miss"]: "yellow", SHOWN["failed"]: "red"}


def show_checks(result: Result) -> None:
    """Every check by its kind, for those that are not ok the whole reason, and how many of each kind are."""
    for kind, checks in by_kind(result.checks).items():
        rows = [
            (SHOWN[check.verdict], check.name, number(check.published), number(check.measured), check.unit)
            for check in checks
        ]
        show(f"{result.experiment}: {met(kind, checks)}", ("", "check", "published", "measured", "unit"), rows)
    for check in result.checks:
        if not check.ok:
            print(f"{SHOWN[check.verdict].lower()}: {check.name} is {number(check.measured)}, wanted {check.why}")
    print(f"{result.experiment}: {in_words(result.checks)}")


def show_sweep(result: Result) -> None:
    """The checks that a sweep moved, how far, and by which of the machine's numbers most."""
    rows = [(name, number(value), number(least), number(most), by) for name, value, least, most, by in moved(result)]
    if rows:
        show(
            f"{result.experiment}: what the sweep moved", ("check", "measured", "least", "most", "moved most by"), rows
        )


def show_causes(result: Result) -> None:
    """What the refills of some sizes are charged to, in cycles of a round trip."""
    rows = [row for row in result.ledger if row.causes and row.rounds]
    for name in dict.fromkeys(row.name for row in rows):
        same = [row for row in rows if row.name == name]
        shown = same[:: -(-len(same) // MOST_CAUSES)]
        sums = [by_taker(row.causes, row.space, row.total) for row in shown]
        taken = [key for key in TAKERS if any(amounts[key] for amounts in sums)]
        lines = [
            (number(row.x), number(row.total / row.rounds), *(number(amounts[key] / row.rounds) for key in taken))
            for row, amounts in zip(shown, sums, strict=True)
        ]
        heads = ("size", "cycles", *(TAKERS[key] for key in taken))
        show(f"{name}: modelled cycles of a round trip, and who took what had to be refilled", heads, lines)


def show_replay(replayed: Replayed) -> Measured:
    """For each case of a replay, which is returned, modelled cycles of an iteration and where they go."""
    measured = replayed.measured
    name = ", ".join([replayed.machine.name, *measured["machine_set"]])
    if measured.get("without"):
        name += f", without {measured['without']}"
    _show_cases(name, measured)
    return measured


def show_measured(machine: str, text: str) -> Measured:
    """The same of what the plugin wrote, which it returns."""
    measured = read(text)
    _show_cases(machine, measured)
    return measured


def _show_cases(name: str, measured: Measured) -> None:
    regions = [region for region in measured["regions"] if region["iterations"]]
    if not regions:
        # The guest has no marks: the run is shown as a whole.
        totals = measured["totals"]
        spent = [(key.replace("_", " "), f"{cycles:,}") for key, cycles in totals["ledger"].items() if cycles]
        show(f"{name}: modelled cycles of the whole run", ("", "cycles"), [*spent, ("total", f"{totals['cycles']:,}")])
        show_processes(measured)
        return
    paid = [key for key in regions[0]["ledger"] if any(region["ledger"][key] for region in regions)]
    rows = []
    for region in regions:
        count = region["iterations"]
        sums = [region["cycles_total"], *(region["ledger"][key] for key in paid)]
        rows.append((str(region["case"]), str(count), *(number(cycles / max(count, 1)) for cycles in sums)))
    heads = ("case", "iterations", "cycles", *(key.replace("_", " ") for key in paid))
    show(f"{name}: modelled cycles of an iteration", heads, rows)
    show_processes(measured)
    _show_functions(name, regions[:: -(-len(regions) // MOST_CASES)])


def show_processes(measured: Measured) -> None:
    """Who has run in each space, if that was asked for."""
    rows = [(space, ", ".join(names)) for space, names in measured.get("processes", {}).items()]
    if rows:
        show("spaces, and the processes that ran in them", ("space", "processes"), rows)


def _show_functions(name: str, regions: Sequence[Region]) -> None:
    """What the dearest functions cost in some cases; `user` is all that is not the kernel."""
    cycles = [
        {one["symbol"]: one["cycles"] / region["iterations"] for one in region.get("functions", [])}
        for region in regions
    ]
    every = sorted({symbol for case in cycles for symbol in case}, key=lambda one: -sum(c.get(one, 0) for c in cycles))
    rows = [(one, *(number(case.get(one, 0)) for case in cycles)) for one in every[:MOST_FUNCTIONS]]
    if others := every[MOST_FUNCTIONS:]:
        rows.append((f"{len(others)} others", *(number(sum(case.get(o, 0) for o in others)) for case in cycles)))
    if rows:
        heads = ("function", *(f"case {region['case']}" for region in regions))
        show(f"{name}: modelled cycles of an iteration, by function with its refills", heads, rows)


def show_rows(result: Result, title: str, names: Sequence[str]) -> None:
    """Series over the same names, a row for each, called after what follows the first point of its name."""
    found = [series for series in map(result.find, names) if series is not None]
    rows = [((one.name.partition(".")[2] or one.name).replace("_", " "), *map(number, one.y)) for one in found]
    show(title, ("", *map(str, found[0].x)), rows)


def show_columns(result: Result, title: str, names: Sequence[str]) -> None:
    """Series over the same names, a column for each."""
    found = [series for series in map(result.find, names) if series is not None]
    rows = [
        (str(name), *map(number, values)) for name, *values in zip(found[0].x, *(one.y for one in found), strict=True)
    ]
    show(title, ("", *(one.unit for one in found)), rows)


def show_ledger(result: Result) -> None:
    """Modelled cycles of a round trip by category, a column for each row of the ledger."""
    paid = [key for key in result.ledger[0].entries if any(row.entries[key] for row in result.ledger)]
    each = [(row, max(row.rounds, 1)) for row in result.ledger]
    rows = [(key.replace("_", " "), *(number(row.entries[key] / n) for row, n in each)) for key in paid]
    rows.append(("total", *(number(row.total / n) for row, n in each)))
    show("modelled cycles of a round trip", ("", *(row.name for row in result.ledger)), rows)


def show(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """Rows of cells below their heads."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.measure import Measurement
        from rich.table import Table

        console = Console()
        table = Table(title=title, title_justify="left")
        for index, head in enumerate(heads):
            names = index == 0 or head == "check"  # a name that is cut or broken is none
            widest = max(len(row[index]) for row in [heads, *rows]) if names else None
            justify: Literal["left", "right"] = "left" if names or head == "unit" else "right"
            table.add_column(head, justify=justify, no_wrap=names, min_width=widest)
        for row in rows:
            table.add_row(*row, style=STYLES.get(row[0]))
        if Measurement.get(console, console.options.update_width(WIDE), table).minimum <= console.width:
            console.print(table)
            return
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    print(title)
    for row in [heads, *rows]:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
