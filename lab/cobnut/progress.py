# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress of long work: a bar on a terminal, plain lines elsewhere. Always on stderr.

rich is loaded for a bar only.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.progress import Progress

PLAIN_STEPS = 4  # a plain log gets a line at each quarter, not one a step


class Meter(Protocol):
    """What a piece of long work tells about itself. Safe to call from several threads."""

    def total(self, steps: int) -> None:
        """There will be so many steps in all."""

    def expect(self, steps: int) -> None:
        """There will be so many steps from here, or more if more were told of."""

    def advance(self, steps: int = 1, note: str = "") -> None: ...


class _Bar:
    def __init__(self, progress: "Progress", title: str) -> None:
        self._progress = progress
        self._title = title
        self._task = progress.add_task(title, total=None)

    def total(self, steps: int) -> None:
        self._progress.update(self._task, total=steps)

    def expect(self, steps: int) -> None:
        task = next(task for task in self._progress.tasks if task.id == self._task)
        self.total(max(int(task.total or 0), int(task.completed) + steps))

    def advance(self, steps: int = 1, note: str = "") -> None:
        self._progress.update(
            self._task, advance=steps, description=f"{self._title} [dim]{note}[/dim]" if note else self._title
        )


class _Lines:
    def __init__(self, title: str) -> None:
        self._title = title
        self._total = 0
        self._done = 0
        self._quarter = 0

    def total(self, steps: int) -> None:
        self._total = steps

    def expect(self, steps: int) -> None:
        self.total(max(self._total, self._done + steps))
        self._quarter = PLAIN_STEPS * self._done // self._total if self._total else 0

    def advance(self, steps: int = 1, note: str = "") -> None:
        self._done += steps
        quarter = PLAIN_STEPS * self._done // self._total if self._total else 0
        if quarter > self._quarter:
            self._quarter = quarter
            print(f"{self._title}: {self._done} of {self._total}", file=sys.stderr, flush=True)


class Silent:
    """A meter that shows nothing."""

    def total(self, steps: int) -> None:
        pass

    def expect(self, steps: int) -> None:
        pass

    def advance(self, steps: int = 1, note: str = "") -> None:
        pass


_shown: "Progress | None" = None  # what is on the terminal


@contextmanager
def meter(title: str) -> Iterator[Meter]:
    """Shows the progress of the enclosed work under `title`."""
    if not sys.stderr.isatty():
        print(f"{title} ...", file=sys.stderr, flush=True)
        yield _Lines(title)
        return
    global _shown
    if _shown:  # within other work: a bar below its own
        yield _Bar(_shown, title)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as _shown:
        try:
            yield _Bar(_shown, title)
        finally:
            _shown = None
