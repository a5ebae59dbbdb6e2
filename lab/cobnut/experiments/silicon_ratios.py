# SPDX-License-Identifier: GPL-2.0-or-later
"""`silicon/ratios`: what can be measured of the models' costs on the processor that this runs on, as ratios.

Segment loads and far returns against a near call with its return, a system call by `int` against one by sysenter or
syscall, loads that walk the page tables against those that find their translation. Beside each stands the same ratio of
the machine files, where they have its parts: another processor, so it is the order that can be compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cobnut import attacks, machines, sheets
from cobnut.checks import Check, above, judge
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab
from cobnut.experiments.silicon_segments import modelled, processor
from cobnut.machines import Machine
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

NEAR = "call_return"


@dataclass(frozen=True)
class Ratio:
    """Which of the measured costs are divided, and what that says. Not every kernel offers what is `optional`."""

    name: str
    above: str
    below: str
    text: str
    optional: bool = False


RATIOS = (
    Ratio("segment_load", "load_ds", NEAR, "a load of DS over a near call with its return"),
    Ratio("far_return", "far_return", NEAR, "a far return with its pushes over a near call with its return"),
    Ratio("int", "int_getppid", "fast_getppid", "a system call by int over one by sysenter or syscall", optional=True),
    Ratio("page_walk", "load_walk", "load_hit", "a load that walks the page tables over one that does not"),
)


def run(lab: Lab) -> Result:
    """Runs the Linux program once."""
    output = attacks.run_on_silicon(attacks.linux_program(), measure=True)
    if not (measured := attacks.costs(output)):
        raise CobnutError("silicon/ratios: the program measures nothing")
    described = [machines.load(name) for name in machines.known("ia32")]
    return lab.result(series_of(measured, described), judge_all(measured), emulator=f"no emulator: {processor()}")


def ratios_of(measured: Mapping[str, float]) -> dict[str, float]:
    pairs = {one.name: (measured.get(one.above), measured.get(one.below)) for one in RATIOS}
    return {name: above / below for name, (above, below) in pairs.items() if above and below}


def modelled_ratios(machine: Machine) -> dict[str, float]:
    """The same ratios by a machine file, of those whose parts it has. Loads find their lines in the second level, as
    the measured ones do; walks find their entries, too.
    """

    def of(name: str) -> float | None:
        return machine[name] if name in machine.parameters else None

    near = machine["instructions.call"] + machine["instructions.return"]
    segments = modelled(machine)
    found: dict[str, float | None] = {
        "segment_load": segments["load_ds"] / near,
        "far_return": (segments["far_return"] + 2 * machine["instructions.store"]) / near,
    }
    slow, fast = of("entry.int_iret_cycles"), of("entry.sysenter_sysexit_cycles")
    found["int"] = slow / fast if slow and fast else None
    section = "tlb" if "tlb.entries" in machine.parameters else "dtlb"
    miss, whole = of(f"{section}.miss_cycles"), of(f"{section}.refill_cycles")
    if miss is None and whole is not None:
        miss = whole / machine[f"{section}.entries"]
    if miss is not None:
        hit = machine["instructions.load"] + machine["l2.hit_cycles"]
        found["page_walk"] = (hit + miss) / hit
    return {name: ratio for name, ratio in found.items() if ratio is not None}


def judge_all(measured: Mapping[str, float]) -> list[Check]:
    """The order of each pair, of medians: how far apart they are is this processor's."""
    found = ratios_of(measured)
    return [
        judge(
            one.name,
            found.get(one.name),
            "times",
            above(1),
            f"Ticks of this processor's time-stamp counter, medians: {one.text}.",
        )
        for one in RATIOS
        if one.name in found or not one.optional
    ]


def series_of(measured: Mapping[str, float], described: list[Machine]) -> list[Series]:
    names = [one.name for one in RATIOS]
    columns = {"ratio.here": ratios_of(measured)}
    columns |= {f"ratio.{machine.name}": modelled_ratios(machine) for machine in described}
    parts = list(dict.fromkeys(part for one in RATIOS for part in (one.above, one.below)))
    return [
        *(Series(column, "times", names, [found.get(name) for name in names]) for column, found in columns.items()),
        Series("ticks", "ticks", parts, [measured.get(part) for part in parts]),
    ]


def plots(result: Result) -> list[Plot]:
    columns = {one.name: one.name.split(".", 1)[1] for one in result.series if one.name.startswith("ratio.")}
    columns["ratio.here"] = f"here ({result.provenance.emulator.split(': ', 1)[1]})"
    return [
        Table(
            "Ratios of costs here, and in the machine files",
            "ratio",
            columns,
            rows={one.name: one.text for one in RATIOS},
            caption=(
                "Measured system calls are whole ones of this Linux; a machine file has entry and exit alone. Its walk"
                " finds the page tables in the second level, a measured one also walks a hypervisor's, if there is one."
            ),
            wide=True,
        ),
        Table("Ticks of the time-stamp counter, medians", "operation", {"ticks": "ticks"}),
    ]


EXPERIMENT = Experiment(
    name="silicon/ratios",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    settings={},
    run=run,
    plots=plots,
)
