# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/validation`: what the models predict beside what was published, for all numbers that set no parameter of theirs:
how far can a prediction be believed?
"""

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cobnut import published, sheets, tables
from cobnut.checks import TOLERANCE, Check, at_least, exactly, judge
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.unpredicted import UNPREDICTED, Unpredicted
from cobnut.plots import Bars, Plot, Table
from cobnut.results import Result, Series, number

SHEET = sheets.beside(__file__)

# Where published values are predicted, without guests and with Linux as one.
KERNELS = (
    "ipc/path",
    "liedtke95/table1",
    "liedtke95/table2",
    "liedtke95/table3",
    "liedtke95/fig4",
    "uhlig02/fig4",
    "wiggins03/fig4",
    "wiggins03/fig5",
    "wiggins03/flushes",
)
LINUX = ("uhlig02/table2", "haertig97/getpid")
# Checks of these that show a parameter again, by how their names begin, and which it is.
PARAMETERS = {
    "liedtke95/table1": {
        f"{row}.{what}": why
        for row in published.L95_TABLE1
        for what, why in (
            ("tlb_entries", "the TLBs' entries"),
            ("tlb_miss_least", "the TLBs' miss_cycles"),
            ("tlb_miss_most", "l2.hit_cycles"),
            ("page_table_switch_least", "four times the TLBs' miss_cycles"),
            ("page_table_switch_most", "a product of parameters"),
        )
    },
    "liedtke95/fig4": {"compact.refill_a_page": "the TLB's miss_cycles"},
    "wiggins03/flushes": {
        "standard.direct_cycles": "both ends of the published range set costs of a line",
        "standard.line_cycles": "memory's line_read_cycles",
        "standard.tlb_miss_cycles": "the TLBs' miss_cycles",
        "model.worst_switch": "a sum of parameters",
    },
}
# Checks of these whose published values are not independent of a parameter, by how their names begin, and why. They are
# shown, and counted nowhere.
DEPENDENT = {
    "uhlig02/fig4": {
        "b.": "itlb.lookup was decided by what the same section says of the same graph",
    },
}
# no_worse: what is published bounds this kernel from one side, so an error is of its code as well as of the model
Group = Literal["independent", "kernel", "dependent"]
GROUPS: dict[Group, str] = {
    "independent": "values to reproduce that set no parameter",
    "kernel": "values that this kernel is to be no worse than, or that other code had: of code as well as of the model",
    "dependent": "values that are not independent of a parameter, in no distribution",
}
DISTRIBUTED: tuple[Group, ...] = ("independent", "kernel")
LEAST_VALUES = {True: 12, False: 20}  # quick or not


@dataclass(frozen=True)
class Prediction:
    """A published value and ours. The machine, its unit and where it comes from are the check's experiment's."""

    name: str
    machine: str
    unit: str
    published: float
    predicted: float | None
    group: Group

    @property
    def error(self) -> float | None:
        """In percent of the published value; a published 0 has none."""
        if self.predicted is None or not self.published:
            return None
        return 100 * (self.predicted - self.published) / abs(self.published)


def run(lab: Lab) -> Result:
    """Runs the experiments that predict published values, each on the machine that its source had."""
    names = [*KERNELS, *(LINUX if lab.settings["linux"] else ())]
    found = []
    lab.meter.total(len(names))
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        for name in names:
            result = _result(name, lab.quick, Path(folder))
            found += predictions_in(result) + cycles_of_calls(result)
            lab.meter.advance(note=name)
    return lab.result(series_of(found), judge_all(found, quick=lab.quick), emulator=lab.emulator)


def _result(name: str, quick: bool, folder: Path) -> Result:
    from cobnut import running  # which knows all experiments, this one among them

    return running.run(name, board=None, machine=None, given=[], quick=quick, report_folder=folder).result


def predictions_in(result: Result) -> list[Prediction]:
    """Those of an experiment: its checks against a published value, but for parameters."""
    parameters, dependent = (by_name.get(result.experiment, {}) for by_name in (PARAMETERS, DEPENDENT))

    def group(check: Check) -> Group:
        if check.name.startswith(tuple(dependent)):
            return "dependent"
        return "independent" if check.kind == "published" else "kernel"

    return [
        Prediction(
            f"{result.experiment} {check.name}",
            result.machine or "",
            check.unit,
            check.published,
            check.measured,
            group(check),
        )
        for check in result.checks
        if check.published is not None and not check.name.startswith(tuple(parameters))
    ]


def cycles_of_calls(result: Result) -> list[Prediction]:
    """Of whole system calls of Linux, whose checks compare ratios: the paper's Linux executed other code."""
    theirs: Mapping[str, tuple[float, ...]]
    kernels: tuple[str, ...]
    if result.experiment == "uhlig02/table2":
        theirs = published.U02_TABLE2
        kernels = ("native", "large", "small")
    elif result.experiment == "haertig97/getpid":
        theirs = {"getpid": (published.H97_GETPID_NATIVE,)}
        kernels = ("native",)
    else:
        return []
    found = []
    for call, values in theirs.items():
        series = result.find(f"{call}.cycles")
        ours = dict(zip(series.x, series.y, strict=True)) if series else {}
        found += [
            Prediction(
                f"{result.experiment} {call}, {kernel}",
                result.machine or "",
                "modelled cycles",
                value,
                ours.get(kernel),
                "kernel",
            )
            for kernel, value in zip(kernels, values, strict=True)
        ]
    return found


def errors_of(found: Sequence[Prediction]) -> dict[str, float]:
    return {one.name: one.error for one in found if one.error is not None}


def distribution_of(errors: Mapping[str, float]) -> dict[str, float]:
    """The quartiles of errors' sizes, the largest, and how many are at most as large as the rule's tolerance."""
    sizes = sorted(abs(error) for error in errors.values())
    if len(sizes) < 2:
        return {}
    low, middle, high = statistics.quantiles(sizes, n=4, method="inclusive")
    within = sum(size <= 100 * TOLERANCE for size in sizes)
    return {
        "lower quartile": low,
        "median": middle,
        "upper quartile": high,
        "largest": sizes[-1],
        f"share within {TOLERANCE:.0%}": 100 * within / len(sizes),
    }


def series_of(found: Sequence[Prediction]) -> list[Series]:
    rows = []
    for group in GROUPS:
        some = [one for one in found if one.group == group]
        names, errors = [one.name for one in some], errors_of(some)
        rows += [
            Series(f"{group}.published", "as the check says", names, [one.published for one in some]),
            Series(f"{group}.predicted", "as the check says", names, [one.predicted for one in some]),
            Series(f"{group}.error", "% of the published value", names, [errors.get(name) for name in names]),
        ]
        if group in DISTRIBUTED:
            shares = distribution_of(errors)
            rows.append(Series(f"{group}.distribution", "%", list(shares), list(shares.values())))
    values = [one.published for one in UNPREDICTED]
    return [*rows, Series("unpredicted.published", "as its name says", [label(one) for one in UNPREDICTED], values)]


def label(one: Unpredicted) -> str:
    return f"{one.name}, {one.unit} ({one.machine}): {one.why}"


def judge_all(found: Sequence[Prediction], *, quick: bool) -> list[Check]:
    """Whether the page is whole. What the errors are is no check: it is what the page is for."""
    return [
        judge(
            "values",
            sum(one.group == "independent" for one in found),
            "published values",
            at_least(LEAST_VALUES[quick]),
            "They are to be reproduced, and set no parameter of a machine file.",
        ),
        judge(
            "unpredicted",
            sum(one.predicted is None for one in found),
            "published values",
            exactly(0),
            " ".join(["All that an experiment predicts were.", *(one.name for one in found if one.predicted is None)]),
        ),
    ]


def show(result: Result) -> None:
    for group, text in GROUPS.items():
        columns = [result.find(f"{group}.{what}") for what in ("published", "predicted", "error")]
        if columns[0] and columns[0].x:
            cells = [map(number, column.y) for column in columns if column]
            rows = list(zip(map(str, columns[0].x), *cells, strict=True))
            tables.show(text, ("value", "published", "predicted", "% off"), rows)
        shares = result.find(f"{group}.distribution")
        if shares and shares.x:
            rows = [(str(name), number(value)) for name, value in zip(shares.x, shares.y, strict=True)]
            tables.show("how far off these are, in % of what was published", ("", "%"), rows)
    rest = result.find("unpredicted.published")
    if rest:
        rows = [(str(name), number(value)) for name, value in zip(rest.x, rest.y, strict=True)]
        tables.show("published, and not predicted", ("value, and why not", "published"), rows)


def plots(result: Result) -> list[Plot]:
    found: list[Plot] = []
    for group, text in GROUPS.items():
        columns = {f"{group}.{what}": what for what in ("published", "predicted")} | {f"{group}.error": "% off"}
        found.append(Table(text[0].upper() + text[1:], "value", columns, wide=True))
        if group in DISTRIBUTED:
            found.append(Bars("The distribution of their errors' sizes", "", "%", {f"{group}.distribution": "of all"}))
    found.append(
        Table(
            "Published, and not predicted",
            "value, and why not",
            {"unpredicted.published": "published"},
            wide=True,
        )
    )
    return found


EXPERIMENT = Experiment(
    name="lab/validation",
    sheet=SHEET,
    kind=Kind.TOOL,
    settings={
        "linux": Setting(
            1, 0, range(2), "1: with what was published of Linux as a server, whose kernel is compiled first"
        ),
    },
    run=run,
    plots=plots,
    show=show,
)
