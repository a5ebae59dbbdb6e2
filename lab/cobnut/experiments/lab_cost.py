# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab/cost`: how much more processor time a run takes under a machine model than on plain QEMU.

Runs come in pairs, one plain and one modelled behind each other, so that whatever else the computer does falls on both;
the median of the pairs' ratios counts. Of the ping-pong the boot is taken away, by runs without round trips. A run
between them has the plugin's callbacks, which do nothing: what QEMU takes for calling them.
"""

import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from cobnut import linux_guest, measuring, paths, process, sheets
from cobnut.checks import Check, at_most
from cobnut.emulators import Boot, Outcome, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, given, runner
from cobnut.experiments.pingpong import TIMEOUT_SECONDS, PingPong, boot_of, guest_failure
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)
LOOPS = ("small_small", "large_large")
LINUX = "linux"
MOST = {**dict.fromkeys(LOOPS, 4.0), LINUX: 8.0, given.IMAGE: 8.0}  # the bounds that this project has set itself
SLOT_MB, AREA_MB = 16, 512


@dataclass(frozen=True)
class Guest:
    """What is run, what of it is not to count, and why a run did not come to its end (or None)."""

    boot: Boot
    less: Boot | None
    failure: Callable[[Outcome], str | None]
    timeout: float
    names: tuple[tuple[str, str], ...]  # of the kernel's code, for the plugin


class Way(Enum):
    """What is in QEMU when a guest runs."""

    PLAIN = "no plugin"
    IDLE = "callbacks that do nothing"
    MODELLED = "the model"


@dataclass(frozen=True)
class Pair:
    """Seconds of processor time of a plain run, of one with callbacks that do nothing, and of the modelled one."""

    plain: float
    idle: float
    modelled: float

    @property
    def ratio(self) -> float:
        return self.modelled / self.plain


def run(lab: Lab) -> Result:
    """Runs every guest in pairs."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        guests = guests_of(lab, Path(folder))
        pairs = runner.mapped(lab, guests, lambda name: measure(lab, name, guests[name]), at_once=1)
    return lab.result(series_of(pairs), [judge_guest(name, found) for name, found in pairs.items()])


def guests_of(lab: Lab, folder: Path) -> dict[str, Guest]:
    """The guests by name, or the one that was given; what they need besides is written to `folder`."""
    if lab.guest:
        given.check_repeatable(lab, lab.guest)
        boot = given.boot_of(lab, lab.guest)
        return {given.IMAGE: Guest(boot, None, given.failure, given.TIMEOUT_SECONDS, lab.guest.names)}
    found = {}
    for name in LOOPS:
        idle = PingPong(name, rounds=1, warmup=1, slot=SLOT_MB, small=AREA_MB)
        busy = replace(idle, warmup=lab.settings["rounds"])
        names = (("kernel", str(lab.board.kernel_executable)),)
        found[name] = Guest(boot_of(lab, busy), boot_of(lab, idle), guest_failure, TIMEOUT_SECONDS, names)
    if lab.settings["linux"]:
        boot = linux_guest.boot(linux_guest.ensure(), folder, "")
        found[LINUX] = Guest(boot, None, linux_guest.failure, linux_guest.BOOT_SECONDS, ())
    return found


def measure(lab: Lab, name: str, guest: Guest) -> list[Pair]:
    """Pairs of runs of one guest."""
    pairs = []
    for _ in range(lab.settings["pairs"]):
        plain, idle, modelled = (seconds(lab, guest, way) for way in Way)
        if plain <= 0:
            raise CobnutError(f"{name}: took no longer than without round trips; more are needed (--set rounds=)")
        pairs.append(Pair(plain, idle, modelled))
    return pairs


def seconds(lab: Lab, guest: Guest, way: Way) -> float:
    """The processor time of one run, without what is not to count."""
    whole = _seconds(lab, guest, guest.boot, way)
    return whole - (_seconds(lab, guest, guest.less, way) if guest.less else 0.0)


def _seconds(lab: Lab, guest: Guest, boot: Boot, way: Way) -> float:
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "measured.json"
        plugin = {
            Way.PLAIN: None,
            Way.IDLE: qemu.Plugin(paths.PLUGIN, (("mode", "idle"), ("out", str(out)))),
            Way.MODELLED: measuring.plugin_for(guest.names, lab.machine, out, lab.changes),
        }[way]
        before = process.children_seconds()
        outcome = qemu.run(boot, timeout=guest.timeout, plugin=plugin, repeatable=True)
        took = process.children_seconds() - before
    failure = guest.failure(outcome)
    if failure:
        raise CobnutError(failure)
    return took


def judge_guest(name: str, pairs: Sequence[Pair]) -> Check:
    """The verdict on one guest."""
    times = zip(*((pair.plain, pair.idle, pair.modelled) for pair in pairs), strict=True)
    plain, idle, modelled = (f"{statistics.median(of_one):.2f}" for of_one in times)
    said = {"pairs": len(pairs), "plain": plain, "idle": idle, "modelled": modelled}
    return SHEET.judge(f"{name}.ratio", round(ratio_of(pairs), 2), at_most(MOST[name]), **said)


def ratio_of(pairs: Sequence[Pair]) -> float:
    return statistics.median(pair.ratio for pair in pairs)


def series_of(pairs: dict[str, list[Pair]]) -> list[Series]:
    """Over the guests' names the medians, and the least and largest ratio of a pair."""
    names = list(pairs)
    ratios = [[pair.ratio for pair in found] for found in pairs.values()]
    return [
        Series("plain", "s", names, [statistics.median(p.plain for p in found) for found in pairs.values()]),
        Series("idle", "s", names, [statistics.median(p.idle for p in found) for found in pairs.values()]),
        Series("modelled", "s", names, [statistics.median(p.modelled for p in found) for found in pairs.values()]),
        Series("ratio", "times", names, [ratio_of(found) for found in pairs.values()]),
        Series("least", "times", names, [min(found) for found in ratios]),
        Series("most", "times", names, [max(found) for found in ratios]),
    ]


EXPERIMENT = Experiment(
    name="lab/cost",
    sheet=SHEET,
    kind=Kind.TOOL,
    machine="pentium4-1400",
    settings={
        "pairs": Setting(5, 3, range(1, 100), "pairs of runs of each guest"),
        "rounds": Setting(200_000, 200_000, range(1_000, 1_000_001), "round trips of the ping-pong"),
        "linux": Setting(1, 0, range(2), "1 runs Debian's kernel to a shell as well, which takes minutes"),
        "memory": given.MEMORY,
    },
    run=run,
    takes_images=True,
    plots=SHEET.all_plots,
)
