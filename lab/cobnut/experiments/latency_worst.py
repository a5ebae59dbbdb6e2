# SPDX-License-Identifier: GPL-2.0-or-later
"""`latency/worst`: the longest stretch with interrupts off for each way in which users can provoke one
(docs/preemption.md).
"""

from cobnut import boards, sheets, stretches
from cobnut.checks import Check, at_most, judge
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.results import Result, Series
from cobnut.stretches import Stretch

SHEET = sheets.beside(__file__)

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

    def one(spaces: int) -> dict[str, Stretch]:
        return stretches.measure(lab.board, spaces=spaces, threads=lab.settings["threads"])

    found = runner.mapped(lab, sizes, one, lambda spaces: f"{spaces} spaces", at_once=1)
    return lab.result(series_of(found), judge_all(found))


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


def markdown(result: Result) -> str:
    """A result as the table of docs/preemption.md: the numbers of spaces side by side, the longest first."""
    of, lines = result.provenance, result.series
    counts = {name: [line.y[index] or 0 for line in lines] for index, name in enumerate(lines[0].x)}
    written = [
        f"Commit {of.revision}, {of.date[:10]}, {of.emulator}:",
        "",
        _row(["provoked by", *(line.name.removeprefix("spaces_") + " spaces" for line in lines)]),
        _row(["---", *["---:"] * len(lines)]),
        *(
            _row([f"`{name}`", *(f"{count:,}" for count in counts[name])])
            for name in sorted(counts, key=lambda name: -max(counts[name]))
        ),
    ]
    return "\n".join(written)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def show(result: Result) -> None:
    """Prints the table for docs/preemption.md."""
    print(markdown(result))


EXPERIMENT = Experiment(
    name="latency/worst",
    sheet=SHEET,
    kind=Kind.STUDY,
    boards=("pc", "versatilepb", "collie"),
    settings={"threads": Setting(200, 200, range(1, 201), "that wait in one queue, where a case makes them")},
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
