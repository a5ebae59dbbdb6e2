# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments, each named after its source, and what an experiment is.

To add one: a module here with an `Experiment` in it, and its line in `all_experiments`. docs/command.md walks through
it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cobnut.boards import Board, Processor
from cobnut.checks import KnownMiss
from cobnut.errors import CobnutError, meant, unknown
from cobnut.experiments.records import Records
from cobnut.machines import Machine, change
from cobnut.machines import known as known_machines
from cobnut.machines import read as read_machine
from cobnut.modules import Module
from cobnut.progress import Meter
from cobnut.results import Result


@dataclass(frozen=True)
class Lab:
    """What an experiment runs with. `settings` are its own, `overrides` change numbers of the machine (by dotted name).

    `records` keeps what was booted already; labs that differ in numbers of the machine only may share it.
    """

    board: Board
    machine: Machine
    emulator: str
    quick: bool
    settings: dict[str, int]
    overrides: dict[str, str]
    meter: Meter
    records: Records = field(default_factory=Records, compare=False)
    images: tuple[Module, ...] = ()  # given by --image, for an experiment that takes them
    append: str = ""

    @property
    def machine_name(self) -> str:
        """The machine's name, with what was changed of it."""
        changes = ", ".join(f"{name}={value}" for name, value in self.overrides.items())
        return f"{self.machine.name} with {changes}" if changes else self.machine.name


@dataclass(frozen=True)
class Setting:
    """A number of an experiment that --set can change: its value, its value with --quick, and what it may be."""

    value: int
    quick: int
    allowed: Sequence[int]
    help: str


@dataclass(frozen=True)
class Mark:
    """A published value to draw into a plot: a point, or a line across it where only one coordinate is given."""

    label: str
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class Plot:
    """One picture of a report, in terms of a result's series.

    `kind` is lines, bars (stacked), ranges (two series: both ends of each bar), ledger, causes (ledger rows by what
    their refills are charged to), graph (three series: edges named FROM-TO; of the nodes their groups, and what keeps
    them side by side), or table (the series are its columns); `rows` says what the x of bars and tables are called.
    `series` maps series names to labels; for ledger and causes it maps ledger row names to short labels. `band` names
    two series to shade the room between. Ranges that come from the mark by less than the share `least` of it are left
    out.
    """

    kind: str
    title: str
    x_title: str
    y_title: str
    series: dict[str, str]
    caption: str = ""
    marks: tuple[Mark, ...] = ()
    band: tuple[str, str] | None = None
    least: float = 0.0
    wide: bool = False
    rows: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """An experiment: what it is, what it needs, how it is run and how its result is drawn.

    `known_misses` are by the name of a check: what is known about the difference if it is not ok.
    """

    name: str
    title: str
    source: str
    machine: str
    settings: dict[str, Setting]
    run: Callable[[Lab], Result]
    plots: Callable[[Result], list[Plot]]
    story: str
    cannot_say: tuple[str, ...]
    boards: tuple[str, ...] = field(default=("pc",))
    has_curves: bool = False  # that can be drawn as a picture
    takes_images: bool = False  # runs on kernels that are named by --image
    checkable: bool = False  # says something about the checked kernel, too, which it takes with --set checked=on
    show: Callable[[Result], None] | None = None  # prints more than the checks
    known_misses: Mapping[str, KnownMiss] = field(default_factory=dict)
    elsewhere: tuple["Experiment", ...] = ()  # what goes by the same name on other boards
    needs: tuple[str, ...] = ()  # numbers of a machine, without which there is nothing to measure on it

    def on(self, board: str) -> "Experiment":
        """The experiment of this name for `board`."""
        for one in (self, *self.elsewhere):
            if board in one.boards:
                return one
        boards = (*self.boards, *(name for one in self.elsewhere for name in one.boards))
        raise CobnutError(f"{self.name} runs on {', '.join(boards)}, not on {board}")

    def machines(self, processor: Processor) -> list[str]:
        """The machines that come with the project and fit it on a board with this processor."""
        of_processor = known_machines(processor.architecture)
        return [name for name in of_processor if not self.missing(read_machine(name))]

    def missing(self, machine: Machine) -> list[str]:
        """The numbers that it needs and `machine` does not have."""
        return [name for name in self.needs if name not in machine.parameters]


def all_experiments() -> dict[str, Experiment]:
    """Every experiment, by name."""
    from cobnut.experiments import (
        agreement,
        attack_compose,
        attack_isolation,
        counterfactual,
        fuzz_syscalls,
        groups_policy,
        groups_revocation,
        ipc_path,
        ipc_scale,
        ipc_strings,
        ipc_trace,
        latency_worst,
        liedtke95_fig4,
        liedtke95_messages,
        liedtke95_table1,
        liedtke95_table2,
        liedtke95_table3,
        linux_sanitized,
        mutations,
        replay,
        silicon_segments,
        stress,
        uhlig02_fig4,
        uhlig02_fig9,
        wiggins03_fig4,
        wiggins03_fig5,
        wiggins03_flushes,
    )

    every = (
        ipc_path.EXPERIMENT,
        ipc_scale.EXPERIMENT,
        ipc_strings.EXPERIMENT,
        ipc_trace.EXPERIMENT,
        uhlig02_fig4.EXPERIMENT,
        uhlig02_fig9.EXPERIMENT,
        liedtke95_table1.EXPERIMENT,
        liedtke95_table2.EXPERIMENT,
        liedtke95_table3.EXPERIMENT,
        liedtke95_fig4.EXPERIMENT,
        liedtke95_messages.EXPERIMENT,
        wiggins03_fig5.EXPERIMENT,
        wiggins03_fig4.EXPERIMENT,
        wiggins03_flushes.EXPERIMENT,
        counterfactual.EXPERIMENT,
        stress.EXPERIMENT,
        mutations.EXPERIMENT,
        fuzz_syscalls.EXPERIMENT,
        linux_sanitized.EXPERIMENT,
        agreement.EXPERIMENT,
        replay.EXPERIMENT,
        attack_isolation.EXPERIMENT,
        attack_compose.EXPERIMENT,
        silicon_segments.EXPERIMENT,
        groups_policy.EXPERIMENT,
        groups_revocation.EXPERIMENT,
        latency_worst.EXPERIMENT,
    )
    return {experiment.name: experiment for experiment in every}


def reproductions() -> dict[str, Experiment]:
    """Those that measure this kernel on a machine model: what `run all` runs. The others take longer or download
    something.
    """
    others = {
        name
        for name, one in all_experiments().items()
        if name.startswith(("attack/", "fuzz/", "groups/", "lab/", "latency/", "sanitize/", "silicon/"))
        or one.takes_images
    }
    return {name: one for name, one in all_experiments().items() if name not in others}


def find(name: str) -> Experiment:
    """The experiment called `name`."""
    known = all_experiments()
    if name not in known:
        raise unknown("experiment", name, [*known, "all"])
    return known[name]


def settle(
    experiment: Experiment, machine: Machine, quick: bool, given: list[str]
) -> tuple[dict[str, int], dict[str, str]]:
    """Splits `given`, a list of K=V, into the experiment's settings and changes of the machine's numbers."""
    settings = {name: setting.quick if quick else setting.value for name, setting in experiment.settings.items()}
    overrides: dict[str, str] = {}
    for pair in given:
        key, value = change(pair)
        if key in experiment.settings:
            settings[key] = _whole(pair, value, experiment.settings[key].allowed)
        elif key in machine.parameters:
            if not isinstance(machine.parameters[key].value, str):
                _number(pair, value)
            overrides[key] = value
        else:
            own = ", ".join(experiment.settings)
            like = meant(key, [*experiment.settings, *machine.parameters])
            raise CobnutError(
                f"--set {pair}: {experiment.name} has no setting '{key}' ({like}it has {own}) and {machine.name} no"
                " such number"
            )
    return settings, overrides


def _whole(pair: str, value: str, allowed: Sequence[int]) -> int:
    try:
        number = int(value)
    except ValueError:
        raise CobnutError(f"--set {pair}: '{value}' is not a whole number") from None
    if number not in allowed:
        raise CobnutError(f"--set {pair}: must be {_in_words(allowed)}")
    return number


def _in_words(allowed: Sequence[int]) -> str:
    if not isinstance(allowed, range):
        return "one of " + ", ".join(map(str, allowed))
    return f"from {allowed[0]} to {allowed[-1]}" + (f" in steps of {allowed.step}" if allowed.step != 1 else "")


def _number(pair: str, value: str) -> None:
    try:
        float(value)
    except ValueError:
        raise CobnutError(f"--set {pair}: '{value}' is not a number") from None
