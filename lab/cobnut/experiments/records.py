# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests that were run once: what is measured on changed machines comes from their records."""

import tempfile
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock


@dataclass(frozen=True)
class Recorded:
    """A guest's record and what it printed, or the reason why there is no record."""

    path: Path
    failure: str | None
    seconds: float
    console: str = ""


class Records:
    """The records of one run of an experiment, by what was booted; they go with it. Safe to use from several
    threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._entries: dict[Hashable, tuple[Lock, list[Recorded]]] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def of(self, what: Hashable, make: Callable[[Path], Recorded]) -> Recorded:
        """The record of `what`; `make` runs it if that was not done yet, and records it at the path that it is
        given.
        """
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="cobnut-records-")
            path = Path(self._folder.name) / f"{len(self._entries)}.record"
            entry, made = self._entries.setdefault(what, (Lock(), []))
        with entry:
            if not made:
                made.append(make(path))
            return made[0]

    @property
    def count(self) -> int:
        return len(self._entries)
