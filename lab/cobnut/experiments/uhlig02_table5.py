# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/table5`: what small spaces improve over large ones, of each of the paper's applications. Every row is
measured by the experiment that is about it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from cobnut import experiments, progress, published, sheets, tables
from cobnut.checks import Check, Rule, at_least, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PAPERS = "pentium4-1400"  # the paper's machine
PERCENT = 0.01  # what the paper's percentages are told to; and what may be lost on another machine
EVERY = "all"
ENDS = ("least", "most")


@dataclass(frozen=True)
class Row:
    """A row: the experiment that measures it, the names of its checks that are improvements, and what is taken off
    them to be one: 1 of what is large over small.
    """

    name: str
    experiment: str
    checks: tuple[str, ...]
    less: int = 0

    @property
    def is_range(self) -> bool:
        return len(self.checks) > 1

    def measured(self, result: Result) -> list[float]:
        """Of those that the run has: a quick one may leave some out."""
        return [
            check.measured - self.less
            for check in result.checks
            if check.name in self.checks and check.measured is not None
        ]


ROWS = (
    Row("linux", "uhlig02/table2", tuple(f"{call}.gain" for call in published.U02_TABLE2), less=1),
    Row("pipe", "uhlig02/fig6", ("gain.least", "gain.most"), less=1),
    Row("catwc", "uhlig02/catwc", ("saved.cycles",)),
    Row("x", "uhlig02/table3", tuple(f"{request}.gain" for request in published.U02_TABLE3)),
    Row("apache", "uhlig02/fig7", ("apache.gain",)),
    Row("thttpd", "uhlig02/fig7", ("lighttpd.gain",)),
    Row("mysql", "uhlig02/mysql", ("constant.gain", "key.gain", "complex.gain")),
    Row("doom", "uhlig02/fig8", ("gain.frames",)),
    Row("gcc", "uhlig02/gcc", ("saved.cycles",)),
    Row("sawmill", "uhlig02/table4", ("saved",)),
)
ONLY = (EVERY, *(row.name for row in ROWS))


def run(lab: Lab) -> Result:
    """Runs the experiment of each row, one after the other; two rows may be of one."""
    wanted = ONLY[lab.settings["only"]]
    rows = [row for row in ROWS if wanted in (EVERY, row.name)]
    names = list(dict.fromkeys(row.experiment for row in rows))
    lab.meter.total(len(names))
    results = {}
    for name in names:
        results[name] = run_one(lab, name)
        lab.meter.advance(note=name)
    found = {row: row.measured(results[row.experiment]) for row in rows}
    is_papers = lab.machine.name == PAPERS
    checks = [check for row, values in found.items() for check in judge(row, values, is_papers)]
    return lab.result(series_of(found), checks)


def run_one(lab: Lab, name: str) -> Result:
    """The experiment `name` as it is run by itself, on the same machine."""
    one = experiments.find(name)
    settings, _ = experiments.split_settings(one, lab.machine, lab.quick, [])
    return one.run(replace(lab, experiment=name, settings=settings, meter=progress.Silent()))


def judge(row: Row, values: list[float], is_papers: bool) -> Iterator[Check]:
    """The row's improvement, or the least and the most of several: on the paper's machine against the paper, and on
    others small spaces have to lose nothing.
    """
    least, most = published.U02_TABLE5[row.name]
    if not row.is_range:
        rule = rule_for(least, most) if is_papers else at_least(-PERCENT)
        yield SHEET.judge(row.name, min(values, default=None), rule, experiment=row.experiment)
        return
    for end, value, theirs in zip(ENDS, (min, max), (least, most), strict=True):
        rule = rule_for(theirs, theirs) if is_papers else at_least(-PERCENT)
        yield SHEET.judge(f"{row.name}.{end}", value(values, default=None), rule, experiment=row.experiment)


def rule_for(least: float, most: float) -> Rule:
    """15 % of a percentage, or what the table prints: an interval, or none, told to a percent."""
    if least != most:
        return reproduces((least + most) / 2, (least, most), "an interval in the table")
    if least == 0:
        return reproduces(0, (-PERCENT, PERCENT), "none, told to a percent")
    return reproduces(least)


def series_of(found: Mapping[Row, list[float]]) -> list[Series]:
    """The table: of each row the least and the most, ours and the paper's."""
    names = [row.name for row in found]
    ours = [(min(values, default=None), max(values, default=None)) for values in found.values()]
    theirs = [published.U02_TABLE5[name] for name in names]
    return [
        Series(f"{whose}.{end}", "improvement", names, [pair[number] for pair in pairs])
        for whose, pairs in (("ours", ours), ("published", theirs))
        for number, end in enumerate(ENDS)
    ]


def show(result: Result) -> None:
    tables.show_rows(result, "improvement", [f"{whose}.{end}" for whose in ("ours", "published") for end in ENDS])


EXPERIMENT = Experiment(
    name="uhlig02/table5",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine=PAPERS,
    settings={"only": Setting(0, 0, range(len(ONLY)), "one row of the table instead of all", names=ONLY)},
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
