# SPDX-License-Identifier: GPL-2.0-or-later
"""One boot of a program of ours under the plugin with the machine's model, from its first measured case on.

Nothing is recorded: this is for runs that are wanted once, or that take long until they measure anything.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from cobnut import measuring
from cobnut.boards import Board
from cobnut.emulators import Boot
from cobnut.experiments import Lab, runner
from cobnut.experiments.pingpong import TIMEOUT_SECONDS, guest_failure
from cobnut.measured import NOTHING, Measured, read


@dataclass(frozen=True)
class Modelled:
    """What the plugin wrote and the program printed; or the reason why there is nothing."""

    measured: Measured
    console: str
    failure: str | None = None


def run(lab: Lab, boot: Boot, program: str, board: Board | None = None) -> Modelled:
    """Boots on the laboratory's board or, if given, on that one."""
    board = board or lab.board
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "measured.json"
        plugin = measuring.plugin(board, lab.machine, out, lab.changes, more=(("from", "begin"),))
        outcome = runner.run(board, boot, TIMEOUT_SECONDS, plugin)
        failure = guest_failure(outcome, program) or (None if out.exists() else "the plugin wrote nothing")
        measured = NOTHING if failure else read(out.read_bytes())
    return Modelled(measured, outcome.console, failure)
