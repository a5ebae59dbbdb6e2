# SPDX-License-Identifier: GPL-2.0-or-later
"""`groups/revocation`: what it takes to take a slot back that stands in many page directories, by two schemes.

The program `revoke` has a small space called from up to 1,000 large ones, so that each page directory holds copies of
its entries, and takes its slot away. `eager` clears them in all directories at once; `lazy`, which the kernel does by
itself, in the one in force, and in each other before it is in force again. Interrupts are off for all of it, both
times.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from cobnut.checks import Check, at_most, below, judge, named
from cobnut.emulators import Boot
from cobnut.experiments import Experiment, Kind, Lab, Setting, modelled, runner
from cobnut.experiments.pingpong import raise_if_all_failed
from cobnut.measured import Measured
from cobnut.modules import alone
from cobnut.plots import Lines, Plot
from cobnut.results import Result, Series

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
    found = {(one.scheme, one.spaces): one for one in measure(lab, wanted)}
    return lab.result(series_of(sizes, found), judge_all(sizes, found))


def measure(lab: Lab, wanted: Sequence[tuple[str, int]]) -> list[Found]:
    """Runs each scheme with its number of spaces; their results are in the same order."""
    everything = runner.each(lab, wanted, lambda one: _measure(lab, *one), lambda one: f"{one[1]} {one[0]}")
    raise_if_all_failed(everything)
    return everything


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


def judge_all(sizes: Sequence[int], found: dict[tuple[str, int], Found]) -> list[Check]:
    """The scheme that is kept costs the same whatever the number of spaces, has a bound, and beats the other among
    many.
    """
    checks = []
    few, most = found[KEPT, sizes[0]], found[KEPT, sizes[-1]]
    for n in sizes[1:]:
        one = found[KEPT, n]
        checks += [
            judge(
                f"{KEPT}.revocation.{n}",
                _ratio(one.instructions(REVOCATION), few.instructions(REVOCATION)),
                f"times {sizes[0]} spaces",
                at_most(SAME_INSTRUCTIONS),
                _why(one, "Instructions of the kernel that take a slot back."),
            ),
            judge(
                f"{KEPT}.longest.{n}",
                _ratio(one.longest, few.longest),
                f"times {sizes[0]} spaces",
                at_most(SAME_CYCLES),
                _why(
                    one,
                    "Modelled cycles of the longest stretch with interrupts off, at a revocation or at a switch after"
                    " any number of them.",
                ),
            ),
        ]
    whole, pieces = (most.cycles(SWITCHES[name]) for name in ("missed_33", "missed_32"))
    other = found[OTHER, sizes[-1]]
    return [
        *checks,
        judge(
            f"{KEPT}.bound",
            _ratio(pieces, whole),
            "of the whole area's",
            at_most(SAME_CYCLES),
            _why(
                most,
                "Modelled cycles of a switch to a host that has missed 32 revocations of the longest slots, over one"
                " that clears the whole area.",
            ),
        ),
        judge(
            f"{sizes[-1]}.revocation",
            _ratio(most.cycles(REVOCATION), other.cycles(REVOCATION)),
            f"of the {OTHER} scheme's",
            below(1),
            _why(other, "Modelled cycles that take a slot back, among most spaces."),
        ),
        judge(
            f"{sizes[-1]}.longest",
            _ratio(most.longest, other.longest),
            f"of the {OTHER} scheme's",
            below(1),
            _why(
                other,
                "Modelled cycles of the longest stretch with interrupts off, among most spaces. U02 (5.1) expects the"
                " opposite of lazy purging.",
            ),
        ),
    ]


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _why(found: Found, text: str) -> str:
    return f"{text} {found.failure or ''}".rstrip()


def series_of(sizes: Sequence[int], found: dict[tuple[str, int], Found]) -> list[Series]:
    """Revocations, switches after them, and the longest stretch, over the number of spaces."""
    lines = []
    for scheme in SCHEMES:
        row = [found[scheme, n] for n in sizes]
        lines.append(Series(f"{scheme}.longest", "modelled cycles", sizes, [one.longest for one in row]))
        for name, case in {"revocation": REVOCATION, **SWITCHES}.items():
            lines.append(Series(f"{scheme}.{name}", "modelled cycles", sizes, [one.cycles(case) for one in row]))
            lines.append(
                Series(f"{scheme}.{name}.instructions", "instructions", sizes, [one.instructions(case) for one in row])
            )
    return lines


def plots(result: Result) -> list[Plot]:
    return [
        Lines(
            "To take a slot back", "spaces", "modelled cycles", {f"{scheme}.revocation": scheme for scheme in SCHEMES}
        ),
        Lines(
            "The longest stretch with interrupts off",
            "spaces",
            "modelled cycles",
            {f"{scheme}.longest": scheme for scheme in SCHEMES},
            caption=(
                "Of the revocation itself, and of the first switch to a host that has missed none, 1, 32 or 33 of them."
            ),
        ),
        Lines(
            "A switch to a host that has missed revocations",
            "spaces",
            "modelled cycles",
            (
                {f"{KEPT}.{name}": f"{KEPT}: {name.removeprefix('missed_')} missed" for name in SWITCHES}
                | {f"{OTHER}.missed_0": f"{OTHER}: none missed"}
            ),
        ),
    ]


EXPERIMENT = Experiment(
    name="groups/revocation",
    title="Taking a slot back among many spaces",
    source=(
        "U02 section 5.1, which calls it extremely costly and rejects lazy purging for its worst-case interrupt latency"
    ),
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(20, 5, range(1, 1001), "how often each case is measured"),
        "pages": Setting(8, 8, range(1, 65), "pages of its own that the space maps whose slot is taken"),
    },
    run=run,
    plots=plots,
    checks=(
        named(KEPT, ("revocation", "longest"), "SPACES"),
        named(KEPT, "bound"),
        named("SPACES", ("revocation", "longest")),
    ),
    story=(
        "A small space is called from each of up to 1,000 large ones, whose page directories then hold copies of its"
        f" entries. Its slot of 16 MB, in an area of {AREA_MB} MB, is taken back by SpaceControl. Then a message goes"
        " to a large space that was not in force since. Before each measured step a megabyte is read, so that caches"
        " and TLBs hold nothing that helps: this is the worst case, not the usual one."
    ),
    cannot_say=(
        (
            "Cycles are modelled. They are those from one marker of the program to the next, with a dozen of its own"
            " instructions; between them the kernel is entered once, and has interrupts off until it leaves: a stretch"
            " is up to that much shorter."
        ),
        (
            "A revocation also takes as long as the space has pages: each present one is looked at, and up to 32 are"
            " invalidated one by one. The setting `pages` changes that."
        ),
        "The scheme of the background (docs/tags.md) is not built, so not measured.",
    ),
    has_curves=True,
)
