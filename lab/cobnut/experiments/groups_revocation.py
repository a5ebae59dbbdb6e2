# SPDX-License-Identifier: GPL-2.0-or-later
"""`groups/revocation`: what it takes to take a slot back that stands in many page directories, by two schemes.

The program `revoke` has a small space called from up to 1,000 large ones, so that each page directory holds copies of
its entries, and takes its slot away. `eager` clears them in all directories at once; `lazy`, which the kernel does by
itself, in the one in force, and in each other before it is in force again. Interrupts are off for all of it, both
times.
"""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cobnut import sheets
from cobnut.checks import Check, at_most, below
from cobnut.emulators import Boot
from cobnut.experiments import Experiment, Kind, Lab, Setting, modelled, runner
from cobnut.experiments.pingpong import keyed
from cobnut.measured import Measured
from cobnut.missing import ratio
from cobnut.modules import alone
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PROGRAM = "revoke"
SPACES, QUICK = (2, 8, 32, 128, 512, 1000), (2, 128, 1000)
KEPT, OTHER = "lazy", "eager"
SCHEMES = {KEPT: "", OTHER: "revocation=eager"}  # the kernel's options
# cases of the program
REVOCATION = 0
SWITCHES = {"missed_0": 1, "missed_1": 2, "missed_32": 3, "missed_33": 4}
AREA_MB = 2048  # as much as there can be to clear
KERNEL_KB, MEMORY_MB = 24 << 10, 128
SAME_INSTRUCTIONS, SAME_CYCLES = 1.01, 1.1
DONE = re.compile(r"^revoke: (\d+) spaces, (\d+) revocations$", re.MULTILINE)


@dataclass(frozen=True)
class Stretch:
    """One way through the kernel with interrupts off: its instructions, and its modelled cycles with the few of user
    code around it.
    """

    instructions: float
    cycles: float


@dataclass(frozen=True)
class Found:
    """What a run gave, by the program's cases; or the reason why there is nothing."""

    scheme: str
    spaces: int
    stretches: dict[int, list[Stretch]] = field(default_factory=dict)
    failure: str | None = None

    def instructions(self, case: int) -> float | None:
        """The median's."""
        return statistics.median(one.instructions for one in self.stretches[case]) if self.stretches else None

    def cycles(self, case: int) -> float | None:
        return statistics.median(one.cycles for one in self.stretches[case]) if self.stretches else None

    @property
    def longest(self) -> float | None:
        """Cycles of the longest stretch in any case: how long an interrupt waits at worst."""
        return max((one.cycles for found in self.stretches.values() for one in found), default=None)


def run(lab: Lab) -> Result:
    """Both schemes, with every number of spaces."""
    sizes = QUICK if lab.quick else SPACES
    wanted = [(scheme, n) for n in reversed(sizes) for scheme in SCHEMES]
    boots = runner.each(lab, wanted, lambda one: _measure(lab, *one), lambda one: f"{one[1]} {one[0]}")
    found = keyed(wanted, boots)
    return lab.result(series_of(sizes, found), judge_all(sizes, found))


def boot_of(lab: Lab, scheme: str, spaces: int) -> Boot:
    arguments = f"spaces={spaces} pages={lab.settings['pages']} rounds={lab.settings['rounds']}"
    return Boot(
        kernel=lab.board.kernel,
        modules=alone(lab.board, PROGRAM, arguments),
        options=f"small={AREA_MB} kmem={KERNEL_KB} automatic=off {SCHEMES[scheme]}".strip(),
        cpu=lab.cpu,
        memory_mb=MEMORY_MB,
    )


def _measure(lab: Lab, scheme: str, spaces: int) -> Found:
    done = modelled.run(lab, boot_of(lab, scheme, spaces), PROGRAM)
    if done.failure:
        return Found(scheme, spaces, failure=done.failure)
    return read(scheme, spaces, lab.settings["rounds"], done.measured, done.console)


def read(scheme: str, spaces: int, rounds: int, measured: Measured, console: str) -> Found:
    """The stretches in what the plugin wrote: of every other iteration, if no interrupt came in it. A failure if one is
    missing.
    """
    done = DONE.search(console)
    if done is None or int(done[1]) != spaces:
        return Found(scheme, spaces, failure="the program has not told of all its spaces")
    regions = {region["case"]: region for region in measured.get("regions", [])}
    stretches = {}
    for case in (REVOCATION, *SWITCHES.values()):
        region = regions.get(case)
        if region is None or region["iterations"] != 2 * rounds - 1:
            return Found(scheme, spaces, failure=f"case {case} was not measured {rounds} times")
        counters = region["per_iteration"]
        stretches[case] = [
            Stretch(counters["instructions_kernel"][i], region["cycles_per_iteration"][i])
            for i in range(0, region["iterations"], 2)
            if not counters["entries_irq"][i]
        ]
        if not stretches[case]:
            return Found(scheme, spaces, failure=f"an interrupt came each time in case {case}")
    return Found(scheme, spaces, stretches)


def judge_all(sizes: Sequence[int], found: dict[tuple[str, int], Found]) -> Iterator[Check]:
    """The scheme that is kept costs the same whatever the number of spaces, has a bound, and beats the other among
    many.
    """
    few, most, other = found[KEPT, sizes[0]], found[KEPT, sizes[-1]], found[OTHER, sizes[-1]]
    for n in sizes[1:]:
        one = found[KEPT, n]
        instructions = ratio(one.instructions(REVOCATION), few.instructions(REVOCATION))
        longest = ratio(one.longest, few.longest)
        yield SHEET.judge(f"{KEPT}.revocation.{n}", instructions, at_most(SAME_INSTRUCTIONS), one.failure)
        yield SHEET.judge(f"{KEPT}.longest.{n}", longest, at_most(SAME_CYCLES), one.failure)
    whole, pieces = (most.cycles(SWITCHES[name]) for name in ("missed_33", "missed_32"))
    yield SHEET.judge(f"{KEPT}.bound", ratio(pieces, whole), at_most(SAME_CYCLES), most.failure)
    cycles, longest = ratio(most.cycles(REVOCATION), other.cycles(REVOCATION)), ratio(most.longest, other.longest)
    yield SHEET.judge(f"{sizes[-1]}.revocation", cycles, below(1), other.failure)
    yield SHEET.judge(f"{sizes[-1]}.longest", longest, below(1), other.failure)


def series_of(sizes: Sequence[int], found: dict[tuple[str, int], Found]) -> Iterator[Series]:
    """Revocations, switches after them, and the longest stretch, over the number of spaces."""
    for scheme in SCHEMES:
        row = [found[scheme, n] for n in sizes]
        yield Series(f"{scheme}.longest", "modelled cycles", sizes, [one.longest for one in row])
        for name, case in {"revocation": REVOCATION, **SWITCHES}.items():
            counts = [one.instructions(case) for one in row]
            yield Series(f"{scheme}.{name}", "modelled cycles", sizes, [one.cycles(case) for one in row])
            yield Series(f"{scheme}.{name}.instructions", "instructions", sizes, counts)


EXPERIMENT = Experiment(
    name="groups/revocation",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(20, 5, range(1, 1001), "how often each case is measured"),
        "pages": Setting(8, 8, range(1, 65), "pages of its own that the space maps whose slot is taken"),
    },
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
