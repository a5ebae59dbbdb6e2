# SPDX-License-Identifier: GPL-2.0-or-later
"""Running the program `groups`, whose spaces talk to each other in a pattern, under the plugin, and reading what came
of it.

The kernel's rules about tags take some time to reach a steady state, which is not measured: the plugin models from the
beginning of the measured case on, so that these runs are not recorded.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cobnut.emulators import Boot
from cobnut.experiments import Lab, modelled, runner
from cobnut.experiments.pingpong import raise_if_all_failed
from cobnut.measured import NOTHING, Measured, Region
from cobnut.modules import alone
from cobnut.results import LedgerRow

PROGRAM = "groups"
DRIVER = 0  # its space; it marks the measured batches
PATTERNS = ("pipeline", "web", "star", "random")
# what the kernel may do by itself, and whether the program asks for slots as long as there are any
MODES = {
    "large": ("no small spaces", "automatic=off", False),
    "fixed": ("fixed slots", "automatic=off", True),
    "automatic": ("automatic slots", "groups=off", False),
    "groups": ("automatic slots and groups", "", False),
}
KERNEL_KB, MEMORY_MB = 24 << 10, 128
AREA_MB, SLOT_MB = 512, 16
INSTRUCTION_LOG2_NS = 3  # a modelled IPC of a thousand cycles at 1.4 GHz is 170 instructions: 5 ns each, rounded up

SPACE = re.compile(r"^groups: space (\d+) in group (-?\d+) at (\d+) MB of (\d+)( bound)?$", re.MULTILINE)
TOTAL = re.compile(r"^groups: (\d+) ipcs, (\d+) moved$", re.MULTILINE)


@dataclass(frozen=True)
class Talk:
    """One run: who talks to whom, among how many spaces, and who decides about tags."""

    pattern: str
    spaces: int
    mode: str
    batch: int
    rounds: int
    warmup_ms: int
    names: bool = False  # each space makes a case of its own, of number 1 + space, which says what the plugin calls it
    area_mb: int = AREA_MB

    def boot(self, lab: Lab) -> Boot:
        fixed = self.area_mb if MODES[self.mode][2] else 0
        arguments = (
            f"pattern={self.pattern} spaces={self.spaces} size_mb={SLOT_MB} batch={self.batch} rounds={self.rounds} "
            f"warmup_ms={self.warmup_ms} fixed_mb={fixed} names={int(self.names)}"
        )
        return Boot(
            kernel=lab.board.kernel,
            modules=alone(lab.board, PROGRAM, arguments),
            options=f"small={self.area_mb} kmem={KERNEL_KB} {MODES[self.mode][1]}".strip(),
            cpu=lab.cpu,
            memory_mb=MEMORY_MB,
            instruction_log2_ns=INSTRUCTION_LOG2_NS,
        )


@dataclass(frozen=True)
class Tag:
    """What the program printed of a space at the end. `group` is the pattern's, -1: none; `size_mb` 0: the space is
    large.
    """

    space: int
    group: int
    offset_mb: int
    size_mb: int
    bound: bool


@dataclass(frozen=True)
class Heard:
    """What a run gave: the plugin's output, and what the program printed; or the reason why there is none."""

    talk: Talk
    measured: Measured
    ipcs: int
    moved: int
    tags: tuple[Tag, ...]
    failure: str | None = None

    @property
    def region(self) -> Region | None:
        """The measured batches."""
        return next((region for region in self.measured.get("regions", []) if region["case"] == 0), None)

    @property
    def names(self) -> list[tuple[int, str]]:
        """What the plugin calls each space at the end; and the driver (space 0) in the measured batches, where it
        may move, as it is in no group.
        """
        regions = self.measured.get("regions", [])
        driver = [(DRIVER, name) for region in regions if not region["case"] for name in region["spaces"]]
        return driver + [(region["case"] - 1, region["space"]) for region in regions if region["case"]]

    def each(self, counter: str) -> float | None:
        """A counter for each IPC."""
        values = self.region["per_iteration"].get(counter) if self.region else None
        return sum(values) / self.ipcs if values and self.ipcs else None

    @property
    def cycles(self) -> float | None:
        return self.region["cycles_total"] / self.ipcs if self.region and self.ipcs else None

    def rows(self, name: str, x: float | None = None) -> list[LedgerRow]:
        """Where the cycles go, if anything was measured; a round is an IPC."""
        region = self.region
        if region is None:
            return []
        ledger, cycles, space = region["ledger"], region["cycles_total"], region["space"]
        return [LedgerRow(name, x, self.ipcs, "cycles", ledger, cycles, space=space)]

    def count(self, kind: str) -> int:
        """How many spaces are `exclusive`, `bound` or `large` at the end."""
        kinds = ["large" if not tag.size_mb else "bound" if tag.bound else "exclusive" for tag in self.tags]
        return kinds.count(kind)


def listen(lab: Lab, talks: Sequence[Talk]) -> list[Heard]:
    """Runs `talks`; their results are in the same order."""
    found = runner.each(
        lab, talks, lambda talk: _listen(lab, talk), lambda talk: f"{talk.pattern} {talk.spaces} {talk.mode}"
    )
    raise_if_all_failed(found)
    return found


def _listen(lab: Lab, talk: Talk) -> Heard:
    done = modelled.run(lab, talk.boot(lab), PROGRAM)
    return Heard(talk, NOTHING, 0, 0, (), done.failure) if done.failure else read(talk, done.measured, done.console)


def read(talk: Talk, measured: Measured, console: str) -> Heard:
    """A run's result from what the plugin wrote and the program printed; a failure if anything is missing."""
    total = TOTAL.search(console)
    tags = tuple(
        Tag(int(space), int(group), int(offset), int(size), bool(bound))
        for space, group, offset, size, bound in SPACE.findall(console)
    )
    if total is None or [tag.space for tag in tags] != list(range(talk.spaces)):
        return Heard(talk, NOTHING, 0, 0, (), "the program has not told of all its spaces")
    heard = Heard(talk, measured, int(total[1]), int(total[2]), tags)
    region = heard.region
    if region is None or region["iterations"] != talk.rounds:
        return Heard(talk, NOTHING, 0, 0, (), "not all batches were measured")
    if round(1000 * sum(region["ledger"].values())) != round(1000 * region["cycles_total"]):
        return Heard(talk, NOTHING, 0, 0, (), "the ledger does not add up to its total")
    return heard
