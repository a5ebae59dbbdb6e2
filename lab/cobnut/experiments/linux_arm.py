# SPDX-License-Identifier: GPL-2.0-or-later
"""Measuring what the guest's init does (lab/guests/init_arm.c) under Linux on a board with an ARM processor, with the
standard kernel and with fast address-space switching, without TLB sharing and with it. The kernels are the same but for
the series in linux/arm-fass.
"""

import statistics
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cobnut import images, paths
from cobnut import measured as written
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.errors import CobnutError
from cobnut.experiments import Lab, runner
from cobnut.linux import board as board_linux
from cobnut.results import LedgerRow


@dataclass(frozen=True)
class Kernel:
    """Linux with a series of patches, and whether processes share init's code."""

    series: Sequence[Path] = ()
    shares: bool = False


KERNELS = {"standard": Kernel(), "fast": Kernel(board_linux.fast_series())}
SHARING = "sharing"  # the fast kernel with regions; init's code is in one
ALL_KERNELS = {**KERNELS, SHARING: Kernel(board_linux.fast_series(), shares=True)}
PAPERS_MACHINE = "sa1100-200"
MEMORY_MB, TIMEOUT_SECONDS = 64, 900
NOT_RANDOM = "norandmaps"  # Linux's option: the stack begins at one address in each boot


class Peer(NamedTuple):
    """A kernel by its name. In a `place` (linux/placing.py) whatever kernel it is finds init's data, its stack and the
    sets of its code the same. Each place also has another order of what is measured, for what was before leaves its
    lines in the caches.
    """

    kernel: str
    place: int | None = None


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


def joined(boots: Sequence[Measured]) -> Measured:
    """The same kind under one kernel in several places as one, with the iterations of all."""
    regions, switches = [], list[written.Switch]()
    for one in boots:
        regions.append(written.shifted(one.region, len(switches)))
        switches += one.switches
    return Measured(boots[0].kernel, boots[0].kind, written.joined(regions), switches)


def measure(lab: Lab, peers: Iterable[Peer], kinds: Sequence[str]) -> dict[Peer, list[Measured]]:
    """One boot of each, in which init measures each of the kinds."""
    wanted = list(peers)
    for kernel in dict.fromkeys(one.kernel for one in wanted):
        board_linux.ensure(lab.board, ALL_KERNELS[kernel].series)  # so that none is compiled beside another
    return runner.mapped(lab, wanted, lambda one: _measured(lab, one, kinds), note=lambda one: one.kernel)


def _measured(lab: Lab, peer: Peer, kinds: Sequence[str]) -> list[Measured]:
    chosen, given, kernel = lab.settings, ALL_KERNELS[peer.kernel], peer.kernel
    linux = board_linux.ensure(lab.board, given.series)
    options = " ".join([NOT_RANDOM] * (peer.place is not None) + [board_linux.SHARE] * given.shares)
    order = _in_order(kinds, peer.place or 0)
    commands = f"{','.join(order)} {chosen['rounds']} {chosen['warmup']}"
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        disk, out = folder / "initrd", folder / "measured.json"
        disk.write_bytes(board_linux.initrd(peer.place, shared=given.shares))
        first = f"{linux.kernel} console={board_linux.PORTS[lab.board.name].console} quiet {options} -- {commands} off"
        image, *rest = images.parse([first, str(disk)], lab.board.processor)
        memory_mb = lab.board.memory_mb or MEMORY_MB
        boot = Boot(image.path, tuple(rest), image.arguments, memory_mb=memory_mb, as_initrd=True)
        outcome = qemu_arm.run(boot, lab.board.name, timeout=TIMEOUT_SECONDS, plugin=_plugin(lab, linux.symbols, out))
        if "guest: done" not in outcome.console or "FAIL" in outcome.console:
            raise CobnutError(f"the {kernel} kernel did not come to the end of '{commands}'")
        found = written.read(out.read_bytes())
    regions = found["regions"]
    if [region["iterations"] for region in regions] != [chosen["rounds"]] * len(kinds):
        raise CobnutError(f"the {kernel} kernel's iterations were not seen")
    by_kind = dict(zip(order, regions, strict=True))
    return [Measured(kernel, kind, by_kind[kind], found["switches"]) for kind in kinds]


def _in_order(kinds: Sequence[str], place: int) -> list[str]:
    """In which they are measured: the first always first, the others from another one on in each place."""
    first, *others = kinds
    begin = place % max(len(others), 1)
    return [first, *others[begin:], *others[:begin]]


def emulator(lab: Lab) -> str:
    """With Linux's version, for a result."""
    return f"{lab.emulator}, Linux {board_linux.ensure(lab.board).version}"


def _plugin(lab: Lab, symbols: Path, out: Path) -> qemu.Plugin:
    words = [("machine", str(lab.machine.path)), ("out", str(out)), ("symbols", str(symbols)), ("from", "begin")]
    words += [("set", f"{key}:{value}") for key, value in lab.overrides.items()]
    return qemu.Plugin(paths.PLUGIN, tuple(words))
