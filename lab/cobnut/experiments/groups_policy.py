# SPDX-License-Identifier: GPL-2.0-or-later
"""`groups/policy`: what the kernel's choice of tags and groups is worth, on patterns of communication.

The program `groups` runs each pattern among 8 to 512 spaces: without small spaces, with slots for those that ask first,
with slots that the kernel gives, and with groups that it forms beside. More than 32 spaces find no slot in all hosts.
"""

from collections.abc import Iterator

from cobnut import sheets
from cobnut.checks import Check, at_least, at_most
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.talking_spaces import MODES, PATTERNS, Heard, Talk, listen
from cobnut.missing import known, ratio
from cobnut.plots import Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

SPACES, QUICK = (8, 32, 128, 512), (64,)  # quickly where not all find a slot, so that the rules have to choose
NAMED = ("pipeline", "web")  # the patterns of which U02 section 5.2 speaks
OURS, WITHOUT = "groups", "large"
OFF_BEST, BETTER = 0.05, 2.0
LOOKS, LOOKS_A_TICK = 40, 4  # how often the rules look at each space before anything is measured
LEAST_WARMUP_MS = 300
COUNTERS = {"cr3_writes": "CR3 writes", "itlb_misses": "code TLB misses", "dtlb_misses": "data TLB misses"}


def run(lab: Lab) -> Result:
    """Every pattern, number of spaces and mode."""
    batch, rounds, sizes = lab.settings["batch"], lab.settings["rounds"], QUICK if lab.quick else SPACES
    talks = [
        Talk(pattern, n, mode, batch, rounds, warmup_ms(mode, n))
        for pattern in PATTERNS
        for n in sizes
        for mode in MODES
    ]
    heard = {(one.talk.pattern, one.talk.spaces, one.talk.mode): one for one in listen(lab, talks)}
    checks = [check for pattern in PATTERNS for n in sizes for check in judge_one(pattern, n, heard)]
    ledger = [row for (pattern, n, mode), one in heard.items() for row in one.rows(f"{pattern}.{mode}", n)]
    return lab.result(series_of(sizes, heard), checks, ledger)


def warmup_ms(mode: str, spaces: int) -> int:
    """Until the rules have come to rest, where spaces have tags; the rounds that warm up do for TLBs and caches."""
    return 0 if mode == WITHOUT else max(LEAST_WARMUP_MS, LOOKS * spaces // LOOKS_A_TICK)


def judge_one(pattern: str, n: int, heard: dict[tuple[str, int, str], Heard]) -> Iterator[Check]:
    """Our mode against the best, and where U02 says so against none at all."""
    found = {mode: heard[pattern, n, mode] for mode in MODES}
    cycles = {mode: one.cycles for mode, one in found.items()}
    least = min(known(cycles.values()) or [], default=None)
    best = next((mode for mode, count in cycles.items() if count == least), None) if least else None
    failures = "; ".join(sorted({one.failure for one in found.values() if one.failure}))
    name = f" ({MODES[best][0]})" if best else ""
    of_best, gain = ratio(cycles[OURS], least), ratio(cycles[WITHOUT], cycles[OURS])
    yield SHEET.judge(f"{pattern}.{n}.of_best", of_best, at_most(1 + OFF_BEST), failures, best=name)
    if pattern in NAMED:
        yield SHEET.judge(f"{pattern}.{n}.gain", gain, at_least(BETTER), failures)


def series_of(sizes: tuple[int, ...], heard: dict[tuple[str, int, str], Heard]) -> Iterator[Series]:
    """Everything for each IPC over the number of spaces; and what tags there are at the end."""
    for pattern in PATTERNS:
        for mode in MODES:
            name, row = f"{pattern}.{mode}", [heard[pattern, n, mode] for n in sizes]
            yield Series(name, "modelled cycles", sizes, [one.cycles for one in row])
            for counter, unit in COUNTERS.items():
                yield Series(f"{name}.{counter}", unit, sizes, [one.each(counter) for one in row])
            for kind in ("exclusive", "bound", "large"):
                counts = [None if one.failure else one.count(kind) for one in row]
                yield Series(f"{name}.{kind}", "spaces", sizes, counts)


def plots(result: Result) -> list[Plot]:
    """Of each pattern: cycles, CR3 writes, and the ledger."""
    return [plot for pattern in PATTERNS for plot in SHEET.drawn(pattern=pattern)]


EXPERIMENT = Experiment(
    name="groups/policy",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "batch": Setting(64, 64, range(1, 100_001), "items that a group works on before another one is scheduled"),
        # A batch of `random` has 130 IPCs, 22,000 instructions, and the rules act at a tick, every 125,000: 28 times at
        # the least, so that where the measured time begins is no matter (with 7 ticks it was 3 % of the cycles).
        "rounds": Setting(400, 160, range(1, 100_001), "batches measured; as many warm up"),
    },
    long_proof=True,
    run=run,
    plots=plots,
    has_curves=True,
)
