# SPDX-License-Identifier: GPL-2.0-or-later
"""`latency/worst`: the longest stretch with interrupts off for each way in which users can provoke one
(docs/preemption.md).
"""

from dataclasses import asdict
from typing import Any

from cobnut import boards, results, stretches
from cobnut.checks import Check, at_most, judge
from cobnut.experiments import Experiment, Lab, Plot, Setting
from cobnut.results import Result, Series
from cobnut.stretches import Stretch

SPACES = (2, 100, 1000)
SPACES_ON_ARM = (2, 100, 480)  # each has a megabyte of 512 for its UTCBs there, and the tests make some
LIMIT = 20_000  # instructions
GROWTH, SLACK = (
    1.1,
    500,
)  # from the fewest spaces to the most: what lies side by side in caches of page tables is by chance


def run(lab: Lab) -> Result:
    """Boots once for each number of spaces."""
    every = SPACES_ON_ARM if lab.board.processor is boards.ARM else SPACES
    sizes = every[:2] if lab.quick else every
    lab.meter.total(len(sizes))
    origin = results.provenance(lab.emulator, None)
    found = {}
    for spaces in sizes:
        found[spaces] = stretches.measure(lab.board, spaces=spaces, threads=lab.settings["threads"])
        lab.meter.advance(note=f"{spaces} spaces")
    return Result("latency/worst", None, origin, series_of(found), judge_all(found), [])


def judge_all(found: dict[int, dict[str, Stretch]]) -> list[Check]:
    """Each case against the limit, and the most spaces against the fewest."""
    few, many = found[min(found)], found[max(found)]
    checks = []
    for name in few:
        worst = max((one[name] for one in found.values()), key=lambda stretch: stretch.instructions)
        why = (
            f"Longest stretch with interrupts off, among {', '.join(map(str, found))} spaces; mostly in"
            f" {', '.join(worst.most_in)}."
        )
        checks.append(judge(f"{name}.longest", worst.instructions, "instructions", at_most(LIMIT), why))
        bound = GROWTH * few[name].instructions + SLACK
        grown = f"The same with {max(found)} spaces, where it was {few[name].instructions:,} with {min(found)}."
        checks.append(judge(f"{name}.growth", many[name].instructions, "instructions", at_most(bound), grown))
    return checks


def series_of(found: dict[int, dict[str, Stretch]]) -> list[Series]:
    names = list(found[min(found)])
    return [
        Series(f"spaces_{spaces}", "instructions", names, [one[name].instructions for name in names])
        for spaces, one in found.items()
    ]


def plots(result: Result) -> list[Plot]:
    columns = {line.name: f"{line.name.removeprefix('spaces_')} spaces" for line in result.series}
    return [Plot("table", "Longest stretch with interrupts off", "provoked by", "instructions", columns)]


def markdown(document: dict[str, Any]) -> str:
    """A result in its JSON form as the table of docs/preemption.md: the numbers of spaces side by side, the longest
    first.
    """
    of, lines = document["provenance"], document["series"]
    heads = ["provoked by", *(line["name"].removeprefix("spaces_") + " spaces" for line in lines)]
    rows = sorted(zip(lines[0]["x"], *(line["y"] for line in lines), strict=True), key=lambda row: -max(row[1:]))
    written = [
        f"Commit {of['revision']}, {of['date'][:10]}, {of['emulator']}:",
        "",
        _row(heads),
        _row(["---", *["---:"] * len(lines)]),
        *(_row([f"`{name}`", *(f"{count:,}" for count in counts)]) for name, *counts in rows),
    ]
    return "\n".join(written)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def show(result: Result) -> None:
    """Prints the table for docs/preemption.md."""
    print(markdown(asdict(result)))


EXPERIMENT = Experiment(
    name="latency/worst",
    title="How long users can keep interrupts waiting",
    source="Counts of this kernel; no system call is to keep interrupts off for longer than a bound",
    machine="pentium4-1400",
    boards=("pc", "versatilepb", "collie"),
    settings={"threads": Setting(200, 200, range(1, 201), "that wait in one queue, where a case makes them")},
    run=run,
    plots=plots,
    show=show,
    story=(
        "x2test provokes what takes the kernel long, one case after the other, while other spaces do nothing. The"
        " emulator's plugin follows each instruction of the kernel, from an entry or a preemption point to the next"
        " preemption point, to idling or to user mode, and keeps the longest stretch."
    ),
    cannot_say=(
        "Instructions are counted, not cycles: a cold cache, a device register or a flush of a cache costs more.",
        "A repeated string instruction counts as often as QEMU starts it.",
        "It is the longest stretch that these cases provoke; one that nobody has thought of is not among them.",
    ),
)
