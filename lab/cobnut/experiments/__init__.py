# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments, each named after its source, and what an experiment is.

To add one: a module here with an `Experiment` that it calls `EXPERIMENT`, and the sheet with its words beside it.
docs/command.md walks through it.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from cobnut import results
from cobnut.boards import Board, Processor
from cobnut.checks import Check, joined
from cobnut.errors import CobnutError, meant, unknown
from cobnut.experiments.records import Records
from cobnut.guests import Guest
from cobnut.machines import Machine, change
from cobnut.machines import known as known_machines
from cobnut.machines import read as read_machine
from cobnut.plots import Plot
from cobnut.progress import Meter
from cobnut.results import LedgerRow, Provenance, Result, Series
from cobnut.sheets import Sheet


class Kind(Enum):
    """What an experiment is for, and so what runs it but its name."""

    REPRODUCTION = "reproduction"  # measures this kernel on a machine, from records: `run all` and --sweep take it
    STUDY = "study"  # measures this kernel, too, but takes longer than `run all` should
    PROOF = "proof"  # looks for faults, of which there must be none
    TOOL = "tool"  # holds the laboratory to what it promises
    OUTSIDE = "outside"  # measures what is not ours: a processor, or any kernel


@dataclass(frozen=True)
class Lab:
    """What `experiment` runs with. `settings` are its own, `overrides` change numbers of the machine (by dotted name).

    `records` keeps what was booted already; labs that differ in numbers of the machine only may share it. `origin` is
    of when the lab was set up, since the sources may change while it runs.
    """

    experiment: str
    board: Board
    model: Machine | None  # None: nothing of it is modelled
    emulator: str
    quick: bool
    settings: dict[str, int]
    overrides: dict[str, str]
    meter: Meter
    records: Records = field(default_factory=Records, compare=False)
    guest: Guest | None = None  # given by --image, for an experiment that takes it
    origin: Provenance = field(default_factory=results.provenance, compare=False)

    def result(
        self,
        series: Iterable[Series],
        checks: Iterable[Check],
        ledger: Iterable[LedgerRow] = (),
        *,
        machine: str | None = None,
        emulator: str | None = None,
    ) -> Result:
        """What a run has found. `machine` is another name for the lab's; `emulator` says what it ran on if that is not
        QEMU alone.
        """
        origin = replace(
            self.origin,
            emulator=emulator or self.emulator,
            machine_file_sha256=self.model.sha256 if self.model else None,
        )
        name = (machine or self.machine_name) if self.model else None
        return Result(self.experiment, name, origin, list(series), list(checks), list(ledger))

    @property
    def changes(self) -> list[str]:
        """`overrides` as the plugin and a replay take them."""
        return [f"{key}:{value}" for key, value in self.overrides.items()]

    @property
    def machine(self) -> Machine:
        """What an experiment is measured on that has a machine."""
        if self.model is None:
            raise ValueError(f"{self.experiment} is measured on no machine")
        return self.model

    @property
    def cpu(self) -> str:
        """The emulator's name of the machine's processor."""
        return str(self.machine.parameters["processor.emulated_as"].value)

    @property
    def machine_name(self) -> str:
        """The machine's name, with what was changed of it."""
        changes = ", ".join(f"{name}={value}" for name, value in self.overrides.items())
        return f"{self.machine.name} with {changes}" if changes else self.machine.name


@dataclass(frozen=True)
class Setting:
    """A number of an experiment that --set can change: its value, its value with --quick, and what it may be; and its
    value in the runs of a --sweep, if that is another one.
    """

    value: int
    quick: int
    allowed: Sequence[int]
    help: str
    swept: int | None = None
    names: Sequence[str] = ()  # of its values, from 0 on: what --set says instead of a number


@dataclass(frozen=True)
class Experiment:
    """An experiment: what it is, what it needs, how it is run and how its result is drawn.

    `sheet` has its words. `machine` is the one that it is measured on if nothing else is asked for; without one it is
    about no machine. A run whose checks have other names than the sheet declares is none.
    """

    name: str
    sheet: Sheet
    kind: Kind
    settings: dict[str, Setting]
    run: Callable[[Lab], Result]
    plots: Callable[[Result], list[Plot]]
    machine: str | None = None
    boards: tuple[str, ...] = field(default=("pc",))
    has_curves: bool = False  # that can be drawn as a picture
    takes_images: bool = False  # runs on kernels that are named by --image
    checkable: bool = False  # says something about the checked kernel, too, which it takes with --set checked=on
    long_proof: bool = False  # that `test long` makes in full
    show: Callable[[Result], None] | None = None  # prints more than the checks
    afterwards: Callable[[Lab], str] | None = None  # says something more about a run in full, once it is done
    elsewhere: tuple["Experiment", ...] = ()  # what goes by the same name on other boards, as it was found
    needs: tuple[str, ...] = ()  # numbers of a machine, without which there is nothing to measure on it

    def on(self, board: str) -> "Experiment":
        """The experiment of this name for `board`."""
        for one in (self, *self.elsewhere):
            if board in one.boards:
                return one
        raise CobnutError(f"{self.name} runs on {', '.join(self.all_boards)}, not on {board}")

    @property
    def all_boards(self) -> tuple[str, ...]:
        """The boards of all that goes by this name."""
        return (*self.boards, *(name for one in self.elsewhere for name in one.boards))

    def machines(self, processor: Processor) -> list[str]:
        """The machines that come with the project and fit it on a board with this processor."""
        of_processor = known_machines(processor.architecture)
        return [name for name in of_processor if not self.missing(read_machine(name))]

    def missing(self, machine: Machine) -> list[str]:
        """The numbers that it needs and `machine` does not have."""
        return [name for name in self.needs if name not in machine.parameters]


def all_experiments() -> dict[str, Experiment]:
    """Every experiment, by name and in this order: whatever a module of this package calls `EXPERIMENT`.

    Modules whose experiments have one name are about one thing on different boards; the first of them, by the names of
    the modules, stands for all.
    """
    halves: dict[str, list[Experiment]] = {}
    for module in pkgutil.iter_modules(__path__):
        one = getattr(importlib.import_module(f"{__name__}.{module.name}"), "EXPERIMENT", None)
        if isinstance(one, Experiment):
            halves.setdefault(one.name, []).append(one)
    return {name: _joined(halves[name]) for name in sorted(halves)}


def _joined(halves: list[Experiment]) -> Experiment:
    boards = [board for one in halves for board in one.boards]
    if len(boards) != len(set(boards)):
        raise ValueError(f"two experiments are called {halves[0].name} on one board")
    return replace(halves[0], elsewhere=tuple(halves[1:]))


NAMES_OF_CHECKS = """\
# The names of checks

`./cobnut list --checks` prints this page from what the experiments' sheets declare
(`lab/cobnut/experiments/*.toml`); a run whose checks have other names ends with an error. `{a,b}`
is one of these. A word in capitals is what only a run knows: a number of threads, a seed's boot,
the place of an instruction. What the names mean is in
[json.md](json.md#names-of-checks-and-series).

| experiment | boards | checks |
|---|---|---|
"""


def names_of_checks() -> str:
    """The page docs/checks.md."""

    def row(one: Experiment) -> str:
        names = ", ".join(f"`{name}`" for name in joined(one.sheet.names))
        return f"| `{one.name}` | {', '.join(one.boards)} | {names} |\n"

    halves = (one for whole in all_experiments().values() for one in (whole, *whole.elsewhere))
    return NAMES_OF_CHECKS + "".join(map(row, halves))


def reproductions() -> dict[str, Experiment]:
    """What `run all` runs."""
    return {name: one for name, one in all_experiments().items() if one.kind is Kind.REPRODUCTION}


def long_proofs() -> dict[str, Experiment]:
    """What `test long` makes in full."""
    return {name: one for name, one in all_experiments().items() if one.long_proof}


def find(name: str) -> Experiment:
    """The experiment called `name`."""
    known = all_experiments()
    if name not in known:
        raise unknown("experiment", name, [*known, "all"])
    return known[name]


def split_settings(
    experiment: Experiment, machine: Machine | None, quick: bool, given: list[str]
) -> tuple[dict[str, int], dict[str, str]]:
    """Splits `given`, a list of K=V, into the experiment's settings and changes of the machine's numbers."""
    settings = {name: setting.quick if quick else setting.value for name, setting in experiment.settings.items()}
    overrides: dict[str, str] = {}
    for pair in given:
        key, value = change(pair)
        if key in experiment.settings:
            settings[key] = _chosen(pair, value, experiment.settings[key])
        elif machine and key in machine.parameters:
            if not isinstance(machine.parameters[key].value, str):
                _number(pair, value)
            overrides[key] = value
        else:
            own = ", ".join(experiment.settings)
            like = meant(key, [*experiment.settings, *(machine.parameters if machine else ())])
            none = f"{machine.name} no such number" if machine else "is measured on no machine"
            has = f"it has {own}" if own else "it has none"
            raise CobnutError(f"--set {pair}: {experiment.name} has no setting '{key}' ({like}{has}) and {none}")
    return settings, overrides


def _chosen(pair: str, value: str, setting: Setting) -> int:
    if not setting.names:
        return _whole(pair, value, setting.allowed)
    if value not in setting.names:
        raise CobnutError(f"--set {pair}: must be one of {', '.join(setting.names)}")
    return setting.names.index(value)


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
