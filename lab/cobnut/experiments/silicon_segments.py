# SPDX-License-Identifier: GPL-2.0-or-later
"""`silicon/segments`: the attempts of `attack/isolation` that need no kernel of ours, on the processor that this runs
on.

Linux lets a process define segments (modify_ldt), whose limits the processor enforces. What segment loads, far returns,
a system call and a pipe round trip take there stands beside the models' figures; it says nothing about the modelled
machines.
"""

from cobnut import attacks, machines
from cobnut.attacks import REFUSED
from cobnut.checks import Check, above, at_least, at_most, exactly, judge, named
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab
from cobnut.machines import Machine
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

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


def judge_all(attempts: list[attacks.Attempt], measured: dict[str, float], traces: dict[str, float]) -> list[Check]:
    """The limits hold for what instructions do. What is loaded ahead past them is a fact about this processor and no
    verdict; that it could be seen is checked."""
    others = [f"{one.name} {one.status} {one.how}" for one in attempts if one.status != REFUSED]
    checks = [
        judge("attempts", len({one.name for one in attempts}), "attempts", at_least(LEAST_ATTEMPTS), "Distinct ones."),
        judge(
            "not_refused",
            len(others),
            "attempts",
            exactly(0),
            "Each comes through inside the limits, reaches foreign memory under segments of 4 GB, and is stopped by the"
            " limits. " + "; ".join(others),
        ),
    ]
    for name, what in MEASURED.items():
        checks.append(
            judge(
                f"ticks.{name}",
                measured.get(name),
                "ticks",
                above(0),
                f"Of the time-stamp counter, median of many: {what}.",
            )
        )
    checks.append(
        judge(
            "speculation.inside",
            traces.get("inside"),
            "%",
            at_least(SEEN_PERCENT),
            "Of the loads inside the limits whose value shows in the cache: what is loaded ahead past them would be"
            " seen.",
        )
    )
    checks.append(
        judge(
            "speculation.absent",
            traces.get("absent"),
            "%",
            at_most(NOISE_PERCENT),
            "Of a value that is nowhere: what is seen is the value.",
        )
    )
    return checks


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
    columns = {
        one.name: one.name.split(".", 1)[1] for one in result.series if one.name.startswith(("ticks.", "cycles."))
    }
    columns["ticks.here"] = f"here ({result.provenance.emulator.split(': ', 1)[1]})"
    return [
        Table(
            "Ticks of this processor's time-stamp counter, and the models' cycles",
            "operation",
            columns,
            caption=(
                "The counter's ticks are not cycles of the core where that changes its clock. The models' figures are"
                " their machine files'."
            ),
            rows=MEASURED,
        ),
        Table(
            "Loads whose value shows in the cache",
            "where",
            {"speculation": "%"},
            caption="Beyond the limit the load is refused; what is seen there was read before the refusal undid it.",
        ),
        Table("Each attempt", "attempt", {"refused": "refused"}, wide=True),
    ]


EXPERIMENT = Experiment(
    name="silicon/segments",
    title="Segment limits on the processor that this runs on, and what segments cost there",
    source="this machine's own processor",
    kind=Kind.OUTSIDE,
    settings={},
    run=run,
    plots=plots,
    checks=(named(("attempts", "not_refused")), named("ticks", MEASURED), named("speculation", ("inside", "absent"))),
    show=show,
    story=(
        "A 32-bit Linux process defines code and data segments in its LDT, of the size of a slot, with known memory on"
        " both sides, and runs the very instructions that the attack program runs in a small space. Each runs three"
        " times: inside the limits, where it has to come through; under segments of 4 GB with the same base, where it"
        " has to get what is not its own; and under limits. Then loads inside and past the limit are followed by one of"
        " a line that their value names, and the line's time says whether it got there."
    ),
    cannot_say=(
        (
            "Which processor this is nobody can choose; its figures stand beside the models' as a check of their order,"
            " not of their values."
        ),
        (
            "Descriptors come from an LDT, and Linux' own flat segments are in its GDT: forged selectors are tried"
            " where both agree."
        ),
        "That no value from past a limit was seen does not prove that none can be (docs/security.md).",
    ),
)
