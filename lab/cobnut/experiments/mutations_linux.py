# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/mutations --set guest=linux-fass`: Linux with fast address-space switching, without one of the operations
on caches, TLB and caching page directory that the series brings, each in turn: is it noticed?

All mutants are in one kernel (cobnut/linux/mutants.py). The guest's init works as in the tests of the series, with more
processes than there are domains, and with regions. What the unchanged kernel is reported for is Linux's own and no
proof.
"""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut import images, paths
from cobnut.checks import Check, above, exactly, judge
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Lab, runner
from cobnut.findings import NOTHING, Findings, Report, read
from cobnut.linux import board as board_linux
from cobnut.linux import mutants
from cobnut.linux.mutants import Mutant, Schema
from cobnut.results import Result, Series
from cobnut.sheets import Sheet

WORK = "memory 1 heap crowd 17 2 sharers 6 4 ring-17-1 3 0"
QUICK = ("vacate.local_flush_tlb_all", "revoke.pmd_clear", "fass_switch_mm.fass_flush_caches")
OF_PROCESSOR = {"collie": "tlb-v4wb.S", "versatilepb": "tlb-v4wbi.S"}  # by the board's name
STOCKS_OWN = {"__create_mapping"}  # functions that the sanitizer reports in the standard kernel, too
MEMORY_MB, TIMEOUT_SECONDS = 64, 600
PATIENCE = 2  # a mutant that makes so many times the accesses of the whole kernel will not end

Cause = tuple[str, str]  # of a report: its kind, and the function that stored before


@dataclass(frozen=True)
class Run:
    """One boot: what init said, why it failed if it did, and what the sanitizer found."""

    console: str
    failure: str | None
    findings: Findings

    def beyond(self, known: set[Cause]) -> list[Report]:
        """The reports of other causes than these."""
        return [report for report in self.findings.reports if cause(report) not in known]


def cause(report: Report) -> Cause:
    return report.kind, (report.store_symbol or "").partition("+")[0]


def run(lab: Lab, sheet: Sheet) -> Result:
    """Boots the kernel as it is, then each mutant."""
    schema = mutants.ensure(lab.board)
    others = {name for board, name in OF_PROCESSOR.items() if board != lab.board.name}
    every = [one for one in schema.mutants if Path(one.file).name not in others]
    [baseline] = runner.each(lab, [0], lambda _: boot(lab, schema), lambda _: "as it is")
    reached = {int(n): int(times) for n, times in re.findall(r"^reached_(\d+) (\d+)", baseline.console, re.MULTILINE)}
    known = {cause(report) for report in baseline.findings.reports}
    never = [one for one in every if reached.get(one.number) == 0 and one.file.endswith((".c", ".h"))]
    tried = [one for one in every if one not in never and (not lab.quick or one.name in QUICK)]
    if lab.settings["most"]:
        tried = tried[: lab.settings["most"]]
    most = PATIENCE * baseline.findings.counts["accesses"]
    runs = runner.mapped(lab, tried, lambda one: boot(lab, schema, one, most=most), lambda one: one.name)
    caught = {one for one in tried if runs[one].failure or runs[one].beyond(known)}
    needless = [one for one in tried if one not in caught and one.name in sheet.texts]
    checks = [judge_baseline(baseline, known)]
    checks += [judge_mutant(one, runs[one], known) for one in tried if one not in needless]
    if not lab.quick and tried:
        wanted = [one for one in tried if one not in needless]
        share = 100 * len(caught) / len(wanted)
        checks.append(judge("caught", share, "%", exactly(100), f"{len(caught)} of {len(wanted)} mutants."))
        checks.append(judge_idle(sheet, needless, never))
    return lab.result(series_of(tried, runs, caught, reached), checks)


def judge_baseline(baseline: Run, known: set[Cause]) -> Check:
    """Nothing but what the unchanged Linux is reported for, too."""
    others = {store for _, store in known} - STOCKS_OWN
    why = f"The kernel as it is comes to its end, with no reports but of Linux's own. {baseline.failure or ''}"
    names = ", ".join(sorted(others))
    measured = len(others) + (baseline.failure is not None)
    return judge("unchanged", measured, "causes", exactly(0), f"{why} {names}".strip())


def judge_mutant(mutant: Mutant, found: Run, known: set[Cause]) -> Check:
    why = f"Without it ({mutant.text}) "
    reports = found.beyond(known)
    if reports:
        measured, unit = len(reports), "reports"
        why += f"something is used that may be stale: {reports[0].line}"
    elif found.failure:
        measured, unit = 1, "failed runs"
        why += f"the run fails: {found.failure}"
    else:
        measured, unit = 0, "reports"
        why += f"nothing is noticed in {found.findings.counts['accesses']:,} accesses."
    return judge(f"caught.{mutant.name}", measured, unit, above(0), why)


def judge_idle(sheet: Sheet, needless: list[Mutant], never: list[Mutant]) -> Check:
    """Those that are not reached, or not caught, and have a reason; one without is not ok."""
    reasons = [f"{one.name}: {sheet.texts[one.name]}" for one in needless]
    unexplained = [one for one in never if one.name not in sheet.texts]
    reasons += [f"{one.name}, never reached: {sheet.texts.get(one.name, 'why is not known.')}" for one in never]
    return judge("idle", len(unexplained), "mutants", exactly(0), f"Not needed by this run: {' '.join(reasons)}")


def series_of(
    tried: list[Mutant], runs: dict[Mutant, Run], caught: set[Mutant], reached: dict[int, int]
) -> Iterator[Series]:
    """How often each was reached in the kernel as it is (not counted in assembler), and how soon it was noticed: a run
    goes on to its end.
    """
    names = [one.name for one in tried]
    counted = [reached.get(one.number) or None for one in tried]
    whole = [runs[one].findings.counts["accesses"] / 1e6 if one in caught else None for one in tried]
    yield Series("executed", "times", names, counted)
    yield Series("caught_after", "million accesses", names, whole)


def boot(lab: Lab, schema: Schema, mutant: Mutant | None = None, most: int | None = None) -> Run:
    """Runs the work on the kernel, as it is or as one of its mutants, at most for so many accesses."""
    board = lab.board
    option = f"{mutants.OPTION}={mutant.number}" if mutant else ""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        disk, out = folder / "initrd", folder / "found.json"
        disk.write_bytes(board_linux.initrd())
        console = f"console={board_linux.PORTS[board.name].console} quiet fass=share {option}"
        words = f"{schema.linux.kernel} {console} -- {WORK} show /proc/{mutants.REACHED} off"
        image, *rest = images.parse([words, str(disk)], board.processor)
        what = Boot(image.path, tuple(rest), image.arguments, memory_mb=board.memory_mb or MEMORY_MB, as_initrd=True)
        plugin = [("mode", "sanitize"), ("symbols", str(schema.linux.symbols)), ("out", str(out))]
        plugin += [("stop", str(most))] if most else []
        outcome = qemu_arm.run(
            what, board.name, timeout=TIMEOUT_SECONDS, plugin=qemu.Plugin(paths.PLUGIN, tuple(plugin))
        )
        findings = read(out) if out.exists() else NOTHING
    if mutant is None and not findings.counts["accesses"]:
        raise CobnutError("the kernel with all mutants did not run")
    return Run(outcome.console, failure(outcome.console), findings)


def failure(console: str) -> str | None:
    """What is wrong with what init has said."""
    if wrong := re.search(r"FAIL.*|Unable to handle.*|Kernel panic.*|BUG:.*", console):
        return wrong[0].strip()
    return None if "guest: done" in console else "it does not come to its end"
