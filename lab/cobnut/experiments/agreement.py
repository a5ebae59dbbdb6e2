# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/agreement`: the same guest in QEMU and in Bochs: do the two see the same accesses and switches?

QEMU's side is a record by the plugin, so what every figure of this laboratory rests on; Bochs' side is its debugger's
trace. Both begin at the marker of the first measured round trip of the ping-pong. What is compared is in
`cobnut/agreement.py`.

In one of the runs the client reads on both sides of the start of its own segment: in Bochs each of these reads faults,
and the plugin has to tell of each.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from cobnut import agreement, recording, sheets
from cobnut.agreement import REASONS, Comparison, Group
from cobnut.checks import Check, above, at_least, exactly, judge
from cobnut.emulators import bochs, bochs_trace, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.experiments.pingpong import TIMEOUT_SECONDS, PingPong, boot_of, guest_failure
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PAIRS = ("large_large", "small_small")
TURNS = "turns"  # between small spaces, with reads past the limits of a segment
RUNS = (*PAIRS, TURNS)
TURNS_A_ROUND = 3
FAULTING = 4  # times the instructions, with those of the kernel after each fault
CPU = "pentium"  # both emulators have it: no sysenter, no global pages
SHORTEST_ROUND = 50  # instructions of a round trip, at least


def run(lab: Lab) -> Result:
    """Runs each pair of spaces in both emulators, and compares."""
    bochs.ensure()
    found = runner.mapped(lab, RUNS, lambda pair: compare(lab, pair, lab.settings["instructions"]), at_once=1)
    checks = [check for pair, one in found.items() for check in judge_pair(pair, one, lab.settings["instructions"])]
    checks.append(judge_limits(found[TURNS]))
    return lab.result(series_of(found), checks, emulator=f"{lab.emulator}, Bochs {bochs.version()}")


def judge_pair(pair: str, found: Comparison, wanted: int) -> list[Check]:
    """The verdict on one pair of spaces: enough was compared, all of it the same."""
    known = "; ".join(f"{count:,} {REASONS[name]}" for name, count in found.reasons.items() if count)
    switches = found.directories if pair == "large_large" else found.bases
    kind = "writes of CR3" if pair == "large_large" else "changes of the user code's base"
    return [
        judge(
            f"{pair}.instructions",
            found.instructions,
            "instructions",
            at_least(wanted),
            "The same linear addresses one after the other.",
        ),
        judge(
            f"{pair}.accesses",
            found.accesses,
            "accesses",
            above(0),
            "Of the same instructions, sizes and linear addresses, each read where the other reads and written where"
            " the other writes.",
        ),
        judge(
            f"{pair}.switches",
            switches,
            "switches",
            above(0),
            f"As {kind} between the same instructions; here {found.directories:,} of CR3 and {found.bases:,} of the"
            " base.",
        ),
        judge(
            f"{pair}.unexplained",
            found.unexplained,
            "differences",
            exactly(0),
            " | ".join(found.shown) or f"Differences with a known reason: {known or 'none'}.",
        ),
    ]


def judge_limits(found: Comparison) -> Check:
    lengths = sorted({len(path) for path in found.paths})
    return judge(
        f"{TURNS}.limit_faults",
        found.limits,
        "faults",
        above(0),
        "Protection faults of Bochs' past the limit of a segment, each of which the plugin told of before the same"
        f" access; the kernel then executes {' or '.join(map(str, lengths)) or 'no'} instructions.",
    )


def series_of(found: dict[str, Comparison]) -> list[Series]:
    """What was compared, and the differences by reason."""
    compared = ("instructions", "accesses", "directories", "bases", "limits")
    every = []
    for pair, one in found.items():
        every.append(Series(f"{pair}.compared", "times", compared, [getattr(one, name) for name in compared]))
        names = [*REASONS, "unexplained"]
        counts = [*(one.reasons[name] for name in REASONS), one.unexplained]
        every.append(Series(f"{pair}.differences", "times", names, counts))
    return every


def spec_of(pair: str, instructions: int) -> PingPong:
    """The ping-pong of a pair of spaces, with that many instructions at least."""
    spec = PingPong(pair, rounds=instructions // SHORTEST_ROUND, warmup=10, slot=16, small=512, sysenter=False)
    if pair != TURNS:
        return spec
    return replace(spec, pair="small_small", gen="turns", sizes=(TURNS_A_ROUND, TURNS_A_ROUND, 1))


def compare(lab: Lab, pair: str, wanted: int) -> Comparison:
    """Runs a pair of spaces in both emulators and compares so many instructions."""
    boot = boot_of(lab, spec_of(pair, wanted), CPU)
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        record = Path(folder) / "record"
        outcome = qemu.run(boot, timeout=TIMEOUT_SECONDS, plugin=recording.plugin(boot.kernel, record))
        failure = guest_failure(outcome)
        if failure:
            raise CobnutError(f"the ping-pong in QEMU: {failure}")
        seen = agreement.groups(recording.events(record, wanted))
    start = _first(seen)
    # a timer's handler that ran in one of the two only must not make that side too short
    more = FAULTING if pair == TURNS else 1
    lines = bochs.trace(boot, start, more * wanted + wanted // 10, timeout=TIMEOUT_SECONDS)
    steps = list(bochs_trace.read(lines))
    if not steps:
        raise CobnutError(f"the ping-pong in Bochs did not reach the first round trip at {start:#x}")
    return agreement.compare(seen, steps)


def _first(seen: list[Group]) -> int:
    if not seen:
        raise CobnutError("the ping-pong's record holds no round trip")
    return seen[0].instructions[0][0]


EXPERIMENT = Experiment(
    name="lab/agreement",
    sheet=SHEET,
    kind=Kind.TOOL,
    settings={"instructions": Setting(100_000, 10_000, range(1_000, 1_000_001), "to compare, for each pair of spaces")},
    run=run,
    plots=SHEET.all_plots,
)
