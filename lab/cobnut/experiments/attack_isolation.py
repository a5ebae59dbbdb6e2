# SPDX-License-Identifier: GPL-2.0-or-later
"""`attack/isolation`: everything that a user can try to get out of its space, on processors that enforce segment
limits.

user/attack makes the attempts and judges them. Bochs enforces limits and has a Pentium (int, iret) and a Pentium 4
(sysenter, sysexit, trampoline). QEMU does not enforce them: there the same run shows that the program sees what gets
through.
"""

import re
from dataclasses import dataclass
from functools import partial

from cobnut import attacks
from cobnut.attacks import REFUSED, UNENFORCED, Attempt
from cobnut.checks import Check, at_least, exactly, judge, named
from cobnut.emulators import Boot, Outcome, bochs, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.modules import alone
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

BOCHS_CPUS = ("p4_willamette", "pentium")
QEMU_CPU = "pentium3"
AREA_MB = 1024  # its first slot begins where large spaces end, so that both kinds have a neighbour right above
TIMEOUT_SECONDS = 600
SMALL_AREA_MB = 128  # where the kernel chooses, too small for all: slots change hands
LEAST_ATTEMPTS = 60  # distinct ones, from one kind of space
LEAST_SEEN = 60
VECTOR = re.compile(r"vector (\d+)")
PLACED = re.compile(r"attack: placed (\d+) exclusive, (\d+) bound, (\d+) large, (\d+) changed")
LEAST_IN_SLOTS, LEAST_CHANGED, LEAST_BOUND = 200, 50, 200


@dataclass(frozen=True)
class Run:
    """All attempts on one processor."""

    where: str
    attempts: list[Attempt]
    in_slots: int = 0  # how many began in a slot
    changed: int = 0  # and had another one at their end, or none
    bound: int = 0  # how many began in one that is bound to a page directory

    def named(self, *statuses: str) -> list[str]:
        return [one.name for one in self.attempts if one.status in statuses]


def run(lab: Lab) -> Result:
    """Boots the attack program on Bochs' processors, and on QEMU for comparison."""
    bochs.ensure()
    cpus = BOCHS_CPUS[: lab.settings["processors"]]
    lab.meter.total(3 * len(cpus) + 1)

    def on_bochs(placed: str | None, cpu: str) -> Run:
        name = f"bochs.{cpu}.{placed}" if placed else f"bochs.{cpu}"
        return _run(name, bochs.run(_boot(lab, cpu, limits=True, placed=placed), timeout=TIMEOUT_SECONDS))

    def on_qemu(cpu: str) -> Run:
        return _run(f"qemu.{cpu}", qemu.run(_boot(lab, cpu, limits=False), timeout=TIMEOUT_SECONDS, repeatable=True))

    runs, bound, automatic = (
        runner.each(lab, cpus, partial(on_bochs, placed), at_once=1) for placed in (None, "bound", "automatic")
    )
    [without] = runner.each(lab, [QEMU_CPU], on_qemu)
    checks = [check for each in runs for check in judge_run(each)]
    checks += [check for each in bound for check in judge_bound(each)]
    checks += [check for each in automatic for check in judge_automatic(each)] + judge_without_limits(without)
    return lab.result(series_of(runs, without), checks, emulator=f"Bochs {bochs.version()}, {lab.emulator}")


def _boot(lab: Lab, cpu: str, *, limits: bool, placed: str | None = None) -> Boot:
    area = SMALL_AREA_MB if placed else AREA_MB
    arguments = f"area={area} limits={int(limits)}{f' placed={placed}' if placed else ''}"
    return Boot(lab.board.kernel, alone(lab.board, "attack", arguments), f"small={area}", cpu)


def _run(where: str, outcome: Outcome) -> Run:
    if outcome.timed_out:
        raise CobnutError(f"{where}: the attack program does not end within {TIMEOUT_SECONDS} s")
    if outcome.kernel_message:
        raise CobnutError(f"{where}: the kernel stopped: {outcome.kernel_message}")
    try:
        found = attacks.read(outcome.console)
    except ValueError as error:
        raise CobnutError(f"{where}: {error}") from None
    placed = PLACED.search(outcome.console)
    if placed is None:
        raise CobnutError(f"{where}: the attack program does not say where its attackers were")
    exclusive, bound, _, changed = map(int, placed.groups())
    return Run(where, found, exclusive + bound, changed, bound)


def judge_run(each: Run) -> list[Check]:
    """The verdict where limits are enforced."""
    checks = []
    for kind in ("small", "large"):
        names = {one.name for one in each.attempts if one.name.startswith(f"{kind}.")}
        what = "Distinct attempts" if kind == "small" else "The same, where they make sense,"
        checks.append(
            judge(
                f"{each.where}.{kind}.attempts",
                len(names),
                "attempts",
                at_least(LEAST_ATTEMPTS),
                f"{what} from a {kind} space.",
            )
        )
    return [*checks, judge_refusals(each)]


def judge_refusals(each: Run) -> Check:
    """That every single one is refused."""
    others = [one for one in each.attempts if one.status != REFUSED]
    said = "; ".join(f"{one.name} {one.status} {one.how}" for one in others)
    return judge(
        f"{each.where}.not_refused",
        len(others),
        "attempts",
        exactly(0),
        f"Each is stopped in the way that is expected of it, and no victim's memory, slot or UTCB has changed. {said}",
    )


def judge_bound(each: Run) -> list[Check]:
    """The verdict where attackers are bound to a page directory."""
    why = (
        "Attempts from a slot that is bound to a victim's page directory; another victim has the same place in another"
        " one."
    )
    return [
        judge(f"{each.where}.in_bound_slots", each.bound, "attempts", at_least(LEAST_BOUND), why),
        judge_refusals(each),
    ]


def judge_automatic(each: Run) -> list[Check]:
    """The verdict where the kernel chooses the slots, and takes them back meanwhile."""
    return [
        judge(
            f"{each.where}.in_slots",
            each.in_slots,
            "attempts",
            at_least(LEAST_IN_SLOTS),
            "Attempts that began in a slot of the kernel's choice.",
        ),
        judge(
            f"{each.where}.changed",
            each.changed,
            "attempts",
            at_least(LEAST_CHANGED),
            "Attackers that were promoted, moved or demoted before they were stopped; other spaces keep taking slots.",
        ),
        judge_refusals(each),
    ]


def judge_without_limits(each: Run) -> list[Check]:
    """What gets through where limits are not enforced shows that the program would see it."""
    others = each.named("escaped", "blind")
    return [
        judge(
            f"{each.where}.let_through",
            len(each.named(UNENFORCED)),
            "attempts",
            at_least(LEAST_SEEN),
            "This emulator lets accesses past a segment's limit pass: the program sees foreign memory read, written or"
            " executed.",
        ),
        judge(
            f"{each.where}.not_refused",
            len(others),
            "attempts",
            exactly(0),
            f"What does not depend on limits is refused here, too. {', '.join(others)}",
        ),
    ]


def series_of(runs: list[Run], without: Run) -> list[Series]:
    """By attempt: 1 for those that were refused, and the vector of the exception that the attempt ended with."""
    names = [one.name for one in runs[0].attempts]
    every = []
    for each in [*runs, without]:
        found = {one.name: one for one in each.attempts}
        every.append(
            Series(
                f"{each.where}.refused",
                "times",
                names,
                [int(found[n].status == REFUSED) if n in found else None for n in names],
            )
        )
        every.append(Series(f"{each.where}.vector", "vector", names, [_vector(found.get(n)) for n in names]))
    return every


def _vector(attempt: Attempt | None) -> int | None:
    found = VECTOR.search(attempt.how) if attempt else None
    return int(found.group(1)) if found else None


def plots(result: Result) -> list[Plot]:
    columns = {one.name: one.name.replace(".", " ") for one in result.series}
    return [
        Table(
            "Each attempt",
            "attempt",
            columns,
            caption=(
                "Vector 6 is the attempt's own end: it found its own memory where it aimed at foreign memory, after"
                " promotion and a page fault that its pager has answered. A dash: a message about a port, or silence."
            ),
            wide=True,
        )
    ]


EXPERIMENT = Experiment(
    name="attack/isolation",
    title="What a user can try to read, write or execute outside of its space: all refused",
    source="L95 section 4 (small spaces share one linear address space)",
    kind=Kind.PROOF,
    settings={
        "processors": Setting(len(BOCHS_CPUS), 1, range(1, len(BOCHS_CPUS) + 1), "of Bochs: a Pentium 4, a Pentium")
    },
    checkable=True,
    long_proof=True,
    run=run,
    plots=plots,
    checks=(
        "WHERE.SPACE.attempts",
        named("WHERE", ("not_refused", "in_bound_slots", "in_slots", "changed", "let_through")),
    ),
    story=(
        "An attacker, a new space for each attempt, sits between two small spaces in whose memory every byte is known,"
        " and runs in the page directory of a third, or it is a large space itself, or is bound to a victim's page"
        " directory, or all are where the kernel puts them, while others are promoted, demoted and take their slots. It"
        " tries every segment register at the limit to the byte and across the 4 GB wrap, string instructions that"
        " cross it, stacks at the edge, far calls, jumps and returns, forged selectors, expand-down segments,"
        " privileged instructions, doctored frames and flags on each way into and out of the kernel, the tables, ports."
        " A controller says how each ended, and looks whether anything that is not the attacker's has changed. Each"
        " instruction has to come through inside the limits first."
    ),
    cannot_say=(
        (
            "An emulator's processor does not speculate: what real ones read past a limit without ever showing it is"
            " not seen (docs/security.md)."
        ),
        "Attempts are single: two threads that race against each other are the business of fuzz and sanitize/stress.",
        "The machine model is not used here.",
    ),
)
