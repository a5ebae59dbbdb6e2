# SPDX-License-Identifier: GPL-2.0-or-later
"""`attack/isolation` on the boards with an ARM processor: everything that a user can try to get out of its space.

user/attack/arm makes the attempts and judges them, on the kernel with tags, where the translations of several spaces
stay cached side by side, and on the standard one. The sanitizer sees what the emulator, which caches nothing, does not
show.
"""

from cobnut import attacks, build, sheets
from cobnut.attacks import REFUSED, Attempt
from cobnut.boards import Board
from cobnut.checks import Check, at_least, exactly, judge
from cobnut.emulators import Boot
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, runner
from cobnut.findings import Findings
from cobnut.modules import alone
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

MEMORY_MB = 64
TIMEOUT_SECONDS = 300
LEAST_ATTEMPTS = 450
KERNELS = {"fast": True, "standard": False}


def run(lab: Lab) -> Result:
    """Boots the attack program on both kernels."""
    build.images(lab.board.standard)
    run_on = {kernel: lab.board if tags else lab.board.standard for kernel, tags in KERNELS.items()}
    made = runner.mapped(lab, KERNELS, lambda kernel: attempts(run_on[kernel]), at_once=1)
    found = {kernel: tried for kernel, (tried, _) in made.items()}
    checks = [check for kernel, (tried, findings) in made.items() for check in judge_run(kernel, tried, findings)]
    return lab.result(series_of(found), checks)


def attempts(board: Board) -> tuple[list[Attempt], Findings]:
    """What became of each on the kernel of `board`, and what the sanitizer found meanwhile."""
    modules = alone(board, "attack")
    what = Boot(board.kernel, modules, memory_mb=board.memory_mb or MEMORY_MB)
    outcome, findings = runner.sanitized(board, what, TIMEOUT_SECONDS)
    if outcome.timed_out:
        raise CobnutError(f"{board.name}: the attack program does not end within {TIMEOUT_SECONDS} s")
    if outcome.kernel_message and outcome.code:
        raise CobnutError(f"{board.name}: the kernel stopped: {outcome.kernel_message}")
    try:
        return attacks.read(outcome.console), findings
    except ValueError as error:
        raise CobnutError(f"{board.name}: {error}") from None


def judge_run(kernel: str, made: list[Attempt], findings: Findings) -> list[Check]:
    """The verdict on one kernel."""
    others = [f"{one.name} {one.status} {one.how}" for one in made if one.status != REFUSED]
    return [
        judge(
            f"{kernel}.attempts",
            len({one.name for one in made}),
            "attempts",
            at_least(LEAST_ATTEMPTS),
            "Distinct attempts.",
        ),
        judge(
            f"{kernel}.not_refused",
            len(others),
            "attempts",
            exactly(0),
            "Each is stopped in the way that is expected of it, and no victim's memory has changed."
            f" {'; '.join(others)}".rstrip(),
        ),
        judge(
            f"{kernel}.reports",
            len(findings.reports),
            "reports",
            exactly(0),
            "Of the sanitizer: nothing stale of a TLB or cache is used. " + " ".join(findings.lines[:1]),
        ),
    ]


def series_of(found: dict[str, list[Attempt]]) -> list[Series]:
    """By attempt: 1 for those that were refused."""
    lines = []
    for kernel, made in found.items():
        lines.append(
            Series(
                f"{kernel}.refused", "times", [one.name for one in made], [int(one.status == REFUSED) for one in made]
            )
        )
    return lines


def plots(result: Result) -> list[Plot]:
    columns = {one.name: one.name.replace(".", " ") for one in result.series}
    return [Table("Each attempt", "attempt", columns, wide=True)]


EXPERIMENT = Experiment(
    name="attack/isolation",
    sheet=SHEET,
    kind=Kind.PROOF,
    boards=("collie", "versatilepb"),
    settings={},
    checkable=True,
    long_proof=True,
    run=run,
    plots=plots,
)
