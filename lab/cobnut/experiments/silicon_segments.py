# SPDX-License-Identifier: GPL-2.0-or-later
"""`silicon/segments`: the attempts of `attack/isolation` that need no kernel of ours, on the processor that this runs
on.

Linux lets a process define segments (modify_ldt), whose limits the processor enforces. What segment loads, far returns,
a system call and a pipe round trip take there stands beside the models' figures; it says nothing about the modelled
machines.
"""

from collections.abc import Iterator
from dataclasses import replace

from cobnut import attacks, machines, sheets
from cobnut.attacks import REFUSED
from cobnut.checks import Check, above, at_least, at_most, exactly
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab
from cobnut.machines import Machine
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

LEAST_ATTEMPTS = 60
MEASURED = {
    "load_ds": "a load of DS",
    "load_es": "a load of ES",
    "load_fs": "a load of FS",
    "far_return": "a far return at the same privilege, with the pushes of what it takes",
    "near_return": "a near return, with its push",
    "getppid": "a system call of Linux",
    "pipe_round_trip": "a byte there and back by pipes, two processes on one processor",
}
LOADS = ("load_ds", "load_es", "load_fs")
SEEN_PERCENT, NOISE_PERCENT = 50, 10
WHERE = ("inside", "beyond", "absent")


def run(lab: Lab) -> Result:
    """Runs the Linux program once."""
    output = attacks.run_on_silicon(attacks.linux_program(), measure=True)
    try:
        attempts = attacks.read(output)
    except ValueError as error:
        raise CobnutError(f"silicon/segments: {error}") from None
    measured, traces = attacks.costs(output), attacks.speculation(output)
    described = [machines.load(name) for name in machines.known("ia32")]
    series = [
        *series_of(attempts, measured, described),
        Series("speculation", "%", WHERE, [traces.get(where) for where in WHERE]),
    ]
    return lab.result(series, judge_all(attempts, measured, traces), emulator=f"no emulator: {processor()}")


def processor() -> str:
    """What this machine's processor calls itself."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else "an unknown processor"


def judge_all(attempts: list[attacks.Attempt], measured: dict[str, float], traces: dict[str, float]) -> Iterator[Check]:
    """The limits hold for what instructions do. What is loaded ahead past them is a fact about this processor and no
    verdict; that it could be seen is checked."""
    others = [f"{one.name} {one.status} {one.how}" for one in attempts if one.status != REFUSED]
    yield SHEET.judge("attempts", len({one.name for one in attempts}), at_least(LEAST_ATTEMPTS))
    yield SHEET.judge("not_refused", len(others), exactly(0), others="; ".join(others))
    for name, what in MEASURED.items():
        yield SHEET.judge(f"ticks.{name}", measured.get(name), above(0), what=what)
    yield SHEET.judge("speculation.inside", traces.get("inside"), at_least(SEEN_PERCENT))
    yield SHEET.judge("speculation.absent", traces.get("absent"), at_most(NOISE_PERCENT))


def show(result: Result) -> None:
    """Says what this processor does ahead of a limit's fault."""
    traces = result.find("speculation")
    beyond = dict(zip(traces.x, traces.y, strict=True))["beyond"] if traces else None
    if beyond is None:
        return
    sees = (
        "it reads past segment limits speculatively"
        if beyond >= SEEN_PERCENT
        else "no value from past a limit was seen"
    )
    print(
        f"of the loads past a limit, {beyond:g} % left what they would have read in the cache: {sees}"
        " (docs/security.md)"
    )


def modelled(machine: Machine) -> dict[str, float]:
    """The cycles of a segment load and of a far return in a machine file, where it gives them."""
    given = machine.parameters
    load = (
        machine["segments.load_cycles"]
        if "segments.load_cycles" in given
        else machine["segments.reload_cycles"] / machine["segments.loads"]
    )
    far = machine["segments.far_return_cycles"] if "segments.far_return_cycles" in given else load
    return dict.fromkeys(LOADS, load) | {"far_return": far}


def series_of(attempts: list[attacks.Attempt], measured: dict[str, float], described: list[Machine]) -> list[Series]:
    names = [one.name for one in attempts]
    every = [
        Series("refused", "times", names, [int(one.status == REFUSED) for one in attempts]),
        Series("ticks.here", "ticks", list(MEASURED), [measured.get(name) for name in MEASURED]),
    ]
    for machine in described:
        figures = modelled(machine)
        every.append(
            Series(f"cycles.{machine.name}", "cycles", list(MEASURED), [figures.get(name) for name in MEASURED])
        )
    return every


def plots(result: Result) -> list[Plot]:
    """The sheet's; in the first a column for this processor, and one for each machine."""
    ticks, *more = SHEET.drawn()
    assert isinstance(ticks, Table)
    machines_ = [one.name for one in result.series if one.name.startswith("cycles.")]
    columns = {"ticks.here": f"here ({result.provenance.emulator.split(': ', 1)[1]})"}
    columns |= {name: name.removeprefix("cycles.") for name in machines_}
    return [replace(ticks, series=columns, rows=MEASURED), *more]


EXPERIMENT = Experiment(
    name="silicon/segments",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    settings={},
    run=run,
    plots=plots,
    show=show,
)
