# SPDX-License-Identifier: GPL-2.0-or-later
"""When a run with a person at the console ends by itself."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class End:
    """After so many `seconds`, or once the console has said the text `until`; never, if there is neither."""

    seconds: float | None = None
    until: str | None = None


NEVER = End()


class Watch:
    """A run that has just begun, and its end."""

    def __init__(self, end: End):
        self._end, self._start = end, time.monotonic()
        self._until = (end.until or "").encode()
        self._held = b""  # the text may come in parts

    def left(self) -> float | None:
        """The seconds that are left, if they are limited."""
        return None if self._end.seconds is None else self._start + self._end.seconds - time.monotonic()

    def why(self, said: bytes) -> str | None:
        """Why the run ends now that the console has said this since it was last asked, or None."""
        if self._until:
            self._held += said
            if self._until in self._held:
                return f"when the console said '{self._end.until}'"
            self._held = self._held[-len(self._until) :]
        left = self.left()
        return f"after {self._end.seconds:g} s" if left is not None and left <= 0 else None
