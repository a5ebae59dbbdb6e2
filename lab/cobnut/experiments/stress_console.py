# SPDX-License-Identifier: GPL-2.0-or-later
"""What the stress program (user/stress) says on the console, and what is judged of any of its boots."""

import re

from cobnut.checks import Check, exactly, judge
from cobnut.emulators import Outcome
from cobnut.findings import Findings

COUNTER = re.compile(r"^stress: (\w+) (\d+)$", re.MULTILINE)
FAILURE = re.compile(r"^stress: FAIL (.*)$", re.MULTILINE)


def counters(outcome: Outcome) -> dict[str, int]:
    """What the program counted, by name; it says so at its end."""
    return {name: int(value) for name, value in COUNTER.findall(outcome.console)}


def failure(outcome: Outcome, timeout: float, *, stopped: bool = False) -> str | None:
    """Why a boot of at most `timeout` seconds failed, None if it did not. Without counters it has, unless a report
    `stopped` it.
    """
    if said := FAILURE.search(outcome.console):
        return said.group(1)
    if outcome.timed_out:
        return f"does not end within {timeout:g} s"
    if message := outcome.kernel_message:
        return f"the kernel stopped: {message}"
    if not counters(outcome) and not stopped:
        return "does not come to its end"
    return None


def judge_reports(where: str, findings: Findings, promise: str) -> Check:
    """That the sanitizer found nothing, which is what `promise` says in a sentence."""
    told = " ".join([promise, *findings.lines[:1]])
    return judge(f"reports.{where}", len(findings.reports), "reports", exactly(0), told)


def judge_failure(where: str, failed: str | None) -> Check:
    """That the program saw what its model says."""
    right = "Every access gave what the model says: a fault, or the page's content."
    return judge(f"wrong.{where}", int(failed is not None), "failures", exactly(0), failed or right)
