# SPDX-License-Identifier: GPL-2.0-or-later
"""`groups/policy`: what the kernel's choice of tags and groups is worth, on patterns of communication.

The program `groups` runs each pattern among 8 to 512 spaces: without small spaces, with slots for those that ask first,
with slots that the kernel gives, and with groups that it forms beside. More than 32 spaces find no slot in all hosts.
"""

from cobnut.checks import Check, at_least, at_most, judge, named
from cobnut.experiments import Experiment, Kind, Lab, Setting
from cobnut.experiments.talking_spaces import AREA_MB, MODES, PATTERNS, SLOT_MB, Heard, Talk, listen
from cobnut.missing import known
from cobnut.plots import Ledger, Lines, Plot
from cobnut.results import LedgerRow, Result, Series

SPACES, QUICK = (8, 32, 128, 512), (8, 64)
NAMED = ("pipeline", "web")  # the patterns of which U02 section 5.2 speaks
OURS, WITHOUT = "groups", "large"
OFF_BEST, BETTER = 0.05, 2.0
LOOKS, LOOKS_A_TICK = 24, 4  # how often the rules look at each space before anything is measured
LEAST_WARMUP_MS = 300
COUNTERS = {"cr3_writes": "CR3 writes", "itlb_misses": "code TLB misses", "dtlb_misses": "data TLB misses"}


def run(lab: Lab) -> Result:
    """Every pattern, number of spaces and mode."""
    chosen, sizes = lab.settings, QUICK if lab.quick else SPACES
    talks = [
        Talk(pattern, n, mode, chosen["batch"], chosen["rounds"], max(LEAST_WARMUP_MS, LOOKS * n // LOOKS_A_TICK))
        for pattern in PATTERNS
        for n in sizes
        for mode in MODES
    ]
    heard = {(one.talk.pattern, one.talk.spaces, one.talk.mode): one for one in listen(lab, talks)}
    checks = [check for pattern in PATTERNS for n in sizes for check in judge_one(pattern, n, heard)]
    return lab.result(series_of(sizes, heard), checks, ledger_of(heard))


def judge_one(pattern: str, n: int, heard: dict[tuple[str, int, str], Heard]) -> list[Check]:
    """Our mode against the best, and where U02 says so against none at all."""
    cycles = {mode: heard[pattern, n, mode].cycles for mode in MODES}
    ours, without = cycles[OURS], cycles[WITHOUT]
    found = known(cycles.values())
    least = min(found) if found else None
    best = next((mode for mode, count in cycles.items() if count == least), None) if least else None
    failures = "; ".join(
        sorted(
            {
                one.failure
                for one in heard.values()
                if one.talk.spaces == n and one.talk.pattern == pattern and one.failure
            }
        )
    )
    checks = [
        judge(
            f"{pattern}.{n}.of_best",
            ours / least if ours and least else None,
            "of the best mode's cycles",
            at_most(1 + OFF_BEST),
            "Modelled cycles of an IPC with automatic slots and groups, over those of the best of four"
            f" modes{f' ({MODES[best][0]})' if best else ''}. {failures}".rstrip(),
        )
    ]
    if pattern in NAMED:
        checks.append(
            judge(
                f"{pattern}.{n}.gain",
                without / ours if ours and without else None,
                "times",
                at_least(BETTER),
                "Modelled cycles of an IPC without small spaces, over those with automatic slots and groups."
                f" {failures}".rstrip(),
            )
        )
    return checks


def series_of(sizes: tuple[int, ...], heard: dict[tuple[str, int, str], Heard]) -> list[Series]:
    """Everything for each IPC over the number of spaces; and what tags there are at the end."""
    lines = []
    for pattern in PATTERNS:
        for mode in MODES:
            row = [heard[pattern, n, mode] for n in sizes]
            lines.append(Series(f"{pattern}.{mode}", "modelled cycles", sizes, [one.cycles for one in row]))
            lines += [
                Series(f"{pattern}.{mode}.{name}", COUNTERS[name], sizes, [one.each(name) for one in row])
                for name in COUNTERS
            ]
            lines += [
                Series(
                    f"{pattern}.{mode}.{kind}",
                    "spaces",
                    sizes,
                    [None if one.failure else one.count(kind) for one in row],
                )
                for kind in ("exclusive", "bound", "large")
            ]
    return lines


def ledger_of(heard: dict[tuple[str, int, str], Heard]) -> list[LedgerRow]:
    """Where the cycles go; a round is an IPC."""
    return [
        LedgerRow(
            f"{pattern}.{mode}",
            n,
            one.ipcs,
            "cycles",
            one.region["ledger"],
            one.region["cycles_total"],
            space=one.region["space"],
        )
        for (pattern, n, mode), one in heard.items()
        if one.region
    ]


def plots(result: Result) -> list[Plot]:
    """Of each pattern: cycles, CR3 writes, and the ledger."""
    found: list[Plot] = []
    for pattern in PATTERNS:
        modes = {f"{pattern}.{mode}": title for mode, (title, _, _) in MODES.items()}
        found += [
            Lines(f"{pattern}: an IPC", "spaces", "modelled cycles", modes),
            Lines(
                f"{pattern}: CR3 writes of an IPC",
                "spaces",
                "CR3 writes",
                {f"{name}.cr3_writes": title for name, title in modes.items()},
            ),
            Lines(
                f"{pattern}: data TLB misses of an IPC",
                "spaces",
                "misses",
                {f"{name}.dtlb_misses": title for name, title in modes.items()},
            ),
            Ledger(
                f"{pattern}: where the modelled cycles go",
                "spaces",
                "modelled cycles",
                {f"{pattern}.{mode}": mode[0].upper() for mode in MODES},
                caption="L: no small spaces, F: fixed slots, A: automatic slots, G: automatic slots and groups.",
                wide=True,
            ),
        ]
    return found


EXPERIMENT = Experiment(
    name="groups/policy",
    title="What automatic slots and groups are worth",
    source="U02 section 5.2, which proposes groups and leaves them to others; L95 section 4.3 for automatic slots",
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
    checks=(named(PATTERNS, "SPACES.of_best"), named(NAMED, "SPACES.gain")),
    story=(
        f"Each space needs a slot of {SLOT_MB} MB, of which the area of {AREA_MB} MB has {AREA_MB // SLOT_MB}. At each"
        " message a space touches three pages of its own. A driver chooses a group at random, has it work on a batch"
        " of items, and chooses another: that is what a scheduler does. `pipeline`: groups of three or four, each of"
        " which passes an item on to the next, like cpp, cc1 and as. `web`: groups of a server and three workers, and"
        " one server of all, as the operating system's is: six messages in ten go to it or come from it. `star`: one"
        " server, called by all others. `random`: everybody calls anybody. Before anything is measured, the kernel's"
        f" rules have looked at every space {LOOKS} times (docs/tags.md)."
    ),
    cannot_say=(
        "Cycles are modelled, those of the programs' own code included; an IPC is a call or an answer.",
        (
            f"A batch of {64} items is a few hundred IPCs, less than a time slice would allow: switches between groups"
            " are as frequent as they could be, not as they would be."
        ),
        (
            "What the rules themselves cost at each tick of the clock is in the measured cycles. A tick comes every"
            " 125,000 instructions, about as many as a Pentium 4 would have executed in a millisecond of such work."
        ),
        "Nothing is said about patterns that change: the rules have had time to settle.",
    ),
    has_curves=True,
)
