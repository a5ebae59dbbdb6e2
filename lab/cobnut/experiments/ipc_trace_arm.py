# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/trace` on the boards with an ARM processor: what a round trip consists of there, on any kernel.

With `--image`, the kernel that is named. Without images this kernel with a server and a client of `crowd`.
"""

import tempfile
from pathlib import Path

from cobnut import measured as written
from cobnut import measuring, sheets
from cobnut.checks import Check, exactly
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd, ipc_trace, runner
from cobnut.experiments.crowd import Counted, Crowd
from cobnut.experiments.ipc_trace import Trace
from cobnut.experiments.pingpong import TIMEOUT_SECONDS, guest_failure
from cobnut.guests import Guest
from cobnut.plots import Bars, Ledger, Plot
from cobnut.results import Result

SHEET = sheets.beside(__file__)

PLACE = "apart"
ENTRIES = tuple(f"entries_{kind}" for kind in ("call", "swi", "prefetch", "data", "undefined", "irq"))
COUNTED = (
    ("instructions_kernel", "instructions"),
    ("instructions_user", "instructions"),
    *((name, "entries") for name in ENTRIES),
    *((name, "writes") for name in crowd.SWITCH_WRITES),
    *((name, "operations") for name in crowd.FLUSHES),
    ("drains", "operations"),
)


def run(lab: Lab) -> Result:
    """Measures the kernel that was given, or this one."""
    if lab.guest:
        traces = measure_given(lab, lab.guest)
        checks = [check for trace in traces for check in judge_trace(trace)]
    else:
        trace, counted = measure_ours(lab)
        traces = [trace]
        checks = [*judge_trace(trace, lab.settings["rounds"]), judge_same(trace, counted)]
    return lab.result(ipc_trace.series_of(traces, COUNTED), checks, ipc_trace.ledger_of(traces))


def measure_given(lab: Lab, guest: Guest) -> list[Trace]:
    """Boots the guest that was given, with its console on the terminal, and returns its cases. Nothing before the first
    one is modelled, unless the whole run is wanted.
    """
    whole = bool(lab.settings["whole"])
    more = () if whole else (("from", "begin"),)
    _, text = measuring.boot(guest, lab.machine, lab.changes, more=more)
    return ipc_trace.given_cases(guest.boot.kernel.name, written.read(text), whole=whole)


def measure_ours(lab: Lab) -> tuple[Trace, Counted]:
    """A server and a client, as any kernel's and as `ipc/path` measures them."""
    spec = Crowd("calls", PLACE, 1, lab.settings["rounds"], lab.settings["warmup"])
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "measured.json"
        plugin = measuring.plugin(lab.board, lab.machine, out, lab.changes, more=(("from", "begin"),))
        outcome = runner.run(lab.board, crowd.boot_of(lab, spec), TIMEOUT_SECONDS, plugin)
        if failure := guest_failure(outcome, crowd.PROGRAM):
            raise CobnutError(failure)
        (trace,) = ipc_trace.traces_of(lab.board.kernel.name, written.read(out.read_bytes()), (f"cobnut.{PLACE}",))
    (counted,) = crowd.measure(lab, [spec])
    return trace, counted


def judge_trace(trace: Trace, rounds: int | None = None) -> list[Check]:
    """What has to hold on every kernel; of a whole run it is not known how often each switch was made."""
    checks = ipc_trace.judge_ledger(trace)
    if trace.name != ipc_trace.WHOLE:
        writes = trace.sum(*crowd.SWITCH_WRITES) - trace.times(*ipc_trace.SWITCHING)
        checks += [
            ipc_trace.judge_rounds(trace, rounds),
            SHEET.judge(f"{trace.name}.writes", writes, exactly(0)),
        ]
    return checks


def judge_same(trace: Trace, counted: Counted) -> Check:
    cycles = None if counted.failure else trace.total - counted.regions[1].cycles_total
    return SHEET.judge(f"{trace.name}.as_path", cycles, exactly(0), counted.failure)


def plots(result: Result) -> list[Plot]:
    names = {row.name: row.name for row in result.ledger}
    instructions = {"round_trip.instructions_kernel": "kernel", "round_trip.instructions_user": "user"}

    def bars(title: str, unit: str, counters: tuple[str, ...]) -> Bars:
        return Bars(title, "case", unit, {f"round_trip.{name}": name.replace("_", " ") for name in counters})

    return [
        Bars("Instructions of a round trip", "case", "instructions", instructions),
        bars("Kernel entries of a round trip", "entries", ENTRIES),
        bars("What switches of a round trip write", "writes", crowd.SWITCH_WRITES),
        bars("What a round trip flushes", "operations", crowd.FLUSHES),
        Ledger("Where the modelled cycles of a round trip go", "case", "modelled cycles", names, wide=True),
    ]


EXPERIMENT = Experiment(
    name="ipc/trace",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine="sa1100-200",
    boards=("collie", "versatilepb"),
    settings={
        "rounds": Setting(100, 20, crowd.ROUNDS, "round trips measured"),
        "warmup": Setting(10, 10, crowd.ROUNDS, "round trips before the measured ones"),
        "whole": ipc_trace.WHOLE_RUN,
    },
    run=run,
    plots=plots,
    takes_images=True,
    show=lambda result: ipc_trace.show(result, COUNTED),
)
