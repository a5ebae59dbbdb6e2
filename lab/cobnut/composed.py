# SPDX-License-Identifier: GPL-2.0-or-later
"""What the composing attack program prints (user/compose), and the shortest episode that still stops a kernel."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from cobnut.emulators import Outcome

END = re.compile(
    r"^compose: (\d+) episodes, (\d+) steps, seed \d+, (\d+) findings, (\d+) faults in the books: \w+$", re.MULTILINE
)
OPERATION = re.compile(r"^compose: op (\w+) (\d+) followed by ([0-9a-f]+)$", re.MULTILINE)
EPISODE = re.compile(r"^compose: episode (\d+)$", re.MULTILINE)
FOUND = re.compile(r"^compose: found (.+): seed (\d+) episode (\d+)$", re.MULTILINE)
AGAIN = re.compile(r"^compose: again: (.+)$", re.MULTILINE)
STEPS_EACH = 14


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
