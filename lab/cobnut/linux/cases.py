# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that test something, run one by one in a guest, and how they ended."""

import re
import shlex
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cobnut.emulators import Outcome, qemu
from cobnut.linux import guest
from cobnut.linux.guest import Wish

LIST = "cases"  # the file in the guest with a case in each line: name, a tab, command
# What runs them, each with an empty folder to begin in.
RUNNER = """
unset TERM; export HOME=/root
while IFS="$(printf '\\t')" read -r name command <&3; do
    printf '\\ncase %s\\n' "$name"
    rm -rf /tmp/case; mkdir /tmp/case
    timeout -k 5 {seconds} sh -c "$command" >/tmp/case.log 2>&1 </dev/null
    status=$?
    {shows} || [ $status != 0 ] && tail -c {shown} /tmp/case.log | tr -c '\\n\\t -~' '?'
    printf '\\nresult %s %s\\n' "$name" $status
done 3<{list}
printf '\\nall cases ran\\n'
"""
RESULT = re.compile(r"^result (\S+) (\d+)$", re.MULTILINE)
LIMIT_SECONDS = 4 * 60 * 60  # of the emulator's processor time
# The guest's time follows its instructions, so that no test fails because this machine is busy, and idle time costs
# none here. Tests compare dates with those of their certificates.
INSTRUCTION_LOG2_NS = 2
DATE = ("-rtc", "base=2024-01-01,clock=vm")
Guest = Callable[[str, Path], Outcome]  # runs a command of the guest's shell where it has these files


@dataclass(frozen=True)
class Case:
    """One test: a command of the guest's shell, in /files, that ends with 0 if it passes, and with LEFT_OUT if it
    cannot be made there. It may write to /tmp/case.
    """

    name: str
    command: str


LEFT_OUT = 77


@dataclass(frozen=True)
class Ended:
    """What a guest says of its cases: their statuses by name, and its whole console. `whole`: none is missing."""

    statuses: dict[str, int]
    console: str
    whole: bool

    def said(self, name: str) -> str:
        """What a case has written at its end; of one that passed only if that was asked for."""
        found = re.search(rf"^case {re.escape(name)}\n(.*?)(?=^result |\Z)", self.console, re.MULTILINE | re.DOTALL)
        return found[1].strip() if found else ""


def of_pc(wish: Wish) -> Guest:
    """A PC with the image and the kernel of `wish`."""

    def started(command: str, files: Path) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
            boot = guest.prepare(replace(wish, run=command, files=files), Path(folder))
            boot = replace(boot, instruction_log2_ns=INSTRUCTION_LOG2_NS, words=(*boot.words, *DATE))
            return qemu.run(boot, timeout=LIMIT_SECONDS, repeatable=True)

    return started


def run(started: Guest, files: Path, cases: Sequence[Case], *, seconds: int = 60, shows: bool = False) -> Ended:
    """Runs cases in a guest that has `files`; each may take so many seconds of its time. `shows`: what those write that
    pass is kept, too.
    """
    (files / LIST).write_text("".join(f"{case.name}\t{case.command}\n" for case in cases))
    command = RUNNER.format(seconds=seconds, shown=1200, list=shlex.quote(LIST), shows="true" if shows else "false")
    return parsed(started(command, files).console.replace("\r", ""))


def parsed(console: str) -> Ended:
    """What RUNNER has written."""
    return Ended({name: int(status) for name, status in RESULT.findall(console)}, console, "all cases ran" in console)
