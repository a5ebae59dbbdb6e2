# SPDX-License-Identifier: GPL-2.0-or-later
"""`attack/isolation`: everything that a user can try to get out of its space, on processors that enforce segment
limits.

user/attack makes the attempts and judges them. Bochs enforces limits and has a Pentium (int, iret) and a Pentium 4
(sysenter, sysexit, trampoline). QEMU does not enforce them: there the same run shows that the program sees what gets
through.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from cobnut import attacks, sheets
from cobnut.attacks import REFUSED, UNENFORCED, Attempt
from cobnut.checks import Check, at_least, exactly
from cobnut.emulators import Boot, Outcome, bochs, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.modules import alone
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

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
    checks += [check for each in automatic for check in judge_automatic(each)]
    checks += judge_without_limits(without)
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


def judge_run(each: Run) -> Iterator[Check]:
    """The verdict where limits are enforced."""
    for kind in ("small", "large"):
        names = {one.name for one in each.attempts if one.name.startswith(f"{kind}.")}
        yield SHEET.judge(f"{each.where}.{kind}.attempts", len(names), at_least(LEAST_ATTEMPTS))
    yield judge_refusals(each)


def judge_refusals(each: Run) -> Check:
    """That every single one is refused."""
    others = [one for one in each.attempts if one.status != REFUSED]
    said = "; ".join(f"{one.name} {one.status} {one.how}" for one in others)
    told = SHEET.texts["refused"].format(others=said)
    return SHEET.judge(f"{each.where}.not_refused", len(others), exactly(0), told=told)


def judge_bound(each: Run) -> Iterator[Check]:
    """The verdict where attackers are bound to a page directory."""
    yield SHEET.judge(f"{each.where}.in_bound_slots", each.bound, at_least(LEAST_BOUND))
    yield judge_refusals(each)


def judge_automatic(each: Run) -> Iterator[Check]:
    """The verdict where the kernel chooses the slots, and takes them back meanwhile."""
    yield SHEET.judge(f"{each.where}.in_slots", each.in_slots, at_least(LEAST_IN_SLOTS))
    yield SHEET.judge(f"{each.where}.changed", each.changed, at_least(LEAST_CHANGED))
    yield judge_refusals(each)


def judge_without_limits(each: Run) -> Iterator[Check]:
    """What gets through where limits are not enforced shows that the program would see it."""
    others = each.named("escaped", "blind")
    yield SHEET.judge(f"{each.where}.let_through", len(each.named(UNENFORCED)), at_least(LEAST_SEEN))
    told = SHEET.texts["refused_without_limits"].format(others=", ".join(others))
    yield SHEET.judge(f"{each.where}.not_refused", len(others), exactly(0), told=told)


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
    sheet=SHEET,
    kind=Kind.PROOF,
    settings={
        "processors": Setting(len(BOCHS_CPUS), 1, range(1, len(BOCHS_CPUS) + 1), "of Bochs: a Pentium 4, a Pentium")
    },
    checkable=True,
    long_proof=True,
    run=run,
    plots=plots,
)
