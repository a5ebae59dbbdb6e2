# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/table1`: a byte that two processes of Linux send to and fro, with the standard kernel and with fast
address-space switching; two threads that do the same, which is the floor without any switch of spaces; 64 KB from one
process to another; and processes that come and go.

W03's table 1 without its row `shell`. The kernels are the same but for the series in linux/arm-fass.
"""

import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cobnut import causes, images, paths, published, sheets, tables
from cobnut import measured as written
from cobnut.checks import Check, at_least, at_most, exactly, reproduces
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.crowd import CACHE_FLUSHES
from cobnut.linux import board as board_linux
from cobnut.missing import ratio
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

KERNELS = {"standard": (), "fast": board_linux.fast_series()}
FLOORS = {"pipe": "threads", "fifo": "threads", "unix": "unix_threads", "fcntl": "fcntl_threads"}  # of each potato
STREAMS, CREATIONS = ("pipe_stream", "unix_stream"), ("fork", "exec")
KINDS = (*FLOORS, *dict.fromkeys(FLOORS.values()), *STREAMS, *CREATIONS)
NEEDS = {"unix": "UNIX", "fcntl": "FILE_LOCKING"}  # options of Linux', by the beginning of a kind
PAPERS_MACHINE = "sa1100-200"
FLUSHES = ("tlb_flushes", *CACHE_FLUSHES)
OVER_THREADS, FEWER_CYCLES, NOT_SLOWER = 1.3, 15, 1  # goals of ours
MEMORY_MB, TIMEOUT_SECONDS = 64, 900


@dataclass(frozen=True)
class Potato:
    """Iterations of one kind under one kernel, as the plugin writes them: round trips, blocks or processes."""

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
        """Of a median round trip or process. Blocks differ in how often the two sides alternate: their mean."""
        region = self.region
        return region["cycles_total"] / region["iterations"] if self.kind in STREAMS else self.count("cycles")

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
    kinds = _kinds(lab)
    found = {(kernel, one.kind): one for kernel in KERNELS for one in _measured(lab, kernel)}
    series = [
        Series(f"{kernel}.cycles", "modelled cycles", kinds, [found[kernel, kind].cycles for kind in kinds])
        for kernel in KERNELS
    ]
    counters = ("instructions_kernel", "instructions_user", "itlb_misses", "dtlb_misses", *FLUSHES)
    for kernel in KERNELS:
        rows = [found[kernel, kind] for kind in kinds]
        series += [Series(f"{kernel}.{name}", "times", kinds, [one.count(name) for one in rows]) for name in counters]
    emulator = f"{lab.emulator}, Linux {board_linux.ensure(lab.board).version}"
    checks = [*judge(found), *(as_published(found) if lab.machine_name == PAPERS_MACHINE else ())]
    return lab.result(series, checks, [one.row() for one in found.values()], emulator=emulator)


def judge(found: Potatoes) -> Iterator[Check]:
    """Fast against standard, and both against the floor."""
    for kind in _among(FLOORS, found):
        standard, fast = found["standard", kind], found["fast", kind]
        floors = {kernel: found[kernel, FLOORS[kind]].cycles for kernel in KERNELS}
        yield _gain(found, kind)
        yield SHEET.judge(f"fast.flushes.{kind}", fast.count(*FLUSHES), exactly(0))
        yield SHEET.judge(f"over_threads.{kind}", ratio(fast.cycles, floors["fast"]), at_most(OVER_THREADS))
        spent, theirs = fast.cycles - floors["fast"], standard.cycles - floors["standard"]
        rule = at_most(theirs / FEWER_CYCLES)
        yield SHEET.judge(f"switching.{kind}", spent, rule, standard=theirs, fewer=FEWER_CYCLES)
    for kind in _among((*STREAMS, *CREATIONS), found):
        yield _gain(found, kind)
        faster = ratio(found["standard", kind].cycles, found["fast", kind].cycles)
        yield SHEET.judge(f"not_slower.{kind}", faster, at_least(NOT_SLOWER))


def as_published(found: Potatoes) -> Iterator[Check]:
    """The cycles that a round trip saves, on the machine where the paper's microseconds are cycles."""
    for kind in _among(FLOORS, found):
        standard, fast = published.W03_TABLE_1[kind]
        rule = reproduces(round((standard - fast) * published.W03_CLOCK_MHZ))
        saved = found["standard", kind].cycles - found["fast", kind].cycles
        yield SHEET.judge(f"saved.{kind}", saved, rule)


def _among(kinds: Iterable[str], found: Potatoes) -> list[str]:
    """Those that the board's kernel has."""
    return [kind for kind in kinds if ("standard", kind) in found]


def _kinds(lab: Lab) -> list[str]:
    """Those for which the board's kernel is configured."""
    needed = {kind: NEEDS.get(kind.partition("_")[0]) for kind in KINDS}
    return [kind for kind, option in needed.items() if option is None or board_linux.has(lab.board, option)]


def _gain(found: Potatoes, kind: str) -> Check:
    standard, fast = published.W03_TABLE_1[kind]
    wanted = fast / standard if kind in STREAMS else standard / fast  # bandwidths: more is better
    cycles = found["standard", kind].cycles
    gain = ratio(cycles, found["fast", kind].cycles)
    return SHEET.judge(f"gain.{kind}", gain, reproduces(round(wanted, 2)), standard=cycles)


def _measured(lab: Lab, kernel: str) -> list[Potato]:
    chosen, kinds = lab.settings, _kinds(lab)
    linux = board_linux.ensure(lab.board, KERNELS[kernel])
    commands = f"{','.join(kinds)} {chosen['rounds']} {chosen['warmup']}"
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        disk, out = folder / "initrd", folder / "measured.json"
        disk.write_bytes(board_linux.initrd())
        first = f"{linux.kernel} console={board_linux.PORTS[lab.board.name].console} quiet -- {commands} off"
        image, *rest = images.parse([first, str(disk)], lab.board.processor)
        memory_mb = lab.board.memory_mb or MEMORY_MB
        boot = Boot(image.path, tuple(rest), image.arguments, memory_mb=memory_mb, as_initrd=True)
        outcome = qemu_arm.run(boot, lab.board.name, timeout=TIMEOUT_SECONDS, plugin=_plugin(lab, linux.symbols, out))
        if "guest: done" not in outcome.console or "FAIL" in outcome.console:
            raise CobnutError(f"the {kernel} kernel did not come to the end of '{commands}'")
        measured = written.read(out.read_bytes())
    lab.meter.advance(note=kernel)
    regions = measured["regions"]
    if [region["iterations"] for region in regions] != [chosen["rounds"]] * len(kinds):
        raise CobnutError(f"the {kernel} kernel's iterations were not seen")
    return [Potato(kernel, kind, region, measured["switches"]) for kind, region in zip(kinds, regions, strict=True)]


def _plugin(lab: Lab, symbols: Path, out: Path) -> qemu.Plugin:
    words = [("machine", str(lab.machine.path)), ("out", str(out)), ("symbols", str(symbols)), ("from", "begin")]
    words += [("set", f"{key}:{value}") for key, value in lab.overrides.items()]
    return qemu.Plugin(paths.PLUGIN, tuple(words))


def show(result: Result) -> None:
    tables.show_rows(
        result, "modelled cycles of a round trip, of 64 KB or of a process", [f"{kernel}.cycles" for kernel in KERNELS]
    )


EXPERIMENT = Experiment(
    name="wiggins03/table1",
    sheet=SHEET,
    kind=Kind.OUTSIDE,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings={
        "rounds": Setting(200, 40, range(10, 10_001), "round trips, blocks and processes measured of each kind"),
        "warmup": Setting(20, 10, range(1_001), "as many before the measured ones"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
