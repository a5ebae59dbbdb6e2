# SPDX-License-Identifier: GPL-2.0-or-later
"""What the attack programs print (user/attack, in Cobnut and under Linux): a row for each attempt, and how many there
were.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from cobnut import packages, paths
from cobnut.errors import CobnutError, Skipped
from cobnut.process import alone, run_limited, run_logged

ROW = re.compile(r"attack: row (\S+) (\w+) *(.*)")
TOTAL = re.compile(r"attack: (\d+) attempts, \d+ refused")
COST = re.compile(r"attack: cost (\S+) ([\d.]+)")
SPECULATION = re.compile(r"attack: speculation (\S+) ([\d.]+)")
REFUSED, UNENFORCED = "refused", "unenforced"

SOURCES = paths.ROOT / "user" / "attack"
LINUX_PROGRAM = paths.BUILD / "silicon" / "attack"
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Attempt:
    """How one attempt ended: `status` is refused, escaped, unenforced or blind; `how` is what stopped it."""

    name: str
    status: str
    how: str


def read(console: str) -> list[Attempt]:
    """The rows of a run that came to its end and lost none; ValueError otherwise."""
    attempts = [Attempt(*found.groups()) for found in ROW.finditer(console)]
    total = TOTAL.search(console)
    if not total or int(total.group(1)) != len(attempts):
        raise ValueError("the attack program does not come to its end, or rows are missing")
    return attempts


def linux_program() -> Path:
    """The attempts as a 32-bit program for the Linux that this runs on; built if its sources are newer."""
    packages.ensure(packages.BUILD_TOOLS)
    sources = [SOURCES / "attempts.S", SOURCES / "attempts.cc", *sorted((SOURCES / "linux").glob("*.cc"))]
    headers = [SOURCES / "attempts.h", *(SOURCES / "linux").glob("*.h")]
    newest = max(path.stat().st_mtime for path in [*sources, *headers])
    with alone(paths.LOCKS / "silicon"):
        if not LINUX_PROGRAM.exists() or LINUX_PROGRAM.stat().st_mtime < newest:
            LINUX_PROGRAM.parent.mkdir(parents=True, exist_ok=True)
            # no stack protector: it reads GS, which may hold anything after an attempt was stopped
            options = [
                "-m32",
                "-O2",
                "-std=c++20",
                "-static",
                "-no-pie",
                "-fno-pie",
                "-fno-stack-protector",
                "-Wall",
                "-Wextra",
                "-Werror",
            ]
            run_logged(["g++", *options, "-o", str(LINUX_PROGRAM), *map(str, sources)], "silicon.log")
    return LINUX_PROGRAM


def run_on_silicon(program: Path, *, measure: bool) -> str:
    """What `program` prints on this machine's own processor; Skipped where that has no 32-bit segments for users."""
    try:
        done = run_limited([str(program), *["measure"] * measure], paths.ROOT, TIMEOUT_SECONDS)
    except OSError as error:
        raise Skipped(f"this Linux runs no 32-bit programs ({error.strerror})") from None
    if done.cut_off:
        raise CobnutError(f"{program.name} does not end within {TIMEOUT_SECONDS} s")
    if done.status == 3:
        raise Skipped(f"this Linux has no segments for users ({done.errors.strip()})")
    if done.status not in (0, 1):
        raise CobnutError(f"{program.name} ended with status {done.status}")
    return done.out


def costs(output: str) -> dict[str, float]:
    """Measured ticks of the time-stamp counter, by name."""
    return {name: float(ticks) for name, ticks in COST.findall(output)}


def speculation(output: str) -> dict[str, float]:
    """How often, in percent, the cache shows what a load brought from `inside` the limits, from `beyond` them, and from
    nowhere (`absent`).
    """
    return {where: float(percent) for where, percent in SPECULATION.findall(output)}
