# SPDX-License-Identifier: GPL-2.0-or-later
"""Systems that check their promises from inside, a line for each check (libs/system/check.h)."""

import re

CHECK = re.compile(r"^(ok|FAIL) (\S+)", re.MULTILINE)


def checked(console: str) -> list[tuple[str, bool]]:
    """The checks by name, in order, and whether each holds."""
    return [(name, verdict == "ok") for verdict, name in CHECK.findall(console.replace("\r", ""))]


def broken(checks: list[tuple[str, bool]]) -> list[str]:
    """Those that do not hold."""
    return [name for name, holds in checks if not holds]
