# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/validation`: what the models predict beside what was published, for all numbers that set no parameter of theirs:
how far can a prediction be believed?
"""

import statistics
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cobnut import tables
from cobnut.checks import TOLERANCE, Check, at_least, exactly, judge
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.plots import Bars, Plot
from cobnut.report.page import number
from cobnut.results import Result, Series

# Where published values are predicted, without guests and with Linux as one.
KERNELS = (
    "ipc/path",
    "liedtke95/fig4",
    "uhlig02/fig4",
    "wiggins03/fig4",
    "wiggins03/fig5",
    "wiggins03/flushes",
)
LINUX = ("uhlig02/table2", "haertig97/getpid")
# Checks of these that say nothing about a model, by what their numbers are there. liedtke95/table1 is not among the
# experiments at all: a machine file's TLBs are taken from it.
PARAMETERS = {
    "liedtke95/fig4": {"compact.refill_a_page": "the TLB's miss_cycles"},
    "wiggins03/flushes": {
        "standard.line_cycles": "memory's line_read_cycles",
        "standard.tlb_miss_cycles": "the TLBs' miss_cycles",
        "model.worst_switch": "a sum of parameters",
    },
}
LEAST_VALUES = {True: 15, False: 30}  # quick or not


@dataclass(frozen=True)
class Prediction:
    """A published value and ours. The machine, its unit and where it comes from are the check's experiment's."""

    name: str
    machine: str
    unit: str
    published: float
    predicted: float | None

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
            found += predictions_in(_result(name, lab.quick, Path(folder)))
            lab.meter.advance(note=name)
    return lab.result(series_of(found), judge_all(found, quick=lab.quick), emulator=lab.emulator)


def _result(name: str, quick: bool, folder: Path) -> Result:
    from cobnut import running  # which knows all experiments, this one among them

    return running.run(name, board=None, machine=None, given=[], quick=quick, report_folder=folder).result


def predictions_in(result: Result) -> list[Prediction]:
    """Those of an experiment: its checks that hold a measurement to a published value, but for parameters."""
    left_out = PARAMETERS.get(result.experiment, {})
    return [
        Prediction(
            f"{result.experiment} {check.name}", result.machine or "", check.unit, check.published, check.measured
        )
        for check in result.checks
        if check.kind == "published" and check.published is not None and check.name not in left_out
    ]


def errors_of(found: list[Prediction]) -> dict[str, float]:
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


def series_of(found: list[Prediction]) -> list[Series]:
    names = [one.name for one in found]
    errors = errors_of(found)
    shares = distribution_of(errors)
    return [
        Series("published", "as the check says", names, [one.published for one in found]),
        Series("predicted", "as the check says", names, [one.predicted for one in found]),
        Series("error", "% of the published value", list(errors), list(errors.values())),
        Series("distribution", "%", list(shares), list(shares.values())),
    ]


def judge_all(found: list[Prediction], *, quick: bool) -> list[Check]:
    """Whether the page is whole. What the errors are is no check: it is what the page is for."""
    return [
        judge(
            "values",
            len(found),
            "published values",
            at_least(LEAST_VALUES[quick]),
            "They set no parameter of a machine file.",
        ),
        judge(
            "unpredicted",
            sum(one.predicted is None for one in found),
            "published values",
            exactly(0),
            " ".join(["All were predicted.", *(one.name for one in found if one.predicted is None)]),
        ),
    ]


def show(result: Result) -> None:
    published, predicted = result.find("published"), result.find("predicted")
    error, distribution = result.find("error"), result.find("distribution")
    if published and predicted and error and distribution:
        errors = dict(zip(error.x, error.y, strict=True))
        rows = [
            (str(name), number(theirs), number(ours), number(errors.get(name)))
            for name, theirs, ours in zip(published.x, published.y, predicted.y, strict=True)
        ]
        tables.show(
            "what was published, and what the models predict", ("value", "published", "predicted", "% off"), rows
        )
        shares = [(str(name), number(value)) for name, value in zip(distribution.x, distribution.y, strict=True)]
        tables.show("how far off, in % of what was published", ("", "%"), shares)


def plots(result: Result) -> list[Plot]:
    return [
        Bars("How far predictions are off", "published value", "% of it", {"error": "error"}),
        Bars("The distribution of the errors' sizes", "", "%", {"distribution": "of all"}),
    ]


EXPERIMENT = Experiment(
    name="lab/validation",
    title="How far the models' predictions are off",
    source="L95, U02, W03, H97: the experiments that are named after them",
    kind=Kind.TOOL,
    settings={
        "linux": Setting(
            1, 0, range(2), "1: with what was published of Linux as a server, whose kernel is compiled first"
        ),
    },
    run=run,
    plots=plots,
    checks=("values", "unpredicted"),
    show=show,
    story=(
        "Each number that a paper printed, and that no parameter of a machine file was taken from, beside what this"
        " kernel and the model of the paper's machine give for it. Values that show a parameter again are left out;"
        " so are those which this kernel is only to be no worse than: they are about kernels, not about models."
    ),
    cannot_say=(
        (
            "An error is of two things at once: the model's, and this kernel's and its guests', which execute other"
            " code than the papers' did. Where that is known to be the reason, the experiment's own page says so."
        ),
        (
            "Papers that print two numbers of one effect make two errors of one cause: the values are not independent,"
            " and there are too few for more than a median."
        ),
    ),
)
