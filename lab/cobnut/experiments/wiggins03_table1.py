# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/table1`: a byte that two processes of Linux send to and fro, with the standard kernel and with fast
address-space switching; and two threads that do the same, which is the floor without any switch of spaces.

W03's table 1, hot potato latency. The kernels are the same but for the series in linux/arm-fass.
"""

import statistics
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cobnut import causes, images, paths, published, sheets, tables
from cobnut import measured as written
from cobnut.checks import Check, at_most, exactly, reproduces
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.crowd import CACHE_FLUSHES
from cobnut.linux import board as board_linux
from cobnut.missing import ratio
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

KERNELS = {"standard": False, "fast": True}
PROCESSES, THREADS = ("pipe", "fifo"), "threads"
KINDS = (*PROCESSES, THREADS)
FLUSHES = ("tlb_flushes", *CACHE_FLUSHES)
OVER_THREADS, FEWER_CYCLES = 1.3, 15  # goals of ours
MEMORY_MB, TIMEOUT_SECONDS = 64, 900


@dataclass(frozen=True)
class Potato:
    """Round trips of one kind under one kernel, as the plugin writes it."""

    kernel: str
    kind: str
    region: written.Region
    switches: list[written.Switch]

    def count(self, *counters: str) -> float:
        """Of the median round trip; what a machine does not have is not counted on it."""
        rows = [self.region["per_iteration"].get(counter, [0]) for counter in counters]
        return sum(float(statistics.median(row)) for row in rows)

    @property
    def cycles(self) -> float:
        return self.count("cycles")

    def row(self) -> LedgerRow:
        region = self.region
        return LedgerRow(
            f"{self.kernel}.{self.kind}",
            None,
            region["iterations"],
            "cycles",
            region["ledger"],
            region["cycles_total"],
            space=region["space"],
            causes=list(causes.read(region, self.switches)),
        )


Potatoes = Mapping[tuple[str, str], Potato]  # by kernel and kind


def run(lab: Lab) -> Result:
    """One boot of each kernel."""
    lab.meter.total(len(KERNELS))
    found = {(kernel, one.kind): one for kernel in KERNELS for one in _measured(lab, kernel)}
    series = [
        Series(f"{kernel}.cycles", "modelled cycles", KINDS, [found[kernel, kind].cycles for kind in KINDS])
        for kernel in KERNELS
    ]
    counters = ("instructions_kernel", "instructions_user", "itlb_misses", "dtlb_misses", *FLUSHES)
    for kernel in KERNELS:
        rows = [found[kernel, kind] for kind in KINDS]
        series += [Series(f"{kernel}.{name}", "times", KINDS, [one.count(name) for one in rows]) for name in counters]
    emulator = f"{lab.emulator}, Linux {board_linux.ensure(lab.board).version}"
    return lab.result(series, judge(found), [one.row() for one in found.values()], emulator=emulator)


def judge(found: Potatoes) -> Iterator[Check]:
    """Fast against standard, and both against the floor."""
    floors = {kernel: found[kernel, THREADS].cycles for kernel in KERNELS}
    for kind in PROCESSES:
        standard, fast = found["standard", kind], found["fast", kind]
        gain = ratio(standard.cycles, fast.cycles)
        yield SHEET.judge(f"gain.{kind}", gain, reproduces(published.W03_POTATO_GAIN), standard=standard.cycles)
        yield SHEET.judge(f"fast.flushes.{kind}", fast.count(*FLUSHES), exactly(0))
        yield SHEET.judge(f"over_threads.{kind}", ratio(fast.cycles, floors["fast"]), at_most(OVER_THREADS))
        spent, theirs = fast.cycles - floors["fast"], standard.cycles - floors["standard"]
        rule = at_most(theirs / FEWER_CYCLES)
        yield SHEET.judge(f"switching.{kind}", spent, rule, standard=theirs, fewer=FEWER_CYCLES)


def _measured(lab: Lab, kernel: str) -> list[Potato]:
    chosen = lab.settings
    linux = board_linux.ensure(lab.board, fass=KERNELS[kernel])
    commands = " ".join(f"{kind} {chosen['rounds']} {chosen['warmup']}" for kind in KINDS)
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        disk, out = folder / "initrd", folder / "measured.json"
        disk.write_bytes(board_linux.initrd())
        first = f"{linux.kernel} console=ttyAMA0 quiet -- {commands} off"
        image, *rest = images.parse([first, str(disk)], lab.board.processor)
        boot = Boot(image.path, tuple(rest), image.arguments, memory_mb=MEMORY_MB, as_initrd=True)
        outcome = qemu_arm.run(boot, lab.board.name, timeout=TIMEOUT_SECONDS, plugin=_plugin(lab, linux.symbols, out))
        if "guest: done" not in outcome.console or "FAIL" in outcome.console:
            raise CobnutError(f"the {kernel} kernel did not come to the end of '{commands}'")
        measured = written.read(out.read_bytes())
    lab.meter.advance(note=kernel)
    regions = measured["regions"]
    if [region["iterations"] for region in regions] != [chosen["rounds"]] * len(KINDS):
        raise CobnutError(f"the {kernel} kernel's round trips were not seen")
    return [Potato(kernel, kind, region, measured["switches"]) for kind, region in zip(KINDS, regions, strict=True)]


def _plugin(lab: Lab, symbols: Path, out: Path) -> qemu.Plugin:
    words = [("machine", str(lab.machine.path)), ("out", str(out)), ("symbols", str(symbols)), ("from", "begin")]
    words += [("set", f"{key}:{value}") for key, value in lab.overrides.items()]
    return qemu.Plugin(paths.PLUGIN, tuple(words))


def show(result: Result) -> None:
    tables.show_rows(result, "modelled cycles of a round trip", [f"{kernel}.cycles" for kernel in KERNELS])


EXPERIMENT = Experiment(
    name="wiggins03/table1",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine="arm926-400",
    boards=("versatilepb",),
    settings={
        "rounds": Setting(200, 40, range(10, 10_001), "round trips measured of each kind"),
        "warmup": Setting(20, 10, range(1_001), "round trips before the measured ones"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
