# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/trace`: what a round trip between two programs consists of, on any kernel: entries, exits, switches and their
ledger.

Without images, Debian's Linux with a ping-pong through pipes, and this kernel with its own. With `--image`, the kernel
that is named; its programs say by markers (docs/plugin.md) what is to be measured.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from cobnut import causes, images, linux_guest, measuring, paths, sheets, tables
from cobnut import measured as written
from cobnut.causes import Charge
from cobnut.checks import Check, above, between, exactly, judge
from cobnut.emulators import Boot, Outcome, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, given, pingpong
from cobnut.experiments.pingpong import PingPong, Region
from cobnut.guests import Guest
from cobnut.plots import Bars, Ledger, Plot
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

TIMEOUT_SECONDS = 900
SLOT_MB, AREA_MB = 16, 512  # as ipc/path has them
PAIRS = ("large_large", "small_small")
SYSENTER, INT = "linux.sysenter", "linux.int"
WHOLE = "run"
WHOLE_RUN = Setting(0, 0, range(2), "1: of the images given the whole run, too, marks or not")
ENTRIES = ("entries_sysenter", "entries_int", "entries_fault", "entries_irq")
EXITS = ("exits_sysexit", "exits_iret")
COUNTED = (
    ("instructions_kernel", "instructions"),
    ("instructions_user", "instructions"),
    *((name, "entries") for name in ENTRIES),
    *((name, "exits") for name in EXITS),
    ("cr3_writes", "writes"),
    ("segment_loads", "loads"),
    ("invlpg", "instructions"),
)
OUTSIDE_KERNEL = ("instructions_user", "instructions_stub", "instructions_trampoline")
SymbolAt = Callable[[int], str | None]  # the name of the code at an address
# how a switch can be made, on either processor; what else is listed leaves the running space as it is
SWITCHING = ("cr3", "segments", "table_base", "domain_access", "process_id")


@dataclass(frozen=True)
class Switch:
    """A switch or an invalidation: from which space to which, how, by the instruction at `at`, and how often in all.

    `refill_cycles` is what it costs to bring back what it flushed, and what was displaced while its space ran.
    """

    source: str
    target: str
    how: str
    at: str | None
    times: int
    refill_cycles: float

    @property
    def text(self) -> str:
        at = f" at {self.at}" if self.at else ""
        if self.how in SWITCHING:
            return f"{self.source} -> {self.target} by {self.how}{at}"
        return f"{self.how} in {self.source}{at}"


@dataclass(frozen=True)
class Trace:
    """One measured case: counters as sums over its `rounds` round trips, modelled cycles by category, switches."""

    name: str
    rounds: int
    counters: dict[str, float]
    ledger: dict[str, float]
    total: float
    switches: tuple[Switch, ...]
    space: str
    causes: tuple[Charge, ...]
    doubts: tuple[str, ...] = ()

    def sum(self, *names: str) -> float:
        return sum(self.counters[name] for name in names)

    def times(self, *how: str) -> int:
        return sum(switch.times for switch in self.switches if switch.how in how)

    def each(self, name: str) -> float:
        """A counter's mean over the round trips. User code is all that does not run in the kernel."""
        names = OUTSIDE_KERNEL if name == "instructions_user" else (name,)
        return self.sum(*(one for one in names if one in self.counters)) / self.rounds


def run(lab: Lab) -> Result:
    """Measures the kernel that was given, or Linux and this kernel."""
    emulator = lab.emulator
    if lab.guest:
        traces = measure_given(lab, lab.guest)
        checks = [check for trace in traces for check in judge_trace(trace)]
    else:
        guest = linux_guest.ensure()
        emulator = f"{lab.emulator}, Linux {guest.version}"
        lab.meter.total(1 + 2 * len(PAIRS))
        linux = measure_linux(lab, guest)
        ours, regions = measure_ours(lab)
        traces = [*linux, *ours]
        checks = [check for trace in traces for check in judge_trace(trace, lab.settings["rounds"])]
        checks += [*map(judge_pipe, linux), *map(judge_same, ours, regions)]
    return lab.result(series_of(traces), checks, ledger_of(traces), emulator=emulator)


def measure(
    lab: Lab,
    what: Boot,
    *,
    from_begin: bool,
    names: tuple[str, ...] = (),
    symbol_at: SymbolAt = lambda address: None,
) -> list[Trace]:
    """Boots `what` and returns its cases, called by their numbers or by `names` in the order in which they were
    measured.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "measured.json"
        plugin = plugin_of(lab, what.kernel, out, from_begin=from_begin)
        outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=plugin)
        if outcome.timed_out:
            raise CobnutError(f"{what.kernel.name}: no end after {TIMEOUT_SECONDS} s{_last_words(outcome)}")
        if not out.exists():
            raise CobnutError(f"{what.kernel.name}: the plugin wrote no measurements")
        measured = written.read(out.read_bytes())
    lab.meter.advance(note=what.kernel.name)
    if not measured["regions"]:
        raise CobnutError(f"{what.kernel.name}: no case was measured{_last_words(outcome)}")
    return traces_of(what.kernel.name, measured, names, symbol_at)


def measure_given(lab: Lab, guest: Guest) -> list[Trace]:
    """Boots the guest that was given, with its console on the terminal, and returns its cases; if it marks none or the
    whole run is wanted, that.
    """
    kernel = guest.boot.kernel
    boot = given.boot_of(lab, guest)
    whole = bool(lab.settings["whole"])
    waits = not whole and images.kind(kernel.read_bytes()) == "linux"
    more = [("from", "begin")] if waits else []
    _, text = measuring.boot(replace(guest, boot=boot), lab.machine, lab.changes, more=more)
    return given_cases(kernel.name, written.read(text), whole=whole)


def given_cases(kernel: str, measured: written.Measured, *, whole: bool) -> list[Trace]:
    """The cases of a given kernel's run, and the `whole` run, too, if it is wanted."""
    if not measured["regions"] and not whole:
        raise CobnutError(f"{kernel}: no case was measured; --set whole=1 measures the run as a whole")
    cases = traces_of(kernel, measured) if measured["regions"] else []
    return [*cases, whole_run(measured)] if whole else cases


def traces_of(
    kernel: str, measured: written.Measured, names: tuple[str, ...] = (), symbol_at: SymbolAt = lambda address: None
) -> list[Trace]:
    """The cases of a run, called by `names` or by their numbers."""
    called = names or numbered([region["case"] for region in measured["regions"]])
    if len(called) != len(measured["regions"]):
        raise CobnutError(f"{kernel}: {len(measured['regions'])} cases were measured, not {len(called)}")
    pairs = zip(called, measured["regions"], strict=True)
    doubts, spaces = doubts_of(measured), by_process(measured)
    return [
        replace(read(name, region, measured["switches"], symbol_at, spaces), doubts=doubts) for name, region in pairs
    ]


def by_process(measured: written.Measured) -> dict[str, str]:
    """What spaces are called for people whose processes are known."""
    return {space: f"{space} {', '.join(names)}" for space, names in measured.get("processes", {}).items()}


def whole_run(measured: written.Measured) -> Trace:
    """All of a run as one round trip. Of its switches only the kinds are known, not how often each was made."""
    totals = measured["totals"]
    counters = {name: count for name, count in totals.items() if name not in ("ledger", "cycles")}
    return Trace(WHOLE, 1, counters, totals["ledger"], totals["cycles"], (), "", (), doubts_of(measured))


def doubts_of(measured: written.Measured) -> tuple[str, ...]:
    return tuple(doubt for doubt in measured["warnings"] if not doubt.startswith(measuring.NO_SYMBOL))


def numbered(cases: list[int]) -> list[str]:
    """Names of cases; one that the guest measures again is told apart by which time it is."""
    times = [cases[:index].count(case) + 1 for index, case in enumerate(cases)]
    return [f"case.{case}" + (f".{time}" if time > 1 else "") for case, time in zip(cases, times, strict=True)]


def plugin_of(lab: Lab, kernel: Path, out: Path, *, from_begin: bool) -> qemu.Plugin:
    """The plugin with the machine's model. It needs symbols of our kernel; another kernel need not have any."""
    arguments = [("machine", str(lab.machine.path)), ("out", str(out))]
    if images.kind(kernel.read_bytes()) == "multiboot":
        arguments.append(("kernel", str(kernel.resolve())))
    if from_begin:
        arguments.append(("from", "begin"))
    return qemu.Plugin(paths.PLUGIN, (*arguments, *(("set", f"{key}:{value}") for key, value in lab.overrides.items())))


def read(
    name: str,
    region: written.Region,
    switches: list[written.Switch],
    symbol_at: SymbolAt,
    spaces: Mapping[str, str] = MappingProxyType({}),
) -> Trace:
    """A case in the plugin's output; `switches` is what its indices lead to, `spaces` who some of them are."""
    charged: dict[int, float] = {}
    for charge in region["causes"]:
        if charge["switch"] is not None:
            charged[charge["switch"]] = charged.get(charge["switch"], 0) + charge["cycles"]
    happened = []
    for entry in region["switches"]:
        one, cycles = switches[entry["switch"]], charged.get(entry["switch"], 0)
        at = one["at"] and (symbol_at(int(one["at"], 16)) or one["at"])
        source, target = (spaces.get(one[end], one[end]) for end in ("from", "to"))
        happened.append(Switch(source, target, one["how"], at, entry["times"], cycles))
    counters = {counter: sum(values) for counter, values in region["per_iteration"].items()}
    return Trace(
        name=name,
        rounds=region["iterations"],
        counters=counters,
        ledger=region["ledger"],
        total=region["cycles_total"],
        switches=tuple(happened),
        space=region["space"],
        causes=tuple(causes.read(region, switches)),
    )


def measure_linux(lab: Lab, guest: linux_guest.LinuxGuest) -> list[Trace]:
    """The ping-pong through pipes, with system calls by sysenter, where the machine has it, and by int."""
    rounds = f"{lab.settings['rounds']} {lab.settings['warmup']}"
    commands = {SYSENTER: f"pipe {rounds}", INT: f"pipe {rounds} int"}
    if not given.has_sysenter(lab):
        del commands[SYSENTER]
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        boot = linux_guest.boot(guest, Path(name), "\n".join(commands.values()), quick=lab.quick)
        what = replace(boot, cpu=given.cpu_for(lab, guest.kernel))
        return measure(lab, what, from_begin=True, names=tuple(commands), symbol_at=guest.symbol_at)


def measure_ours(lab: Lab) -> tuple[list[Trace], list[Region]]:
    """This kernel's own ping-pong, as any kernel's and as `ipc/path` measures it."""
    chosen = lab.settings
    specs = [PingPong(pair, chosen["rounds"], chosen["warmup"], SLOT_MB, AREA_MB) for pair in PAIRS]
    traces = [
        measure(lab, pingpong.boot_of(lab, spec), from_begin=False, names=(f"cobnut.{spec.pair}",))[0] for spec in specs
    ]
    measurements = pingpong.measure(lab, specs)
    pingpong.raise_if_all_failed(measurements)
    return traces, [measurement.regions[0] for measurement in measurements]


def judge_trace(trace: Trace, rounds: int | None = None) -> list[Check]:
    """What has to hold on every kernel: two ways of counting the same give the same. Of a whole run it is not known how
    often each switch was made, and kernels begin programs by an exit that no entry came before.
    """
    return [*([] if trace.name == WHOLE else judge_counts(trace, rounds)), *judge_ledger(trace)]


def judge_counts(trace: Trace, rounds: int | None) -> list[Check]:
    return [
        judge_rounds(trace, rounds),
        judge(
            f"{trace.name}.ways",
            trace.sum(*ENTRIES) - trace.sum(*EXITS),
            "entries",
            exactly(0),
            f"Who enters the kernel leaves it again: {trace.sum(*ENTRIES):,} entries, by kind, less the exits.",
        ),
        judge(
            f"{trace.name}.cr3",
            trace.counters["cr3_writes"] - trace.times("cr3", "reload"),
            "writes",
            exactly(0),
            "Instructions that write CR3, less the switches by CR3 and the reloads of the directory in force.",
        ),
    ]


def judge_rounds(trace: Trace, rounds: int | None) -> Check:
    return judge(
        f"{trace.name}.rounds",
        trace.rounds,
        "round trips",
        above(0) if rounds is None else exactly(rounds),
        "The markers delimit as many round trips as the program made.",
    )


def judge_ledger(trace: Trace) -> list[Check]:
    lost = len(trace.ledger) if trace.name == WHOLE else 0  # its categories are rounded down, each by itself
    return [
        judge(
            f"{trace.name}.ledger",
            round(1000 * sum(trace.ledger.values())) / 1000 - trace.total,
            "cycles",
            between(-lost, 0),
            "The categories of the ledger add up to the modelled cycles.",
        ),
        judge(
            f"{trace.name}.doubts",
            len(trace.doubts),
            "warnings",
            exactly(0),
            f"What the plugin did not understand. {' '.join(trace.doubts)}",
        ),
    ]


def judge_pipe(trace: Trace) -> Check:
    return judge(
        f"{trace.name}.switches",
        trace.times(*SWITCHING) / trace.rounds,
        "switches",
        exactly(2),
        "One processor, two processes: there and back. A kernel thread between them runs on the directory in force.",
    )


def judge_same(trace: Trace, region: Region) -> Check:
    return judge(
        f"{trace.name}.as_path",
        trace.total - region.cycles_total,
        "cycles",
        exactly(0),
        f"The same images as those of ipc/path cost the same: {region.cycles_total:,} modelled cycles for"
        f" {region.rounds} round trips.",
    )


def series_of(traces: list[Trace], counted: Sequence[tuple[str, str]] = COUNTED) -> list[Series]:
    """A round trip's counts over the cases; `counted` are the counters and their units."""
    names = [trace.name for trace in traces]
    rows = [Series(f"round_trip.{name}", unit, names, [trace.each(name) for trace in traces]) for name, unit in counted]
    rows.append(
        Series("round_trip.switches", "switches", names, [trace.times(*SWITCHING) / trace.rounds for trace in traces])
    )
    rows.append(Series("round_trip.cycles", "modelled cycles", names, [trace.total / trace.rounds for trace in traces]))
    for trace in traces:
        texts = [switch.text for switch in trace.switches]
        times = [switch.times / trace.rounds for switch in trace.switches]
        cycles = [switch.refill_cycles / trace.rounds for switch in trace.switches]
        rows.append(Series(f"{trace.name}.times", "a round trip", texts, times))
        rows.append(Series(f"{trace.name}.refills", "modelled cycles", texts, cycles))
    return rows


def ledger_of(traces: list[Trace]) -> list[LedgerRow]:
    return [
        LedgerRow(
            trace.name,
            None,
            trace.rounds,
            "cycles",
            trace.ledger,
            trace.total,
            space=trace.space,
            causes=list(trace.causes),
        )
        for trace in traces
    ]


def show(result: Result, counted: Sequence[tuple[str, str]] = COUNTED) -> None:
    """The counts, the switches and the ledger of a round trip."""
    tables.show_rows(result, "a round trip", [f"round_trip.{name}" for name in (*dict(counted), "switches", "cycles")])
    for row in result.ledger:
        title = f"{row.name}: switches and invalidations of a round trip, and the refills that they cause"
        tables.show_columns(result, title, [f"{row.name}.times", f"{row.name}.refills"])
    tables.show_ledger(result)


def plots(result: Result) -> list[Plot]:
    names = {row.name: row.name for row in result.ledger}
    instructions = {"round_trip.instructions_kernel": "kernel", "round_trip.instructions_user": "user"}
    entries = {f"round_trip.{name}": name.removeprefix("entries_") for name in ENTRIES}
    return [
        Bars("Instructions of a round trip", "case", "instructions", instructions),
        Bars("Kernel entries of a round trip", "case", "entries", entries),
        Bars("Switches of a round trip", "case", "switches", {"round_trip.switches": "switches"}),
        Ledger("Where the modelled cycles of a round trip go", "case", "modelled cycles", names, wide=True),
    ]


def _last_words(outcome: Outcome) -> str:
    lines = [line.strip() for line in outcome.console.splitlines() if line.strip()]
    return f" (its console ends: {lines[-1]})" if lines else " (it wrote nothing to its console)"


EXPERIMENT = Experiment(
    name="ipc/trace",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(100, 20, pingpong.ROUNDS, "round trips measured"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "round trips before the measured ones"),
        "memory": given.MEMORY,
        "whole": WHOLE_RUN,
    },
    run=run,
    plots=plots,
    takes_images=True,
    show=show,
)
