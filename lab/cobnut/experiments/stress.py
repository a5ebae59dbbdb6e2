# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/stress`: random system calls under the sanitizer, each outcome compared with a model (user/stress).

One boot for each seed, on the two processors in turn. A seed gives the same run each time: the guest's clock follows
its instructions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut import sheets
from cobnut.checks import Check, at_least, exactly
from cobnut.emulators import Boot
from cobnut.experiments import Experiment, Kind, Lab, Setting, invalidations, runner, stress_console
from cobnut.experiments.invalidations import Seen, Site
from cobnut.findings import Findings, Invalidation
from cobnut.modules import alone
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

TIMEOUT_SECONDS = 3600
CPUS = ("pentium3", "486")  # with sysenter and global pages, and without either
AREAS_MB = (512, 64)  # slots for all, and so few that the kernel has to take some back
MEMORY_MB = 256  # some of it beyond the kernel's window

# what a run has to have done at least, and with --quick
LEAST = {
    "accesses": (1_000_000_000, 50_000_000),
    "unmaps": (100_000, 1_000),
    "promotions": (100_000, 500),
    "slot_reuses": (100_000, 500),
    "thread_deletions": (100_000, 1_000),
    "space_deletions": (100_000, 500),
    "demotions": (100_000, 1_000),
    "revocations": (100_000, 500),
    "regroups": (100_000, 500),
    "resizes": (100_000, 1_000),
}


@dataclass(frozen=True)
class Run:
    """One boot: what the program counted, why it failed if it did, and what the sanitizer found."""

    cpu: str
    seed: int
    area_mb: int
    counters: dict[str, int]
    failure: str | None
    findings: Findings


def boot(
    kernel: Path,
    lab: Lab,
    cpu: str,
    *,
    seed: int,
    operations: int,
    area_mb: int = AREAS_MB[0],
    options: str = "",
    stop_at_first: bool = False,
    stop_after: int | None = None,
    timeout: float = TIMEOUT_SECONDS,
) -> Run:
    """Runs the stress program on `kernel`, at most for `stop_after` accesses of the guest's.

    A run without the program's counters at its end has failed, unless a report has stopped it.
    """
    modules = alone(lab.board, "stress", f"seed={seed} operations={operations} area={area_mb}")
    what = Boot(kernel, modules, f"small={area_mb} {options}", cpu, MEMORY_MB)
    outcome, findings = runner.sanitized(lab.board, what, timeout, stop_at_first=stop_at_first, stop_after=stop_after)
    failure = stress_console.failure(outcome, timeout, stopped=stop_at_first and bool(findings.reports))
    return Run(cpu, seed, area_mb, stress_console.counters(outcome), failure, findings)


def run(lab: Lab) -> Result:
    """Boots once for each seed and adds up."""
    sites = invalidations.flushes(invalidations.code_of(lab.board.kernel))

    def one(index: int) -> Run:
        seed, cpu = lab.settings["seed"] + index, CPUS[index % len(CPUS)]
        # each processor with each area, and both areas in the first two boots
        area_mb = AREAS_MB[(index + index // len(CPUS)) % len(AREAS_MB)]
        return boot(lab.board.kernel, lab, cpu, seed=seed, operations=lab.settings["operations"], area_mb=area_mb)

    runs = runner.each(lab, range(lab.settings["boots"]), one, lambda index: f"seed {lab.settings['seed'] + index}")
    checks = [check for each in runs for check in judge_run(each)]
    checks += [*judge_amounts(runs, lab.quick), *judge_confirmations(runs), judge_coverage(sites, runs)]
    return lab.result(series_of(sites, runs), checks)


def judge_run(each: Run) -> list[Check]:
    where = f"seed{each.seed}.{each.cpu}"
    return [
        stress_console.judge_reports(where, each.findings, SHEET.texts["promise"]),
        SHEET.judge(f"late_rights.{where}", each.findings.counts["late_rights"], exactly(0)),
        stress_console.judge_failure(where, each.failure),
    ]


def total(runs: list[Run], counter: str) -> int:
    """A counter of the program's over all runs; `accesses` are all the guest's, which the sanitizer saw."""
    if counter == "accesses":
        return sum(each.findings.counts["accesses"] for each in runs)
    return sum(each.counters.get(counter, 0) for each in runs)


def judge_amounts(runs: list[Run], quick: bool) -> Iterator[Check]:
    for name, least in LEAST.items():
        seeds = {"first": runs[0].seed, "last": runs[-1].seed}
        yield SHEET.judge(name, total(runs, name), at_least(least[quick]), **seeds)


def judge_confirmations(runs: list[Run]) -> Iterator[Check]:
    """What the program counted, seen by the sanitizer."""
    flushed = sum(
        sum(one.executed for one in each.findings.invalidations if in_release(one))
        + max((one.executed for one in each.findings.invalidations if in_flush_all(one)), default=0)
        for each in runs
    )
    emptied = sum(one.executed for each in runs for one in each.findings.invalidations if in_clear(one))
    lost, faulted = (sum(each.findings.counts[name] for each in runs) for name in ("losses", "page_faults"))
    slots, faults = total(runs, "promotions") + total(runs, "made_large"), total(runs, "faults")
    yield SHEET.judge("confirmed.promotions", flushed, at_least(slots), slots=slots)
    yield SHEET.judge("confirmed.unmaps", emptied + lost, at_least(total(runs, "unmaps")))
    yield SHEET.judge("confirmed.faults", faulted, at_least(faults), faults=faults)


def in_flush_all(invalidation: Invalidation) -> bool:
    return (invalidation.symbol or "").startswith("page_tables::flush_all")


def in_release(invalidation: Invalidation) -> bool:
    """Of a slot that is given up, page by page."""
    return (invalidation.symbol or "").startswith("small_space::")


def in_clear(invalidation: Invalidation) -> bool:
    return (invalidation.symbol or "").startswith("paging::clear")


def observed(sites: list[Site], runs: list[Run]) -> dict[Site, Seen]:
    """How often each was executed and needed, over all runs."""
    seen = {}
    for site in sites:
        each = [invalidations.observe(site, {one.cpu: one.findings}) for one in runs]
        executed, effective, needed = (
            sum(getattr(one, name) for one in each) for name in ("executed", "effective", "needed")
        )
        seen[site] = Seen("", executed, effective, needed)
    return seen


def judge_coverage(sites: list[Site], runs: list[Run]) -> Check:
    seen = observed(sites, runs)
    never = [site.name for site in sites if not seen[site].executed]
    names = ", ".join(never) or "all were executed"
    return SHEET.judge("never_executed", len(never), exactly(0), many=len(sites), never=names)


def series_of(sites: list[Site], runs: list[Run]) -> list[Series]:
    names, seen = [site.name for site in sites], observed(sites, runs)
    counters = sorted({name for each in runs for name in each.counters})
    boots = [f"seed {each.seed} on {each.cpu}, {each.area_mb} MB" for each in runs]
    return [
        Series("executed", "times", names, [seen[site].executed for site in sites]),
        Series("needed", "times", names, [seen[site].needed for site in sites]),
        *(Series(name, "times", boots, [each.counters.get(name) for each in runs]) for name in counters),
        Series("guest_accesses", "accesses", boots, [each.findings.counts["accesses"] for each in runs]),
    ]


EXPERIMENT = Experiment(
    name="sanitize/stress",
    sheet=SHEET,
    kind=Kind.PROOF,
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "boots": Setting(8, 2, range(1, 1025), "how many, on the two processors in turn"),
        "operations": Setting(200_000, 25_000, range(1, 100_000_001), "of each boot"),
    },
    checkable=True,
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
)
