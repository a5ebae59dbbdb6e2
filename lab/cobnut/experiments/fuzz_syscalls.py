# SPDX-License-Identifier: GPL-2.0-or-later
"""`fuzz/syscalls`: random system calls under the sanitizer, and the kernel's check of its own books (user/fuzz).

The calls are made in boots of their own seeds, on two processors, with plenty of kernel memory and with too little, two
boots at a time. A seed gives the same run each time: the guest's clock follows its instructions.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cobnut import sheets
from cobnut.checks import Check, at_least, exactly
from cobnut.emulators import Boot, kernel_message
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.findings import Findings
from cobnut.modules import alone
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

TIMEOUT_SECONDS = 1800
CALLS_OF_A_BOOT = 250_000
ALL_OUTCOMES_FROM = 1_000_000  # calls: with fewer, those in RARE need not come up
OUTCOME = re.compile(r"^fuzz: outcome (\w+) (\d+) (\d+)$", re.MULTILINE)
END = re.compile(
    r"^fuzz: (\d+) calls, seed \d+: (\d+) faults in the books, kernel pages (\d+) to (\d+), objects (\d+) to (\d+):"
    r" \w+$",
    re.MULTILINE,
)

# error codes by call: those of IPC are phase (1: receive) and 2 * the code of the manual's 5.6, the others' are those
# of 2.4
IPC_ERRORS = tuple(range(2, 16))
CODES = {
    "ipc": (0, *IPC_ERRORS),
    "lipc": (0, *IPC_ERRORS),
    "unmap": (0,),
    "exchange_registers": (0, 2),
    "thread_switch": (0,),
    "schedule": (0, 1, 2, 5),
    "thread_control": (0, 1, 2, 3, 4, 6, 8),
    "space_control": (0, 1, 2, 3, 6, 7, 8),
    "processor_control": (0, 1, 5),
    "memory_control": (0, 1, 5),
    "tls_control": (0, 1, 2, 5),
    "system_clock": (0,),
    "raw": (0,),
}
RARE = {
    *(("ipc", code) for code in range(6, 16)),
    *(("lipc", code) for code in range(6, 16)),
    ("thread_control", 8),
    *(("space_control", code) for code in (6, 7, 8)),
    ("tls_control", 5),
}


@dataclass(frozen=True)
class Way:
    """A way to boot the program. With `hoard` it uses up the kernel's memory."""

    cpu: str
    memory_mb: int
    hoard: bool

    def arguments(self, seed: int, calls: int) -> str:
        return f"seed={seed} calls={calls}" + (" hoard=1" if self.hoard else "")

    def replay(self, seed: int, calls: int, *, checked: bool = False) -> str:
        """The command that runs it once more."""
        program = f'"fuzz {self.arguments(seed, calls)}"'
        kernel = "--set checked=on " * checked
        return f"./cobnut boot {kernel}--sanitize --cpu {self.cpu} --memory {self.memory_mb} --root {program}"


WAYS = (Way("pentium3", 64, False), Way("486", 64, False), Way("pentium3", 9, True), Way("486", 9, True))


@dataclass(frozen=True)
class Run:
    """One boot: what its calls came to, what the books said, and why it failed if it did."""

    name: str
    replay: str
    calls: int
    outcomes: dict[tuple[str, int], int]
    book_faults: int
    lost: int
    failure: str | None
    findings: Findings

    @property
    def reports(self) -> list[str]:
        """The reports that are the kernel's affair: workers run into garbage, which loads segment registers and uses
        them past their limits.
        """
        return self.findings.of_the_kernel


def boot(lab: Lab, way: Way, *, seed: int, calls: int) -> Run:
    """Runs the program once. A run without its last line has failed."""
    modules = alone(lab.board, "fuzz", way.arguments(seed, calls))
    what = Boot(lab.board.kernel, modules, cpu=way.cpu, memory_mb=way.memory_mb)
    outcome, findings = runner.sanitized(lab.board, what, TIMEOUT_SECONDS)
    failure = None
    if outcome.timed_out:
        failure = f"does not end within {TIMEOUT_SECONDS} s"
    elif message := kernel_message(outcome.console):
        failure = f"the kernel stopped: {message}"
    name = f"seed {seed} on {way.cpu}" + (", little memory" if way.hoard else "")
    return read(name, way.replay(seed, calls, checked=lab.board.checked), outcome.console, failure, findings)


def read(name: str, replay: str, console: str, failure: str | None, findings: Findings) -> Run:
    """What the program has printed."""
    outcomes = {(call, int(code)): int(count) for call, code, count in OUTCOME.findall(console)}
    end = END.search(console)
    if not end:
        return Run(name, replay, 0, outcomes, 0, 0, failure or "does not come to its end", findings)
    calls, faults, pages_before, pages_after, objects_before, objects_after = map(int, end.groups())
    lost = abs(pages_after - pages_before) + abs(objects_after - objects_before)
    return Run(name, replay, calls, outcomes, faults, lost, failure, findings)


def run(lab: Lab) -> Result:
    """Boots as often as it takes, and adds up."""
    calls = lab.settings["calls"]
    many = max(len(WAYS), -(-calls // CALLS_OF_A_BOOT))

    def one(index: int) -> Run:
        return boot(lab, WAYS[index % len(WAYS)], seed=lab.settings["seed"] + index, calls=-(-calls // many))

    runs = runner.each(lab, range(many), one, lambda index: f"seed {lab.settings['seed'] + index}")
    return lab.result(series_of(runs), [*judge_runs(runs, calls), judge_outcomes(runs, calls)])


def judge_runs(runs: list[Run], calls: int) -> Iterator[Check]:
    """Enough was tried, and nothing of what must not be is in any run."""
    made = sum(each.calls for each in runs)
    yield SHEET.judge("calls", made, at_least(calls), many=len(runs), first=runs[0].name, last=runs[-1].name)
    accesses = sum(each.findings.counts["accesses"] for each in runs)
    for name, amount, told in FAULTS:
        # the first run that has some, with the command that repeats it
        bad = next((each for each in runs if amount(each)), None)
        why = f"{told(bad)} Again: {bad.replay}" if bad else SHEET.texts[name].format(accesses=accesses)
        yield SHEET.judge(name, sum(map(amount, runs)), exactly(0), told=why)


FAULTS: tuple[tuple[str, Callable[[Run], int], Callable[[Run], str]], ...] = (
    ("failed", lambda one: int(one.failure is not None), lambda one: f"{one.failure}."),
    ("book_faults", lambda one: one.book_faults, lambda one: f"{one.name} has {one.book_faults}."),
    ("lost", lambda one: one.lost, lambda one: f"{one.name} has lost {one.lost}."),
    ("reports", lambda one: len(one.reports), lambda one: one.reports[0]),
    ("late_rights", lambda one: one.findings.counts["late_rights"], lambda one: f"{one.name}."),
)


def totals(runs: list[Run]) -> dict[tuple[str, int], int]:
    wanted = [(call, code) for call, codes in CODES.items() for code in codes]
    seen = [key for each in runs for key in each.outcomes]
    return {key: sum(each.outcomes.get(key, 0) for each in runs) for key in dict.fromkeys([*wanted, *seen])}


def said(outcome: tuple[str, int]) -> str:
    return f"{outcome[0]} {outcome[1]}"


def judge_outcomes(runs: list[Run], calls: int) -> Check:
    counts = totals(runs)
    rare = RARE if calls < ALL_OUTCOMES_FROM else set()
    missing = [said(key) for key, count in counts.items() if not count and key not in rare]
    unknown = [said(key) for key in counts if key[1] not in CODES.get(key[0], ())]
    never, strange = ", ".join(missing) or "none", ", ".join(unknown) or "none"
    many, found = len(counts) - len(rare), len(missing) + len(unknown)
    return SHEET.judge("unseen_results", found, exactly(0), many=many, never=never, unknown=strange)


def series_of(runs: list[Run]) -> list[Series]:
    boots = [each.name for each in runs]
    counts = totals(runs)
    by_call = {call: sum(count for (name, _), count in counts.items() if name == call) for call in CODES}
    return [
        Series("calls", "calls", list(by_call), list(by_call.values())),
        Series("results", "times", [said(key) for key in counts], list(counts.values())),
        Series("boot_calls", "calls", boots, [each.calls for each in runs]),
        Series("guest_accesses", "accesses", boots, [each.findings.counts["accesses"] for each in runs]),
        Series(
            "refused_by_processors",
            "reports",
            boots,
            [len(each.findings.reports) - len(each.reports) for each in runs],
        ),
    ]


EXPERIMENT = Experiment(
    name="fuzz/syscalls",
    sheet=SHEET,
    kind=Kind.PROOF,
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "calls": Setting(1_000_000, 40_000, range(1, 1_000_000_001), "in all; four boots or more of at most 250,000"),
    },
    checkable=True,
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
)
