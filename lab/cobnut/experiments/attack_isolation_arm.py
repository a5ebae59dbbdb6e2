# SPDX-License-Identifier: GPL-2.0-or-later
"""`attack/isolation` on the boards with an ARM processor: everything that a user can try to get out of its space.

user/attack/arm makes the attempts and judges them, on the kernel with tags, where the translations of several spaces
stay cached side by side, and on the standard one. The sanitizer sees what the emulator, which caches nothing, does not
show.
"""

from cobnut import attacks, build
from cobnut.attacks import REFUSED, Attempt
from cobnut.boards import Board
from cobnut.checks import Check, at_least, exactly, judge, named
from cobnut.emulators import Boot
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, runner
from cobnut.findings import Findings
from cobnut.modules import alone
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

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
    title="What a user can try to read, write or execute outside of its space: all refused",
    source="W03 section 2 (spaces told apart by domains and by PID relocation share TLBs and caches)",
    kind=Kind.PROOF,
    boards=("collie", "versatilepb"),
    settings={},
    checkable=True,
    long_proof=True,
    run=run,
    plots=plots,
    checks=(named("KERNEL", ("attempts", "not_refused", "reports")),),
    story=(
        "An attacker, a new space for each attempt, runs at the address of a victim, from which only its domain and its"
        " PID slot tell it apart. It makes every kind of access to the victims' memory, by its address after relocation"
        " too and in every slot, to their UTCBs, the kernel and the devices; tries the coprocessor's and the status"
        " registers, domains and PID among them; jumps to where the kernel's entries are not; and uses the kernel as a"
        " deputy. Then scenes: memory that was mapped and revoked, sections and pages; successors of dead spaces; more"
        " spaces than there are domains at one address; spaces that the timer switches between while each watches its"
        " own word; aliases; instructions that straddle the end of the addresses that are relocated; flags that a"
        " partner sees. Each access has to come through in the attacker's own memory first."
    ),
    cannot_say=(
        (
            "QEMU drops translations at each write of the domain register and has no caches: that nothing stale is used"
            " is what the sanitizer says, by its model of both."
        ),
        "The machine model is not used here.",
        (
            "What a user learns from the time that an access takes is not tried: TLBs and caches are shared, more than"
            " with a standard kernel."
        ),
    ),
)
