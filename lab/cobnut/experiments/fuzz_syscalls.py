# SPDX-License-Identifier: GPL-2.0-or-later
"""`fuzz/syscalls`: random system calls under the sanitizer, and the kernel's check of its own books (user/fuzz).

The calls are made in boots of their own seeds, on two processors, with plenty of kernel memory and with too little, two
boots at a time. A seed gives the same run each time: the guest's clock follows its instructions.
"""

import re
from dataclasses import dataclass

from cobnut.checks import Check, at_least, exactly, judge, named
from cobnut.emulators import Boot, kernel_message
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.findings import Findings
from cobnut.modules import alone
from cobnut.plots import Bars, Plot
from cobnut.results import Result, Series

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
        """The reports that are the kernel's affair.

        Workers run into garbage, which loads segment registers and uses them past their limits. A processor refuses
        that, QEMU does not (docs/sanitizer.md); what the kernel loads for users is judged by the other kinds of
        reports.
        """
        own = (one for one in self.findings.reports if (one.kind, one.privilege) != ("segment-limit", 3))
        return [one.line for one in own]


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


def judge_runs(runs: list[Run], calls: int) -> list[Check]:
    def none(name: str, unit: str, amounts: list[int], good: str, bad: list[str]) -> Check:
        """Nothing of it in any run, or the first that has some with the command that repeats it."""
        first = next((index for index, amount in enumerate(amounts) if amount), None)
        why = good if first is None else f"{bad[first]} Again: {runs[first].replay}"
        return judge(name, sum(amounts), unit, exactly(0), why)

    made = sum(each.calls for each in runs)
    return [
        judge("calls", made, "calls", at_least(calls), f"In {len(runs)} boots, {runs[0].name} to {runs[-1].name}."),
        none(
            "failed",
            "boots",
            [int(each.failure is not None) for each in runs],
            "No kernel fault and no panic: each boot came to its end.",
            [f"{each.failure}." for each in runs],
        ),
        none(
            "book_faults",
            "faults",
            [each.book_faults for each in runs],
            "Mapping database, ready and wait queues and memory agree with each other at the end of each boot.",
            [f"{each.name} has {each.book_faults}." for each in runs],
        ),
        none(
            "lost",
            "pages and objects",
            [each.lost for each in runs],
            "Each boot ends with as many kernel pages, threads and mappings in use as it began with.",
            [f"{each.name} has lost {each.lost}." for each in runs],
        ),
        none(
            "reports",
            "reports",
            [len(each.reports) for each in runs],
            f"The kernel uses nothing stale, in {sum(each.findings.counts['accesses'] for each in runs):,} accesses.",
            [" ".join(each.reports[:1]) for each in runs],
        ),
        none(
            "late_rights",
            "accesses",
            [each.findings.counts["late_rights"] for each in runs],
            "Nothing can be refused that the page tables permit.",
            [f"{each.name}." for each in runs],
        ),
    ]


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
    why = (
        f"Of {len(counts) - len(rare)} results that calls can have: never {', '.join(missing) or 'none'}; unknown"
        f" {', '.join(unknown) or 'none'}."
    )
    return judge("unseen_results", len(missing) + len(unknown), "results", exactly(0), why)


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


def plots(result: Result) -> list[Plot]:
    return [
        Bars(
            "What the calls came to",
            "call and error code (0: success)",
            "times",
            {"results": "results"},
            caption="IPC's codes are the phase (1: receive) and twice the manual's number.",
        )
    ]


EXPERIMENT = Experiment(
    name="fuzz/syscalls",
    title="Random system calls of many threads in many spaces: nothing breaks the kernel",
    source="random testing with the kernel's own consistency walk",
    kind=Kind.PROOF,
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "calls": Setting(1_000_000, 40_000, range(1, 1_000_000_001), "in all; four boots or more of at most 250,000"),
    },
    checkable=True,
    long_proof=True,
    run=run,
    plots=plots,
    checks=(named(("calls", "failed", "book_faults", "lost", "reports", "late_rights", "unseen_results")),),
    story=(
        "Twenty threads without privileges, in small and large spaces of their own or shared, and two privileged ones"
        " make every system call with arguments that make some sense or none, enter the kernel past its stubs, execute"
        " what users must not, and are answered with doctored registers by their exception handler. Half of the boots"
        " have so little memory that the kernel's runs out over and over. At the end everything is deleted and the"
        " kernel checks its books; the sanitizer holds each access against what a processor may still have cached."
    ),
    cannot_say=(
        "Calls of threads that are deleted under way are counted as made, but not by what they came to.",
        (
            "What users do past the limits of their segments goes through on QEMU, where a processor refuses it:"
            " counted apart."
        ),
        "The fuzzer's data holds no iret, which QEMU lets lead into virtual 8086 mode at any privilege.",
        "The machine model is not used here.",
    ),
)
