# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads what Bochs' debugger prints of a guest: instructions, accesses, entries into the kernel.

An instruction's line gives its physical address, then selector and offset; its linear address needs the segment's base,
which is seen when the processor reads the descriptor. Accesses follow their instruction. After an interrupt from
outside the debugger still names the instruction that would have come next, while the first one of the handler is
executed. A repeated string instruction has a line for each repetition; it is one step.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from cobnut.errors import CobnutError

INSTRUCTION = re.compile(
    r"\(0\)\.\[\d+\] \[0x([0-9a-f]+)\] ([0-9a-f]{4}):([0-9a-f]+) \([^)]*\): (.*?)\s*; ([0-9a-f]+)$"
)
LINEAR = re.compile(
    r"\[CPU0 (\w+)\]: LIN 0x([0-9a-f]+) PHY 0x([0-9a-f]+) \(len=(\d+), \w+\): 0x([0-9A-F]+)(?: 0x([0-9A-F]+))?"
)
PHYSICAL = re.compile(r"\[CPU0 (\w+)\]: PHY 0x([0-9a-f]+) \(len=(\d+), \w+\): 0x([0-9A-F]+)\s*(?:; (\w+))?")
ENTRY = re.compile(r"CPU 0: Interrupt (0x[0-9a-f]+) occurred")
FAULT = "CPU 0: Exception "
CODE = re.compile(r"cs:(0x[0-9a-f]+), dh=(0x[0-9a-f]+), dl=(0x[0-9a-f]+)")
TABLE = re.compile(r"gdtr:base=(0x[0-9a-f]+), limit=(0x[0-9a-f]+)")
PAGE = 4096


@dataclass(frozen=True)
class Access:
    """A data access, in linear and physical addresses."""

    write: bool
    linear: int
    physical: int
    size: int


@dataclass
class Step:
    """An instruction and what the processor did in it.

    `walks` are accesses to page tables, `entry` those of an entry into the kernel by the interrupt or exception
    `vector` at its end. `directory` is where the first walk after it began, None if there was none; `base` is the code
    segment's.
    """

    linear: int
    base: int
    user: bool
    text: str
    accesses: list[Access] = field(default_factory=list)
    walks: int = 0
    entry: list[Access] = field(default_factory=list)
    vector: int | None = None
    interrupted: bool = False  # from outside, neither by the instruction nor by a fault of it
    handler: tuple[int, int] | None = None  # selector and offset in the gate that was entered by
    directory: int | None = None
    physical: int = 0
    code: str = ""  # its bytes


def read(lines: Iterable[str]) -> Iterator[Step]:
    """The steps in `lines`; each is complete when it is given."""
    bases: dict[int, int] = {}
    table = range(0)
    step: Step | None = None
    fault = False
    for line in lines:
        if found := INSTRUCTION.match(line):
            if step and step.code == found[5] and _repeats(step, found):
                continue
            if step:
                yield step
            physical, code = int(found[1], 16), found[5]
            selector, offset, text = int(found[2], 16), int(found[3], 16), found[4]
            if step and step.interrupted and step.handler:
                (selector, offset), text = step.handler, "the handler's first instruction"
            base = bases.get(selector & ~7)
            if base is None:
                raise CobnutError(f"Bochs' trace: the base of code segment {selector:#x} was never seen")
            step = Step((base + offset) & 0xFFFF_FFFF, base, selector & 3 != 0, text, physical=physical, code=code)
            fault = False
        elif step is None:
            if found := CODE.match(line):
                bases[int(found[1], 16) & ~7] = _base(int(found[2], 16), int(found[3], 16))
            elif found := TABLE.match(line):
                table = range(int(found[1], 16), int(found[1], 16) + int(found[2], 16) + 1)
        elif found := LINEAR.match(line):
            linear, physical, size = int(found[2], 16), int(found[3], 16), int(found[4])
            _note(step, Access(found[1] == "WR", linear, physical, size))
            if found[6]:
                high, low = int(found[5], 16), int(found[6], 16)
                if linear in table:
                    bases[linear - table.start] = _base(high, low)
                elif step.vector is not None and step.handler is None:
                    step.handler = (low >> 16, high & 0xFFFF_0000 | low & 0xFFFF)
        elif found := PHYSICAL.match(line):
            _physical(step, found)
        elif line.startswith(FAULT):
            fault = True
        elif found := ENTRY.match(line):
            step.vector = int(found[1], 16)
            step.interrupted = not fault and not step.text.startswith("int")
    if step:
        yield step


def _repeats(step: Step, found: re.Match[str]) -> bool:
    """Whether the line is another repetition of `step`."""
    return step.text.startswith("rep") and step.vector is None and step.physical == int(found[1], 16)


def _physical(step: Step, found: re.Match[str]) -> None:
    """An access by physical address: to a page table, or the second half of one that reads and writes."""
    physical = int(found[2], 16)
    before = step.accesses[-1] if step.accesses else None
    if not found[5] and found[1] == "WR" and step.vector is None and before and before.physical == physical:
        step.accesses.append(Access(True, before.linear, physical, int(found[3])))
        return
    step.walks += 1
    if found[5] == "PDE" and step.directory is None:
        step.directory = physical & -PAGE


def _note(step: Step, access: Access) -> None:
    (step.accesses if step.vector is None else step.entry).append(access)


def _base(high: int, low: int) -> int:
    """The base in the two words of a descriptor."""
    return high & 0xFF00_0000 | (high & 0xFF) << 16 | low >> 16
