# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/stress` on the boards with an ARM processor: random system calls under the sanitizer, held against a model (user/stress).

A boot for each seed, on the kernel with tags and on the standard one in turn. A seed gives the same run each time: the guest's clock
follows its instructions.
"""

import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cobnut import build, results, sanitizing
from cobnut.boards import Board
from cobnut.checks import Check, at_least, exactly, judge
from cobnut.emulators import Boot, kernel_message, qemu_arm
from cobnut.experiments import Experiment, Lab, Plot, Setting
from cobnut.modules import Module
from cobnut.results import Result, Series
from cobnut.sanitizing import Findings

AT_ONCE = 2
TIMEOUT_SECONDS = 1800
MEMORY_MB = 64
COUNTER = re.compile(r"^stress: (\w+) (\d+)$", re.MULTILINE)
FAILURE = re.compile(r"^stress: FAIL (.*)$", re.MULTILINE)

# what all boots have to have done at least, and with --quick
LEAST = {
    "accesses": (25_000, 2_500),
    "faults": (15_000, 1_500),
    "maps": (15_000, 1_500),
    "grants": (2_500, 250),
    "unmaps": (7_500, 750),
    "runs": (500, 50),
    "attribute_changes": (500, 50),
    "thread_deletions": (15_000, 1_500),
    "space_deletions": (10_000, 1_000),
}
OF_TAGS = {"resizes": (2_500, 250), "slot_reuses": (1_000, 150)}  # slots changed and passed on, on the kernel with tags


@dataclass(frozen=True)
class Run:
    """One boot: what the program counted, why it failed if it did, and what the sanitizer found."""

    kernel: str
    seed: int
    counters: dict[str, int]
    failure: str | None
    findings: Findings


def boot(board: Board, *, seed: int, operations: int, stop_at_first: bool = False, timeout: float = TIMEOUT_SECONDS) -> Run:
    """Runs the stress program on the board's kernel. A run without the program's counters at its end has failed."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "reports.json"
        modules = (Module(board.program("sigma0")), Module(board.program("stress"), f"seed={seed} operations={operations}"))
        what = Boot(board.kernel, modules, memory_mb=board.memory_mb or MEMORY_MB)
        plugin = sanitizing.plugin(board.kernel_executable, out, stop_at_first=stop_at_first)
        outcome = qemu_arm.run(what, board.name, timeout=timeout, plugin=plugin)
        findings = sanitizing.read(out)
    counters = {name: int(value) for name, value in COUNTER.findall(outcome.console)}
    said = FAILURE.search(outcome.console)
    failure = None
    if said:
        failure = said.group(1)
    elif outcome.timed_out:
        failure = f"does not end within {timeout:g} s"
    elif message := kernel_message(outcome.console):
        failure = f"the kernel stopped: {message}"
    elif not counters:
        failure = "does not come to its end"
    return Run("fast" if board.tags else "standard", seed, counters, failure, findings)


def run(lab: Lab) -> Result:
    """Boots once for each seed and adds up."""
    origin = results.provenance(lab.emulator, None)
    build.images(lab.board.standard)
    lab.meter.total(lab.settings["boots"])

    def one(index: int) -> Run:
        board = lab.board.standard if index % 4 == 3 else lab.board
        done = boot(board, seed=lab.settings["seed"] + index, operations=lab.settings["operations"])
        lab.meter.advance(note=f"seed {done.seed}, {done.kernel} kernel")
        return done

    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = list(pool.map(one, range(lab.settings["boots"])))
    checks = [check for each in runs for check in judge_run(each)] + judge_amounts(runs, lab.quick)
    return Result("sanitize/stress", None, origin, series_of(runs), checks, [])


def judge_run(each: Run) -> list[Check]:
    where = f"seed{each.seed}.{each.kernel}"
    return [
        judge(
            f"reports.{where}",
            len(each.findings.reports),
            "reports",
            exactly(0),
            "Nothing stale is used, no line of a cache is lost or read stale. " + " ".join(each.findings.lines[:1]),
        ),
        judge(
            f"wrong.{where}",
            int(each.failure is not None),
            "failures",
            exactly(0),
            each.failure or "Every access gave what the model says: a fault, or the page's content.",
        ),
    ]


def judge_amounts(runs: list[Run], quick: bool) -> list[Check]:
    """Over all boots; what concerns slots, over those of the kernel with tags."""
    seeds = f"Over seeds {runs[0].seed} to {runs[-1].seed}."

    def total(name: str, among: list[Run]) -> int:
        return sum(each.counters.get(name, 0) for each in among)

    checks = [judge(name, total(name, runs), "times", at_least(least[quick]), seeds) for name, least in LEAST.items()]
    tagged = [each for each in runs if each.kernel == "fast"]
    return checks + [judge(name, total(name, tagged), "times", at_least(least[quick]), f"{seeds} PID slots.") for name, least in OF_TAGS.items()]


def series_of(runs: list[Run]) -> list[Series]:
    counters = sorted({name for each in runs for name in each.counters})
    boots = [f"seed {each.seed}, {each.kernel} kernel" for each in runs]
    return [
        *(Series(name, "times", boots, [each.counters.get(name) for each in runs]) for name in counters),
        Series("guest_accesses", "accesses", boots, [each.findings.counts["accesses"] for each in runs]),
    ]


def plots(result: Result) -> list[Plot]:
    names = ("accesses", "faults", "maps", "unmaps", "space_deletions", "slot_reuses")
    return [Plot("table", "What each boot did", "boot", "times", {name: name.replace("_", " ") for name in names})]


EXPERIMENT = Experiment(
    name="sanitize/stress",
    title="Random system calls of many spaces: nothing stale is used, nothing wrong is seen",
    source="differential test against a model of who may see what",
    machine="sa1100-200",
    boards=("collie", "versatilepb"),
    settings={
        "seed": Setting(1, 1, range(0, 1 << 26), "the first boot's; each further boot takes the next"),
        "boots": Setting(8, 2, range(1, 1025), "how many, every fourth on the standard kernel"),
        "operations": Setting(20_000, 10_000, range(1, 100_000_001), "of each boot"),
    },
    run=run,
    plots=plots,
    story=(
        "Sixteen spaces in four families, one more than there are domains, map, grant and unmap pages, below 32 MB, where others' pages are after relocation, and above 2 GB; "
        "move from PID slot to PID slot, call each other, and are deleted, at random. A model of each family says before each access whether it faults and what it reads; the "
        "sanitizer holds each access of the whole machine against what TLBs and caches may still hold."
    ),
    cannot_say=(
        "The families are preempted by each other, but the kernel itself is not: it runs with interrupts off.",
        "Each page is written and read at a few words only.",
        "The machine model is not used here.",
    ),
)
