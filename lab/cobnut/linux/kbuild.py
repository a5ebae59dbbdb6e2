# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's own build: what it needs, its configuration, and its progress."""

import os
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cobnut import paths, progress
from cobnut.errors import CobnutError
from cobnut.packages import Package
from cobnut.process import run_logged

TOOLS = (
    Package("bc", "bc"),
    Package("bison", "bison"),
    Package("flex", "flex"),
    Package("make", "make"),
    Package("patch", "patch"),
    Package("xz-utils", "xz"),
)
STEP = re.compile(r"  [A-Z]+ +(?:\[M\] )?(\S+)")


@dataclass(frozen=True)
class Build:
    """A tree of sources, the folder for what is made of it, and the variables that say for what."""

    tree: Path
    objects: Path
    variables: tuple[str, ...]

    def make(self, *words: str, log: str, line_seen: Callable[[str], None] = lambda line: None) -> None:
        """Runs make with these words."""
        command = ["make", "-C", str(self.tree), f"O={self.objects}", *self.variables, *words]
        run_logged(command, log, line_seen=line_seen)

    def compile(self, title: str, steps: int, *targets: str, log: str) -> None:
        """Makes targets for which about `steps` files are compiled, archived or made."""
        with progress.meter(title) as meter:
            meter.total(steps)

            def line_seen(line: str) -> None:
                if step := STEP.match(line):
                    meter.advance(note=step.group(1))

            self.make(f"-j{len(os.sched_getaffinity(0))}", *targets, log=log, line_seen=line_seen)


def check_config(wanted: Path, got: str, version: str) -> None:
    """Refuses a configuration of which Linux has dropped a line, as it does where an option has another name or needs
    another one.
    """
    lines = set(got.splitlines())
    for line in wanted.read_text().splitlines():
        name = re.match(r"(?:# )?(CONFIG_\w+)", line)
        if name is None or line in lines:
            continue
        is_off = line.endswith("is not set") and not re.search(rf"^{name.group(1)}=", got, re.MULTILINE)
        if not is_off:
            raise CobnutError(f"{paths.shown(wanted)}: Linux {version} does not take the line '{line}'")


def first_line(*command: str) -> str:
    """What a tool says first, of its version for example."""
    done: Sequence[str] = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return done[0] if done else ""
