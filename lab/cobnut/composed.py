# SPDX-License-Identifier: GPL-2.0-or-later
"""The composing attack program (user/compose) on whatever board: what it prints, the shortest episode that still stops
a kernel, and the verdict on some boots.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from cobnut.checks import Check, at_least, exactly, judge, named
from cobnut.emulators import Outcome
from cobnut.results import Series

END = re.compile(
    r"^compose: (\d+) episodes, (\d+) steps, seed \d+, (\d+) findings, (\d+) faults in the books: \w+$", re.MULTILINE
)
OPERATION = re.compile(r"^compose: op (\w+) (\d+) followed by ([0-9a-f]+)$", re.MULTILINE)
EPISODE = re.compile(r"^compose: episode (\d+)$", re.MULTILINE)
FOUND = re.compile(r"^compose: found (.+): seed (\d+) episode (\d+)$", re.MULTILINE)
AGAIN = re.compile(r"^compose: again: (.+)$", re.MULTILINE)
STEPS_EACH = 14
TIMEOUT_SECONDS = 3600
SHORT_TIMEOUT_SECONDS = 60
CHECKS = (named("BOOT", ("findings", "failed", "book_faults")), named(("steps", "pairs")))  # of `judge_runs`


@dataclass(frozen=True)
class Composed:
    """One boot. `failure` says why it did not come to its end; `again` has the arguments that repeat what was found."""

    name: str
    episodes: int
    steps: int
    findings: tuple[str, ...]
    again: tuple[str, ...]
    book_faults: int
    operations: dict[str, int]
    followers: dict[str, int]
    failure: str | None = None

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Which operation came right after which, for one space."""
        names = list(self.followers)
        return {(a, b) for a, mask in self.followers.items() for i, b in enumerate(names) if mask >> i & 1}


def read(name: str, outcome: Outcome, again: str | None = None) -> Composed:
    """What a boot came to. `again`: arguments that repeat the kernel's end."""
    console = outcome.console
    end = END.search(console)
    found = tuple(f"{what} (seed {seed}, episode {episode})" for what, seed, episode in FOUND.findall(console))
    rows = OPERATION.findall(console)
    failure = None
    if outcome.timed_out:
        failure = "no end"
    elif end is None:
        failure = outcome.kernel_message or "the program does not come to its end"
    repeats = (*AGAIN.findall(console), *((again,) if again else ()))
    return Composed(
        name,
        int(end.group(1)) if end else len(EPISODE.findall(console)),
        int(end.group(2)) if end else 0,
        found,
        repeats,
        int(end.group(4)) if end else 0,
        {row[0]: int(row[1]) for row in rows},
        {row[0]: int(row[2], 16) for row in rows},
        failure,
    )


def look(
    name: str, seed: int, episodes: int, boot: Callable[[str, float], Outcome], replay: Callable[[str], str]
) -> Composed:
    """One boot of so many episodes: `boot` takes the program's arguments and a limit in seconds, `replay` makes the
    command that boots with the same arguments. Where the kernel stops, the shortest part of the episode that it stops
    in is looked for.
    """
    outcome = boot(f"seed={seed} episodes={episodes}", TIMEOUT_SECONDS)
    episode = last_episode(outcome.console)
    again = None
    if outcome.kernel_message and episode is not None and not END.search(outcome.console):

        def stops(arguments: str) -> bool:
            return boot(arguments, SHORT_TIMEOUT_SECONDS).kernel_message is not None

        again = shortest(seed, episode, stops) or f"seed={seed} episodes={episode + 1}"
    done = read(name, outcome, again)
    return replace(done, again=tuple(replay(arguments) for arguments in done.again))


def last_episode(console: str) -> int | None:
    """The one in which a run ended early."""
    every = EPISODE.findall(console)
    return int(every[-1]) if every else None


def shortest(seed: int, episode: int, stops: Callable[[str], bool], steps: int = STEPS_EACH) -> str | None:
    """The arguments of the shortest part of an episode that still `stops` the kernel; None if it does not do so by
    itself.
    """

    def arguments(keep: int) -> str:
        return f"seed={seed} first={episode} episodes=1 keep={keep:#x}"

    keep = (1 << steps) - 1
    if not stops(arguments(keep)):
        return None
    for step in reversed(range(steps)):
        if stops(arguments(keep & ~(1 << step))):
            keep &= ~(1 << step)
    return arguments(keep)


def judge_runs(runs: list[Composed], steps: int, pairs_wanted: int) -> list[Check]:
    """Nothing found in any run, no kernel stopped, and enough was tried: of `steps` that were asked for."""
    checks = []
    for each in runs:
        said = "; ".join([*each.findings, *(f"again: {command}" for command in each.again)])
        checks.append(
            judge(
                f"{each.name}.findings",
                len(each.findings),
                "episodes",
                exactly(0),
                f"Nobody reaches what is not his, nothing is lost or touched. {said}".strip(),
            )
        )
        bad = int(each.failure is not None)
        checks.append(
            judge(
                f"{each.name}.failed",
                bad,
                "boots",
                exactly(0),
                f"No kernel fault and no panic. {each.failure or ''} {said if bad else ''}",
            )
        )
        checks.append(
            judge(
                f"{each.name}.book_faults",
                each.book_faults,
                "faults",
                exactly(0),
                "The kernel's books agree at the end.",
            )
        )
    taken = sum(each.episodes for each in runs) * STEPS_EACH
    asked = len(runs) * STEPS_EACH * max(1, steps // (STEPS_EACH * len(runs)))
    checks.append(judge("steps", taken, "steps", at_least(asked), f"In {len(runs)} boots."))
    pairs = set().union(*(each.pairs for each in runs))
    checks.append(
        judge(
            "pairs",
            len(pairs),
            "pairs",
            at_least(pairs_wanted),
            "Operations that came one right after the other, for one space.",
        )
    )
    return checks


def series_of(runs: list[Composed]) -> list[Series]:
    names = list(dict.fromkeys(name for each in runs for name in each.operations))
    pairs = set().union(*(each.pairs for each in runs))
    boots = [each.name for each in runs]
    return [
        Series("operations", "times", names, [sum(each.operations.get(name, 0) for each in runs) for name in names]),
        Series("followers", "operations", names, [sum(first == name for first, _ in pairs) for name in names]),
        Series("episodes", "episodes", boots, [each.episodes for each in runs]),
        Series("findings", "findings", boots, [len(each.findings) for each in runs]),
    ]
