# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/mutations` on the boards with an ARM processor: the kernel without one of its operations on TLBs and
caches, each in turn, and without one of the marks by which it knows what to flush: is it noticed?

The list is derived (`experiments/maintenance.py`). A mutant is the built kernel with that instruction replaced. The
stress program runs on it. With `guest=linux-fass` it is Linux (mutations_linux.py).
"""

import tempfile
from pathlib import Path

from cobnut import sheets
from cobnut.checks import Check, above, at_most, exactly, judge
from cobnut.experiments import Experiment, Kind, Lab, Setting, maintenance, mutations_linux, runner, stress_arm
from cobnut.experiments.maintenance import Site
from cobnut.experiments.stress_arm import Run
from cobnut.findings import Invalidation, Mark
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

GUESTS = "cobnut", "linux-fass"
TIMEOUT_SECONDS = 600  # only for a kernel that neither ends nor executes anything
# behind the cleaning of the ARM926's whole cache an invalidation and a drain; and stores that only clear bits of notes
MOST_IDLE = 5
PATIENCE = 2  # a mutant that makes so many times the accesses of the whole kernel will not end
SEED = 1


def run(lab: Lab) -> Result:
    """Boots the kernel as it is, then each mutant: this one, or Linux."""
    if GUESTS[lab.settings["guest"]] != GUESTS[0]:
        return mutations_linux.run(lab, SHEET)
    executable, image = lab.board.kernel_executable, lab.board.kernel.read_bytes()
    [baseline] = runner.each(lab, [lab.board.kernel], lambda kernel: _boot(lab, kernel), lambda _: "as it is")
    sites = maintenance.sites(executable) + maintenance.marks(executable, baseline.findings.marks)
    seen: list[Invalidation | Mark] = [*baseline.findings.invalidations, *baseline.findings.marks]
    counted = {one.instruction: one for one in seen}
    idle = {site: why for site in sites if (why := needless(counted.get(site.address)))}
    sites = [site for site in sites if site not in idle]
    tried = sites[: lab.settings["most"]] if lab.settings["most"] else sites

    def one(site: Site) -> Run:
        with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
            kernel = Path(folder) / "cobnut-kernel.bin"
            kernel.write_bytes(maintenance.without(executable, image, site))
            return _boot(lab, kernel, most=PATIENCE * baseline.findings.counts["accesses"])

    runs = runner.mapped(lab, tried, one, lambda site: site.name)
    checks = [judge_baseline(baseline), *(judge_mutant(site, runs[site]) for site in tried)]
    if not lab.quick:
        checks.append(
            judge_idle({site: f"{why} ({counted[site.address].executed:,} times)" for site, why in idle.items()})
        )
        many = sum(found.caught for found in runs.values())
        checks.append(judge("caught", 100 * many / len(sites), "%", exactly(100), f"{many} of {len(sites)} mutants."))
    return lab.result(series_of(sites, runs, counted), checks)


def needless(counted: Invalidation | Mark | None) -> str | None:
    """What `counted` says of an instruction that was executed but had nothing to do; None if it had, or that is not
    known.
    """
    if counted is None:
        return None
    if isinstance(counted, Mark):
        only_cleared = counted.cleared == counted.executed
        return "it only cleared bits: without it more is cleaned, not less" if only_cleared else None
    if counted.needed or "Tlb" in counted.by:
        return None
    if counted.by == "DrainWriteBuffer":
        return "the write buffer was drained again before anything was read past it that had been in it"
    return "there was nothing left that it could have taken away"


def judge_baseline(baseline: Run) -> Check:
    noticed = len(baseline.findings.reports) + (baseline.failure is not None)
    lines = [*baseline.findings.lines[:1], *([baseline.failure] if baseline.failure else [])]
    return judge("unchanged", noticed, "reports", exactly(0), " ".join(["The kernel as it is passes.", *lines]))


def judge_mutant(site: Site, found: Run) -> Check:
    accesses = found.findings.counts["accesses"]
    why = f"Without it ({site.text}) "
    if found.findings.reports:
        measured, unit = len(found.findings.reports), "reports"
        why += f"something is used that may be stale, after {accesses:,} accesses: {found.findings.lines[0]}"
    elif found.failure:
        measured, unit = 1, "failed runs"
        why += f"the run fails, after {accesses:,} accesses: {found.failure}"
    else:
        measured, unit = 0, "reports"
        why += f"nothing is noticed in {accesses:,} accesses."
    return judge(f"caught.{site.name}", measured, unit, above(0), why)


def judge_idle(idle: dict[Site, str]) -> Check:
    """Those that are not tried must stay the few that are known: one more could be an operation that no run needs."""
    names = "; ".join(f"{site.name} ({site.text}): {why}" for site, why in idle.items())
    return judge(
        "idle", len(idle), "mutants", at_most(MOST_IDLE), f"Not tried, without anything to do. {names}".strip()
    )


def series_of(sites: list[Site], runs: dict[Site, Run], counted: dict[int, Invalidation | Mark]) -> list[Series]:
    """How often each ran, and how soon its absence was noticed."""
    names = [site.name for site in sites]
    seen = [counted.get(site.address) for site in sites]
    soon = [runs[s].findings.counts["accesses"] / 1e6 if s in runs and runs[s].caught else None for s in sites]
    return [
        Series("executed", "times", names, [one.executed if one else None for one in seen]),
        Series("needed", "times", names, [one.needed if isinstance(one, Invalidation) else None for one in seen]),
        Series("caught_after", "million accesses", names, soon),
    ]


def _boot(lab: Lab, kernel: Path, *, most: int | None = None) -> Run:
    """Runs the stress program; a mutant (with `most` accesses) ends at its first report."""
    board = lab.board
    offsets = board.kernel.with_name("generated") / "offsets.h"
    return stress_arm.boot(
        board,
        kernel,
        seed=SEED,
        operations=lab.settings["operations"],
        stop_at_first=most is not None,
        stop_after=most,
        watch=maintenance.notes(board.kernel_executable, offsets) if most is None else [],
        timeout=TIMEOUT_SECONDS,
    )


EXPERIMENT = Experiment(
    name="sanitize/mutations",
    sheet=SHEET,
    kind=Kind.PROOF,
    boards=("versatilepb", "collie"),
    settings={
        "most": Setting(0, 4, range(1001), "try only so many of the mutants; 0: all"),
        "operations": Setting(10_000, 2_000, range(1, 100_000_001), "of the stress program on each"),
        "guest": Setting(0, 0, range(2), "whose kernel", names=GUESTS),
    },
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
)
