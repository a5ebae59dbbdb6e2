# SPDX-License-Identifier: GPL-2.0-or-later
"""`attack/compose` on the boards with an ARM processor: random sequences of the calls that change a space's shape, and
its mappings of others' memory; after each step attackers tell what they can reach.

user/compose/arm takes the steps and judges them, on the kernel with tags and on the standard one. The sanitizer sees
what the emulator, which caches nothing, does not show.
"""

from pathlib import Path

from cobnut import build, composed, sheets
from cobnut.boards import Board
from cobnut.checks import Check
from cobnut.composed import Composed
from cobnut.emulators import Boot, Outcome
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner, stress_console
from cobnut.findings import Findings
from cobnut.modules import alone
from cobnut.results import Result

SHEET = sheets.beside(__file__)

MEMORY_MB = 64
ALL_PAIRS_FROM = 10_000  # steps: with fewer, some operations never follow some others
LEAST_PAIRS, LEAST_PAIRS_QUICK = 480, 250


def run(lab: Lab) -> Result:
    """Boots the program for each seed, under the sanitizer."""
    build.images(lab.board.standard)
    boots, steps = lab.settings["boots"], lab.settings["steps"]
    episodes = max(1, steps // (composed.STEPS_EACH * boots))

    def one(index: int) -> tuple[Composed, Findings]:
        board = lab.board.standard if index % 4 == 3 else lab.board
        return look(board, lab.settings["seed"] + index, episodes)

    found = runner.each(lab, range(boots), one, lambda index: f"seed {lab.settings['seed'] + index}")
    runs = [done for done, _ in found]
    checks = composed.judge_runs(runs, steps, LEAST_PAIRS if steps >= ALL_PAIRS_FROM else LEAST_PAIRS_QUICK)
    checks += [judge_reports(done, findings) for done, findings in found]
    return lab.result(composed.series_of(runs), checks)


def look(board: Board, seed: int, episodes: int) -> tuple[Composed, Findings]:
    """One boot on the kernel of `board`: what the program found, and what the sanitizer did."""
    seen: list[Findings] = []

    def boot(arguments: str, timeout: float) -> Outcome:
        outcome, findings = sanitized(board, arguments, timeout)
        seen.append(findings)
        return outcome

    kernel = "fast" if board.tags else "standard"
    done = composed.look(f"seed{seed}.{kernel}", seed, episodes, boot, lambda arguments: replay(board, arguments))
    return done, seen[0]


def sanitized(board: Board, arguments: str, timeout: float, *, kernel: Path | None = None) -> tuple[Outcome, Findings]:
    """One boot on the kernel of `board`, or on a mutant of it."""
    modules = alone(board, "compose", arguments)
    what = Boot(kernel or board.kernel, modules, memory_mb=board.memory_mb or MEMORY_MB)
    return runner.sanitized(board, what, timeout)


def replay(board: Board, arguments: str) -> str:
    """The command that runs it once more."""
    kernel = "--set checked=on " * board.checked + "--set tags=off " * (not board.tags)
    return f'./cobnut boot {kernel}--board {board.name} --sanitize --root "compose {arguments}"'


def judge_reports(done: Composed, findings: Findings) -> Check:
    promise = "Nothing stale is used, no line of a cache is lost or read stale."
    return stress_console.judge_reports(done.name, findings, promise)


EXPERIMENT = Experiment(
    name="attack/compose",
    sheet=SHEET,
    kind=Kind.PROOF,
    boards=("collie", "versatilepb"),
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "boots": Setting(4, 2, range(1, 1025), "how many, every fourth on the standard kernel"),
        "steps": Setting(
            24_000, 1_400, range(1, 100_000_001), f"in all; episodes of {composed.STEPS_EACH}, shared by the boots"
        ),
    },
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
    checkable=True,
)
