# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/limits`: what a fault past a segment's limit costs, as Bochs raises it and the kernel deals with it.

QEMU enforces no limits, so the plugin charges each access past one as `entry.fault_cycles` and
`entry.limit_fault_path_cycles` of the machine. Here the latter is measured: what the kernel executes between such a
fault and its return is taken from Bochs' trace and executed on the model (`cobnut-path`).
"""

import json
import subprocess
from collections.abc import Sequence

from cobnut import machines, paths, sheets
from cobnut.checks import TOLERANCE, Check, above, between, judge
from cobnut.emulators import bochs
from cobnut.emulators.bochs_trace import Step
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.agreement import TURNS, compare
from cobnut.machines import Machine
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PARAMETER = "entry.limit_fault_path_cycles"
MACHINES = ("i486", "pentium-90", "pentium-133", "pentium4-1400")


def run(lab: Lab) -> Result:
    """Traces the faults and costs their paths on each machine."""
    bochs.ensure()
    found = compare(lab, TURNS, lab.settings["instructions"])
    if not found.paths:
        raise CobnutError("Bochs raised no fault past a limit")
    shortest = min(found.paths, key=len)
    costs = {name: cost(shortest, machines.read(name)) for name in MACHINES}
    checks = [
        judge(
            "faults",
            len(found.paths),
            "faults",
            above(0),
            f"Past the limit of a thread's own segment; {len(shortest)} instructions of the kernel each.",
        ),
        *(judge_machine(machines.read(name), one) for name, one in costs.items()),
    ]
    cycles = Series("path.cycles", "modelled cycles", list(costs), [one["cycles"] for one in costs.values()])
    lengths = Series("path.instructions", "instructions", ["shortest", "longest"], _ends(found.paths))
    return lab.result([cycles, lengths], checks, emulator=f"Bochs {bochs.version()}")


def judge_machine(machine: Machine, measured: dict) -> Check:
    """Whether the machine file says what was measured."""
    charged = machine[PARAMETER]
    return judge(
        machine.name,
        measured["cycles"],
        "modelled cycles",
        between(round(charged * (1 - TOLERANCE)), round(charged * (1 + TOLERANCE))),
        f"The kernel's path with nothing missed: {measured['instructions']} instructions. The machine file charges"
        f" {charged:g} as {PARAMETER}.",
    )


def cost(path: Sequence[Step], machine: Machine) -> dict:
    """What `path` costs on `machine` when TLBs and caches hold all of it."""
    command = [str(paths.PATH_COST), str(machine.path)]
    done = subprocess.run(command, input=listing(path), capture_output=True, text=True, check=False)
    if done.returncode:
        raise CobnutError(done.stderr.strip().removeprefix("cobnut-path: ") or "the path could not be costed")
    return dict(json.loads(done.stdout))


def listing(path: Sequence[Step]) -> str:
    """As `cobnut-path` reads it."""
    lines = []
    for step in path:
        lines.append(f"i {step.linear:x} {step.physical:x} {step.code}")
        lines += [f"{'w' if one.write else 'r'} {one.linear:x} {one.physical:x} {one.size:x}" for one in step.accesses]
    return "\n".join(lines) + "\n"


def _ends(found: Sequence[Sequence[Step]]) -> list[float]:
    lengths = [len(path) for path in found]
    return [min(lengths), max(lengths)]


EXPERIMENT = Experiment(
    name="lab/limits",
    sheet=SHEET,
    kind=Kind.TOOL,
    settings={"instructions": Setting(20_000, 5_000, range(1_000, 1_000_001), "to trace")},
    run=run,
    plots=SHEET.all_plots,
)
