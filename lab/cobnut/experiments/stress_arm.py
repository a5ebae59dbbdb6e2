# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/stress` on the boards with an ARM processor: random system calls under the sanitizer, compared with a model
(user/stress).

A boot for each seed, on the kernel with tags and on the standard one in turn. A seed gives the same run each time: the
guest's clock follows its instructions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cobnut import build, sheets
from cobnut.boards import Board
from cobnut.checks import Check, at_least, exactly
from cobnut.emulators import Boot
from cobnut.experiments import Experiment, Kind, Lab, Setting, maintenance, runner, stress_console
from cobnut.experiments.maintenance import Site
from cobnut.findings import Findings
from cobnut.modules import alone
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

TIMEOUT_SECONDS = 1800
MEMORY_MB = 256  # some of it beyond the kernel's window

# what all boots have to have done at least, and with --quick
LEAST = {
    "accesses": (250_000, 2_500),
    "faults": (150_000, 1_500),
    "maps": (150_000, 1_500),
    "grants": (20_000, 250),
    "unmaps": (100_000, 750),
    "runs": (5_000, 50),
    "executions": (75_000, 750),
    "strings": (5_000, 50),
    "shares": (10_000, 100),
    "attribute_changes": (10_000, 100),
    "megabytes": (2_500, 50),
    "thread_deletions": (100_000, 1_500),
    "space_deletions": (100_000, 1_000),
}
# on the kernel with tags: slots changed and passed on; and how often domains were taken away, as the sanitizer saw
OF_TAGS = {"resizes": (100_000, 250), "slot_reuses": (100_000, 150)}
RECYCLINGS = (100_000, 500)


@dataclass(frozen=True)
class Run:
    """One boot: what the program counted, why it failed if it did, and what the sanitizer found."""

    kernel: str
    seed: int
    counters: dict[str, int]
    failure: str | None
    findings: Findings

    @property
    def caught(self) -> bool:
        """Whether the sanitizer or the program noticed that something is wrong."""
        return bool(self.findings.reports or self.failure)


def boot(
    board: Board,
    kernel: Path,
    *,
    seed: int,
    operations: int,
    stop_at_first: bool = False,
    stop_after: int | None = None,
    watch: Sequence[tuple[int, int]] = (),
    timeout: float = TIMEOUT_SECONDS,
) -> Run:
    """Runs the stress program on `kernel`, the board's or a mutant of it, at most for `stop_after` accesses of the
    guest's.

    `watch`: addresses and sizes in bytes to which stores are noted. A run without the program's counters at its end has
    failed, unless a report has stopped it.
    """
    modules = alone(board, "stress", f"seed={seed} operations={operations}")
    what = Boot(kernel, modules, memory_mb=board.memory_mb or MEMORY_MB)
    outcome, findings = runner.sanitized(
        board, what, timeout, stop_at_first=stop_at_first, stop_after=stop_after, watch=watch
    )
    failure = stress_console.failure(outcome, timeout, stopped=stop_at_first and bool(findings.reports))
    name = "fast" if board.tags else "standard"
    return Run(name, seed, stress_console.counters(outcome), failure, findings)


def run(lab: Lab) -> Result:
    """Boots once for each seed and adds up."""
    build.images(lab.board.standard)

    def one(index: int) -> Run:
        board = lab.board.standard if index % 4 == 3 else lab.board
        return boot(board, board.kernel, seed=lab.settings["seed"] + index, operations=lab.settings["operations"])

    runs = runner.each(lab, range(lab.settings["boots"]), one, lambda index: f"seed {lab.settings['seed'] + index}")
    checks = [check for each in runs for check in judge_run(each)]
    checks += judge_amounts(runs, lab.quick)
    if not lab.quick:  # a short run comes past most of them
        kernels = {"fast": lab.board, "standard": lab.board.standard}
        checks += [
            judge_coverage(name, maintenance.operations(board.kernel_executable), runs)
            for name, board in kernels.items()
        ]
    return lab.result(series_of(runs), checks)


def judge_run(each: Run) -> list[Check]:
    where, promise = f"seed{each.seed}.{each.kernel}", SHEET.texts["promise"]
    return [
        stress_console.judge_reports(where, each.findings, promise),
        stress_console.judge_failure(where, each.failure),
    ]


def judge_amounts(runs: list[Run], quick: bool) -> Iterator[Check]:
    """Over all boots; what concerns slots, over those of the kernel with tags."""
    seeds = f"{runs[0].seed} to {runs[-1].seed}"
    tagged = [each for each in runs if each.kernel == "fast"]
    for name, least in (LEAST | OF_TAGS).items():
        counts = [each.counters.get(name, 0) for each in (tagged if name in OF_TAGS else runs)]
        yield SHEET.judge(name, sum(counts), at_least(least[quick]), seeds=seeds)
    recycled = sum(
        one.executed
        for each in tagged
        for one in each.findings.invalidations
        if "host::make_room" in (one.symbol or "")
    )
    yield SHEET.judge("recyclings", recycled, at_least(RECYCLINGS[quick]), seeds=seeds)


def judge_coverage(kernel: str, operations: list[Site], runs: list[Run]) -> Check:
    """Over all boots of one of the two kernels."""
    executed = {one.instruction for each in runs if each.kernel == kernel for one in each.findings.invalidations}
    never = [site.name for site in operations if site.address not in executed]
    said = {"many": len(operations), "never": ", ".join(never) or "all were executed"}
    return SHEET.judge(f"never_executed.{kernel}", len(never), exactly(0), **said)


def series_of(runs: list[Run]) -> list[Series]:
    counters = sorted({name for each in runs for name in each.counters})
    boots = [f"seed {each.seed}, {each.kernel} kernel" for each in runs]
    return [
        *(Series(name, "times", boots, [each.counters.get(name) for each in runs]) for name in counters),
        Series("guest_accesses", "accesses", boots, [each.findings.counts["accesses"] for each in runs]),
    ]


EXPERIMENT = Experiment(
    name="sanitize/stress",
    sheet=SHEET,
    kind=Kind.PROOF,
    boards=("collie", "versatilepb"),
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "boots": Setting(8, 4, range(1, 1025), "how many, every fourth on the standard kernel"),
        "operations": Setting(300_000, 10_000, range(1, 100_000_001), "of each boot"),
    },
    checkable=True,
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
)
