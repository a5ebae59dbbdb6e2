# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring what the guest's init does (lab/guests/init_arm.c) under Linux on a board with an ARM processor, with the
standard kernel and with fast address-space switching, without TLB sharing and with it. The kernels are the same but for
the series in linux/arm-fass.
"""

import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cobnut import images, paths
from cobnut import measured as written
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Lab
from cobnut.linux import board as board_linux
from cobnut.results import LedgerRow


@dataclass(frozen=True)
class Kernel:
    """Linux with a series of patches, and the options that it is booted with."""

    series: Sequence[Path] = ()
    options: str = ""


KERNELS = {"standard": Kernel(), "fast": Kernel(board_linux.fast_series())}
SHARING = "sharing"  # the fast kernel with regions; init's code is in one
ALL_KERNELS = {**KERNELS, SHARING: Kernel(board_linux.fast_series(), board_linux.SHARING)}
PAPERS_MACHINE = "sa1100-200"
MEMORY_MB, TIMEOUT_SECONDS = 64, 900


@dataclass(frozen=True)
class Measured:
    """Iterations of one kind under one kernel, as the plugin writes them."""

    kernel: str
    kind: str
    region: written.Region
    switches: list[written.Switch]

    def count(self, *counters: str) -> float:
        """Of the median iteration; what a machine does not have is not counted on it."""
        rows = [self.region["per_iteration"].get(counter, [0]) for counter in counters]
        return sum(float(statistics.median(row)) for row in rows)

    def row(self) -> LedgerRow:
        return LedgerRow.of(f"{self.kernel}.{self.kind}", self.region, self.switches)


def measure(lab: Lab, kernel: str, kinds: Sequence[str]) -> list[Measured]:
    """One boot of `kernel`, in which init measures each of the kinds."""
    chosen = lab.settings
    linux = board_linux.ensure(lab.board, ALL_KERNELS[kernel].series)
    options = ALL_KERNELS[kernel].options
    commands = f"{','.join(kinds)} {chosen['rounds']} {chosen['warmup']}"
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        disk, out = folder / "initrd", folder / "measured.json"
        disk.write_bytes(board_linux.initrd())
        first = f"{linux.kernel} console={board_linux.PORTS[lab.board.name].console} quiet {options} -- {commands} off"
        image, *rest = images.parse([first, str(disk)], lab.board.processor)
        memory_mb = lab.board.memory_mb or MEMORY_MB
        boot = Boot(image.path, tuple(rest), image.arguments, memory_mb=memory_mb, as_initrd=True)
        outcome = qemu_arm.run(boot, lab.board.name, timeout=TIMEOUT_SECONDS, plugin=_plugin(lab, linux.symbols, out))
        if "guest: done" not in outcome.console or "FAIL" in outcome.console:
            raise CobnutError(f"the {kernel} kernel did not come to the end of '{commands}'")
        found = written.read(out.read_bytes())
    lab.meter.advance(note=kernel)
    regions = found["regions"]
    if [region["iterations"] for region in regions] != [chosen["rounds"]] * len(kinds):
        raise CobnutError(f"the {kernel} kernel's iterations were not seen")
    return [Measured(kernel, kind, region, found["switches"]) for kind, region in zip(kinds, regions, strict=True)]


def emulator(lab: Lab) -> str:
    """With Linux's version, for a result."""
    return f"{lab.emulator}, Linux {board_linux.ensure(lab.board).version}"


def _plugin(lab: Lab, symbols: Path, out: Path) -> qemu.Plugin:
    words = [("machine", str(lab.machine.path)), ("out", str(out)), ("symbols", str(symbols)), ("from", "begin")]
    words += [("set", f"{key}:{value}") for key, value in lab.overrides.items()]
    return qemu.Plugin(paths.PLUGIN, tuple(words))
