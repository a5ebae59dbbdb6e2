# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/mutations`: the kernel with one of its invalidations removed or misled, each in turn: is it noticed?

The list is derived (`experiments/invalidations.py`): every `invlpg` and every write of CR3 or CR4 in the kernel's
disassembly, every store that was seen to clear a directory entry or a global bit, every addition that turns a small
space's address into the processor's for `invlpg`, and every call of a function that has one of these. A mutant is the
built kernel with that instruction replaced by nops. The stress program runs on it.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from cobnut import sheets
from cobnut.checks import Check, above, at_most, exactly, judge
from cobnut.experiments import Experiment, Kind, Lab, Setting, invalidations, runner, stress
from cobnut.experiments.invalidations import Mutant, derive, without
from cobnut.experiments.stress import Run
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

TIMEOUT_SECONDS = 300  # only for a kernel that neither ends nor executes anything
PATIENCE = 2  # a mutant that makes so many times the accesses of the whole kernel will not end
SEED = 1
MOST_IDLE = 1  # the write of CR4 that sets up the coprocessor


@dataclass(frozen=True)
class Machine:
    """What a mutant can run on: with many slots or few, by each of the kernel's ways to revoke one."""

    cpu: str
    area_mb: int
    options: str = ""


MACHINES = {
    "pentium3": Machine("pentium3", stress.AREAS_MB[0]),
    "486": Machine("486", stress.AREAS_MB[1]),
    "eager": Machine("pentium3", stress.AREAS_MB[1], "revocation=eager"),
}


def run(lab: Lab) -> Result:
    """Boots the kernel as it is, then each mutant."""
    machines = list(MACHINES)[:1] if lab.quick else list(MACHINES)
    baselines = runner.mapped(lab, machines, lambda machine: _boot(lab, lab.board.kernel, machine))
    found = {machine: baseline.findings for machine, baseline in baselines.items()}
    mutants = derive(invalidations.code_of(lab.board.kernel), found)
    unreached = [mutant for mutant in mutants if not mutant.seen.executed and not mutant.called]
    idle = [mutant for mutant in mutants if mutant.seen.executed and not mutant.seen.effective]
    mutants = [mutant for mutant in mutants if mutant not in idle]
    tried = [mutant for mutant in mutants if mutant not in unreached]
    if lab.settings["most"]:
        tried = tried[: lab.settings["most"]]

    def one(mutant: Mutant) -> Run:
        with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
            kernel = Path(folder) / "cobnut-kernel"
            kernel.write_bytes(without(lab.board.kernel.read_bytes(), mutant.site))
            # how often a call is reached is not counted: it is tried on each machine
            for machine in machines if mutant.called else [mutant.seen.cpu]:
                most = PATIENCE * baselines[machine].findings.counts["accesses"]
                found = _boot(lab, kernel, machine, mutant=mutant, most=most)
                if caught(found):
                    break
            return found

    runs = runner.mapped(lab, tried, one, lambda mutant: mutant.name)
    checks = [judge_baseline(cpu, baseline) for cpu, baseline in baselines.items()]
    checks += [judge_mutant(mutant, runs[mutant]) for mutant in tried]
    if not lab.quick:
        checks.append(judge_idle(idle))
        checks += [judge_unreached(mutant) for mutant in unreached]
        checks.append(judge_all(mutants, runs))
    return lab.result(series_of(mutants, runs), checks)


def caught(found: Run) -> bool:
    """By a report, by an access that a processor may refuse against the page tables, or by a run that fails."""
    return bool(found.findings.reports or found.findings.counts["late_rights"] or found.failure)


def judge_baseline(cpu: str, baseline: Run) -> Check:
    noticed = len(baseline.findings.reports) + baseline.findings.counts["late_rights"] + (baseline.failure is not None)
    lines = [*baseline.findings.lines[:1], *([baseline.failure] if baseline.failure else [])]
    return SHEET.judge(f"unchanged.{cpu}", noticed, exactly(0), " ".join(lines))


def judge_mutant(mutant: Mutant, found: Run) -> Check:
    seen, accesses = mutant.seen, found.findings.counts["accesses"]
    counted = "" if mutant.called else f"; needed {seen.needed} times of {seen.executed} on {seen.cpu}"
    why = f"Without it ({mutant.site.text}{counted}) "
    if found.findings.reports:
        measured, unit = len(found.findings.reports), "reports"
        why += f"something stale is used, after {accesses:,} accesses: {found.findings.lines[0]}"
    elif found.findings.counts["late_rights"]:
        measured, unit = found.findings.counts["late_rights"], "refusals"
        why += "a processor can refuse what the page tables permit: a page fault that no pager expects"
    else:
        measured, unit = int(found.failure is not None), "failed runs"
        why += f"the run fails, after {accesses:,} accesses: {found.failure}"
    return judge(f"caught.{mutant.name}", measured, unit, above(0), why)


def judge_idle(idle: list[Mutant]) -> Check:
    """Those that are not tried must stay the few that are known: one more may be an invalidation that no run needs."""
    names = ", ".join(f"{mutant.name} ({mutant.site.text}, {mutant.seen.executed} times)" for mutant in idle)
    return SHEET.judge("idle", len(idle), at_most(MOST_IDLE), names=names or "none")


def judge_unreached(mutant: Mutant) -> Check:
    return judge(f"caught.{mutant.name}", None, "reports", above(0), f"Never executed ({mutant.site.text}).")


def judge_all(mutants: list[Mutant], runs: dict[Mutant, Run]) -> Check:
    many = sum(caught(found) for found in runs.values())
    return SHEET.judge("caught", 100 * many / len(mutants), exactly(100), many=many, all=len(mutants))


def series_of(mutants: list[Mutant], runs: dict[Mutant, Run]) -> list[Series]:
    """How often each ran, and how soon its absence was noticed."""
    names = [mutant.name for mutant in mutants]
    counted = [None if mutant.called else mutant.seen for mutant in mutants]
    soon = [runs[m].findings.counts["accesses"] / 1e6 if m in runs and caught(runs[m]) else None for m in mutants]
    return [
        Series("executed", "times", names, [seen.executed if seen else None for seen in counted]),
        Series("needed", "times", names, [seen.needed if seen else None for seen in counted]),
        Series("caught_after", "million accesses", names, soon),
    ]


def _boot(lab: Lab, kernel: Path, machine: str, *, mutant: Mutant | None = None, most: int | None = None) -> Run:
    on = MACHINES[machine]
    return stress.boot(
        kernel,
        lab,
        on.cpu,
        seed=SEED,
        operations=lab.settings["operations"],
        area_mb=on.area_mb,
        options=on.options,
        stop_at_first=mutant is not None,
        stop_after=most,
        timeout=TIMEOUT_SECONDS,
    )


EXPERIMENT = Experiment(
    name="sanitize/mutations",
    sheet=SHEET,
    kind=Kind.PROOF,
    settings={
        "most": Setting(0, 4, range(1001), "try only so many of the mutants; 0: all"),
        "operations": Setting(20_000, 10_000, range(1, 100_000_001), "of the stress program on each"),
    },
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
)
