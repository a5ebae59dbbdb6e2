# SPDX-License-Identifier: GPL-2.0-or-later
"""A system with a network whose other end is a program of the same machine: `servers/peer` sends the frames of a script
by a second card on the same cable, so that a run is the same to the instruction each time.

Each frame that it sends is a region of a case: what the system does about it, and nothing of the peer's.
"""

import statistics
from dataclasses import dataclass
from typing import Any

from cobnut import build, causes, systems
from cobnut.boards import IA32, Board
from cobnut.causes import Charge
from cobnut.emulators import Boot, nic
from cobnut.experiments import Lab, modelled
from cobnut.measured import Region, Switch, joined
from cobnut.missing import ratio
from cobnut.modules import Module
from cobnut.results import LedgerRow

PEER = "peer"
CARDS = {
    "pc": ("8086:100e", "8086:100f"),
    "versatilepb": ("smc91c111", "10ec:8029"),
}  # by board: the system's and the peer's
MEMORY_MB = 64
NS_LOG2 = 2  # of an instruction's time on a PC, which is about what one takes on the models


@dataclass(frozen=True)
class Frames:
    """The frames of one case, `turns` times the script's exchange that the case is about; nothing is None."""

    region: Region | None
    switches: list[Switch]
    turns: int
    failure: str | None

    def each(self, counter: str) -> float | None:
        """The mean of a counter's, or of cycles, over the turns."""
        return ratio(sum(self.region["per_iteration"][counter]), self.turns) if self.region else None

    def usual(self, counter: str) -> float | None:
        """The median frame's: a timer's interrupts are in few."""
        return statistics.median(self.region["per_iteration"][counter]) if self.region else None

    @property
    def frames(self) -> float | None:
        """That the peer sends in a turn."""
        return ratio(self.region["iterations"], self.turns) if self.region else None

    @property
    def charges(self) -> list[Charge]:
        return causes.read(self.region, self.switches) if self.region else []

    def rows(self, name: str) -> list[LedgerRow]:
        """Its ledger, if there is one."""
        one = self.region
        if one is None:
            return []
        row = LedgerRow(
            name,
            None,
            self.turns,
            "cycles",
            one["ledger"],
            one["cycles_total"],
            space=one["space"],
            causes=self.charges,
        )
        return [row]


def run(
    lab: Lab, system: systems.System, turns: dict[int, int], *, options: str = "", board: Board | None = None
) -> dict[int, Frames]:
    """Boots the system, which ends with the peer, under the model, on the laboratory's board or, if given, on that one:
    what was measured by case, of which each has so many `turns`. `options` are the kernel's.
    """
    board = board or lab.board
    chosen = (Module(board.program("sigma0")), *system.modules(board, MEMORY_MB))
    cable = nic.together(*CARDS[board.name])
    boot = Boot(board.kernel, chosen, options, lab.cpu, MEMORY_MB, instruction_log2_ns=NS_LOG2, words=cable)
    found = modelled.run(lab, boot, PEER, board)
    by_case: dict[int, list[Region]] = {case: [] for case in turns}
    for region in found.measured["regions"]:
        by_case.setdefault(region["case"], []).append(region)
    return {
        case: Frames(
            joined(by_case[case]) if by_case[case] else None,
            found.measured["switches"],
            count,
            found.failure or (None if by_case[case] else "no frame of it was measured"),
        )
        for case, count in turns.items()
    }


def load(lab: Lab, name: str, arguments: str, **changes: dict[str, Any]) -> systems.System:
    """The system called `name`, with its TCP/IP server built, words for its peer, and other words of some programs. The
    peer stays in a large space where a description can say so.
    """
    build.network(lab.board)
    peer = {"arguments": arguments, **({"space": "large"} if lab.board.processor is IA32 else {})}
    return systems.load(name).changed(**{**changes, PEER: peer})


def all_in(system: str, space: Any) -> dict[str, dict[str, Any]]:
    """Words that put all programs of a system into such a space each."""
    return {name: {"space": space} for name in systems.load(system).order}
