# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/measure-your-kernel.md: each step of the part about kernels as they are, as it stands there; those of Linux are
in test_linux_in_the_lab.py. The first run downloads GNU Mach.
"""

import re
import shlex

from conftest import ROOT, run_cobnut

GUIDE = (ROOT / "docs" / "measure-your-kernel.md").read_text()
MACH, LINUX = "GNU Mach", ("Linux on versatilepb", "Linux for PCs")
# what each of a part's steps has to print, by the words that tell it from the others
WANTED = {
    "boot --image build/guests/gnumach/kernel --": ["panic", "No bootstrap code"],
    "boot --sanitize --image build/guests/gnumach": ["No bootstrap code", "sanitizer: 0 reports in "],
    "boot --machine i486 --image build/guests/gnumach": ["i486: modelled cycles of the whole run", "tlb refill"],
    "boot --machine pentium-133 --image build/guests/gnumach": [
        "primitives: done",
        "modelled cycles of an iteration",
        " 12 48 ",
    ],
    "record --out build/mach.record": ["recorded: build/mach.record"],
    "replay build/mach.record": ["i486: modelled cycles", "pentium-133: modelled cycles"],
    "boot --board versatilepb --image": ["guest: memory done", "guest: done"],
    "boot --board versatilepb --sanitize": ["guest: memory done", " reports in "],
    "boot --board versatilepb --machine": ["guest: pipe done", "modelled cycles of an iteration", "pipe_write"],
    "run ipc/trace --board versatilepb": ["guest: pipe done", "entries swi 4", "own checks: 4 of 4 met"],
    "record --out build/arm.record": ["recorded: build/arm.record"],
    "replay build/arm.record": ["arm926-400: modelled cycles of the whole run"],
    "boot --image build/guests/linux/kernel": ["guest: shell", "Linux", "guest: done"],
    "record --out build/linux.record": ["guest: done", "recorded: build/linux.record"],
    "replay build/linux.record": ["pentium-133: modelled cycles of the whole run", "tlb refill"],
}


# the one function whose way of being late the guide explains: nothing else may be reported of Linux on versatilepb
LATE = re.compile(r"; by [0-9a-f]{8} \(__create_mapping(\+0x[0-9a-f]+)?\)")
REPORTS = "boot --board versatilepb --sanitize"


def steps(part: str) -> list[str]:
    """The commands of one part, in their order."""
    text = GUIDE.split("### Kernels as they are", 1)[1].split(f"**{part}**", 1)[1]
    text = re.split(r"^\*\*|^### ", text, maxsplit=1, flags=re.MULTILINE)[0]
    return [line.strip().removeprefix("./cobnut ") for line in text.splitlines() if line.startswith("    ./cobnut ")]


def assert_each_step_works(part):
    """Of one part."""
    there = steps(part)
    assert there[0].startswith("build --set guest=") and len(there) >= 4
    for step in there:
        done = run_cobnut(*shlex.split(step))
        assert done.returncode == step.startswith(REPORTS), f"{step}\n{done.stdout}{done.stderr}"
        if step.startswith(REPORTS):
            told = [line for line in done.stdout.splitlines() if line.startswith("sanitizer: ")][:-1]
            assert told and [line for line in told if not LATE.search(line)] == []
        if step != there[0]:
            (words,) = (words for start, words in WANTED.items() if step.startswith(start))
            said = re.sub(" +", " ", done.stdout)  # a table's columns are as wide as they have to be
            for word in words:
                assert word in said, f"{step}: no '{word}'\n{done.stdout}{done.stderr}"


def test_no_step_is_left_out():
    every = [step for part in (MACH, *LINUX) for step in steps(part)]
    for start in WANTED:
        assert sum(step.startswith(start) for step in every) == 1, start


def test_each_step_of_gnu_mach_works_as_it_is_written():
    assert_each_step_works(MACH)
