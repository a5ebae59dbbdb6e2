# SPDX-License-Identifier: GPL-2.0-or-later
"""The long proofs: experiments in full, on every board that they know, as tests that pass or fail one by one."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from cobnut import boards, experiments, paths, running, tables
from cobnut.checks import in_words
from cobnut.errors import CobnutError, Skipped, unknown


@dataclass(frozen=True)
class Proof:
    """An experiment in full, on a board."""

    experiment: str
    board: str

    @property
    def words(self) -> str:
        """What names it behind `./cobnut test long`."""
        return f"{self.experiment} --board {self.board}"


def all_proofs() -> list[Proof]:
    """All of them, in the order in which they are made."""
    return [Proof(each.name, board) for each in experiments.long_proofs().values() for board in each.all_boards]


def choose(names: Sequence[str], board: str | None) -> list[Proof]:
    """Those of the experiments `names`, or of all, on `board`, or on all."""
    known = experiments.long_proofs()
    for name in names:
        if name not in known:
            raise unknown("long proof", name, known)
    if board is not None:
        boards.find(board)
    wanted = names or known
    chosen = [each for each in all_proofs() if each.experiment in wanted and board in (None, each.board)]
    for name in names:
        if not any(each.experiment == name for each in chosen):
            raise CobnutError(f"--board {board}: {name} does not run there")
    return chosen


def make(proof: Proof) -> bool | None:
    """Makes one and says in a line how it ended. Whether it holds; None if it cannot be made on this machine."""
    start = time.monotonic()
    holds: bool | None = False
    try:
        result = running.run(
            proof.experiment, board=proof.board, machine=None, given=[], quick=False, report_folder=paths.REPORTS
        ).result
        holds = not result.failed
        if not holds:
            tables.show_checks(result)
        outcome = in_words(result.checks)
    except Skipped as reason:
        holds, outcome = None, str(reason)
    except CobnutError as error:
        outcome = str(error)
    verdict = {True: "ok", False: "not ok", None: "left out"}[holds]
    print(f"{verdict}: {proof.words}: {outcome}, {time.monotonic() - start:.0f} s", flush=True)
    return holds
