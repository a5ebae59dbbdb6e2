# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/table5`: what small spaces improve over large ones, of each of the paper's applications, and how far a
server in a small space is behind Debian's kernel. Every row is measured by the experiment that is about it.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cobnut import experiments, progress, published, sheets, tables
from cobnut.checks import Check, Rule, at_least, at_most, exactly, reproduces, with_known_misses
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.linux_programs import ALL, LARGE, NATIVE, PEERS, SERVERS, SMALL
from cobnut.missing import ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PAPERS = "pentium4-1400"  # the paper's machine
PERCENT = 0.01  # what the paper's percentages are told to; and what may be lost on another machine
EVERY = "all"
ENDS = ("least", "most")
FAULT = ("entry.fault_cycles", "entry.limit_fault_path_cycles")  # of the machine: a fault past a segment's limit
MOST_SLOWER = 1.01  # a load in small spaces, times large ones
MOST_BEHIND = 1.05  # all rows together with the server in a small space, times native


@dataclass(frozen=True)
class Load:
    """One or more programs' work: the series that have its cycles, and its faults past segments' limits. They are over
    the kernels, or, with `{kernel}` in their names, of one kernel each, over loads that differ in one thing.
    """

    cycles: str
    faults: str

    def measured(self, result: Result, fault: float) -> Iterator["Taken"]:
        faults = _by_load(result, self.faults)
        for name, cycles in _by_load(result, self.cycles).items():
            past = faults.get(name, {})
            yield Taken(cycles, {kernel: value - fault * past.get(kernel, 0) for kernel, value in cycles.items()})


@dataclass(frozen=True)
class Taken:
    """Cycles of a load by kernel, and the same without faults past segments' limits."""

    cycles: Mapping[str, float]
    without_faults: Mapping[str, float]

    def times(self, kernel: str, base: str, what: str = "cycles") -> float | None:
        """What it takes under the one kernel over the other, if it was measured under both."""
        cycles: Mapping[str, float] = getattr(self, what)
        return ratio(cycles.get(kernel), cycles.get(base))


def _by_load(result: Result, name: str) -> dict[str, dict[str, float]]:
    """By load and kernel, what the series called `name` have. A load whose series are over the kernels is the only one
    of its name.
    """
    found: dict[str, dict[str, float]] = {}
    for kernel in PEERS:
        one = result.find(name.format(kernel=kernel))
        if one is None:
            continue
        for x, value in zip(one.x, one.y, strict=True):
            load, whose = (str(x), kernel) if "{kernel}" in name else ("", str(x))
            if value is not None:
                found.setdefault(load, {})[whose] = value
    return found


def over_kernels(*names: str) -> tuple[Load, ...]:
    return tuple(Load(f"{name}.cycles", f"{name}.limit_faults") for name in names)


def over_sizes(*names: str) -> tuple[Load, ...]:
    return tuple(Load(f"{name}.{{kernel}}", f"{name}.{{kernel}}.limit_faults") for name in names)


ONE = (Load("cycles", "limit_faults"),)
QUERIES = (Load("cycles.{kernel}", "limit_faults.{kernel}"),)


@dataclass(frozen=True)
class Row:
    """A row: the experiment that measures it, the names of its checks that are improvements, and what is taken off
    them to be one: 1 of what is large over small; its loads, and the kernels that are compared.
    """

    name: str
    experiment: str
    checks: tuple[str, ...]
    loads: tuple[Load, ...]
    spaces: tuple[str, str] = (SMALL, ALL)
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

    def taken(self, result: Result, fault: float) -> list[Taken]:
        """Its loads', where a fault past a segment's limit takes `fault` cycles."""
        return [one for load in self.loads for one in load.measured(result, fault)]


def gains(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}.gain" for name in names)


CALLS, REQUESTS = tuple(published.U02_TABLE2), tuple(published.U02_TABLE3)
ROWS = (
    Row("linux", "uhlig02/table2", gains(CALLS), over_kernels(*CALLS), (LARGE, SMALL), less=1),
    Row("pipe", "uhlig02/fig6", ("gain.least", "gain.most"), over_sizes("nops", "jumps", "reads"), less=1),
    Row("catwc", "uhlig02/catwc", ("saved.cycles",), ONE),
    Row("x", "uhlig02/table3", gains(REQUESTS), over_kernels(*REQUESTS), (SMALL, SERVERS)),
    Row("apache", "uhlig02/fig7", ("apache.gain",), over_sizes("apache")),
    Row("thttpd", "uhlig02/fig7", ("lighttpd.gain",), over_sizes("lighttpd")),
    Row("mysql", "uhlig02/mysql", gains(("constant", "key", "complex")), QUERIES),
    Row("doom", "uhlig02/fig8", ("gain.frames",), ONE, (SMALL, SERVERS)),
    Row("gcc", "uhlig02/gcc", ("saved.cycles",), ONE),
    Row("sawmill", "uhlig02/table4", ("saved",), over_kernels("echo"), (LARGE, SMALL)),
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
    taken = {row: row.taken(results[row.experiment], fault_cycles(lab)) for row in rows}
    is_papers = lab.machine.name == PAPERS
    checks = [check for row, values in found.items() for check in judge(row, values, is_papers)]
    checks += [judge_slower(row, loads) for row, loads in taken.items()]
    if wanted == EVERY:
        checks += judge_behind(taken)
    if is_papers:
        checks += [judge_experiment(row, results[row.experiment]) for row in rows]
    return lab.result([*series_of(found), *series_of_loads(taken)], checks)


def fault_cycles(lab: Lab) -> float:
    """What a fault past a segment's limit is charged on the machine."""
    given = {name: lab.machine.parameters.get(name) for name in FAULT}
    return sum(float(lab.overrides.get(name, one.value if one else 0)) for name, one in given.items())


def run_one(lab: Lab, name: str) -> Result:
    """The experiment `name` as it is run by itself, on the same machine, with what is known of its misses. One that
    ends in an error is said, and has found nothing; the others are run all the same.
    """
    one = experiments.find(name)
    settings, _ = experiments.split_settings(one, lab.machine, lab.quick, [])
    alone = replace(lab, experiment=name, settings=settings, meter=progress.Silent())
    try:
        result = one.run(alone)
    except CobnutError as error:
        print(f"{name}: {error}")
        return alone.result([], [])
    return replace(result, checks=with_known_misses(result.checks, one.sheet.known_misses))


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


def judge_experiment(row: Row, result: Result) -> Check:
    """What else the row's experiment checks: nothing of it has failed."""
    failed = [check.name for check in result.checks if check.verdict == "failed"]
    count = len(failed) if result.checks else None
    return SHEET.judge(f"{row.name}.failed", count, exactly(0), ", ".join(failed), experiment=row.experiment)


def judge_slower(row: Row, loads: Sequence[Taken]) -> Check:
    """That none of its loads loses by small spaces, whatever the row's improvement is."""
    times = max((times for one in loads if (times := one.times(*reversed(row.spaces)))), default=None)
    return SHEET.judge(f"{row.name}.slower", times, at_most(MOST_SLOWER))


def judge_behind(taken: Mapping[Row, Sequence[Taken]]) -> Iterator[Check]:
    """All rows together against Debian's kernel, each as much as another one, with the server in a small space."""
    for what in ("cycles", "without_faults"):
        rows = [times for loads in taken.values() if (times := behind(loads, SMALL, what))]
        times = statistics.geometric_mean(rows) if rows else None
        ends = {"least": min(rows, default=0), "most": max(rows, default=0)}
        yield SHEET.judge(f"behind.{what}", times, at_most(MOST_BEHIND), rows=len(rows), **ends)


def behind(loads: Sequence[Taken], kernel: str, what: str) -> float | None:
    """A row's loads in times native, the geometric mean of those that were measured there, too."""
    times = [times for one in loads if (times := one.times(kernel, NATIVE, what))]
    return statistics.geometric_mean(times) if times else None


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


def series_of_loads(taken: Mapping[Row, Sequence[Taken]]) -> list[Series]:
    """Each row in times native, under each kernel."""
    names = [row.name for row in taken]
    return [
        Series(f"{what}.{kernel}", "times native", names, [behind(loads, kernel, counted) for loads in taken.values()])
        for what, counted in (("times", "cycles"), ("without_faults", "without_faults"))
        for kernel in PEERS
        if kernel != NATIVE
    ]


def show(result: Result) -> None:
    for whose in ("ours", "published"):
        tables.show_rows(result, f"improvement, {whose}", [f"{whose}.{end}" for end in ENDS])
    for what, title in (("times", "times native"), ("without_faults", "without faults past segments' limits")):
        tables.show_rows(result, title, [f"{what}.{kernel}" for kernel in PEERS])


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
