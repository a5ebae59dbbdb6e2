# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what two emulators saw of one guest: a record of QEMU's run, and Bochs' trace.

Every instruction, data access, page directory and base of user code has to be the same, in the same order. Where the
two observers differ by what they are, the difference is counted under its reason; anything else is unexplained.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cobnut.emulators.bochs_trace import Access, Step

PAGE = 4096
WORD = 4
KERNEL_BASE = 0xF000_0000  # from here on kernel memory: its addresses follow from where frames were free
POPPED = 8  # words that popa passes over
SKIPPED = 3  # the one of them that it does not keep: the stack pointer
MICROCODED = {
    "iret",
    "far_return",
    "far_jump",
    "segment_load",
}  # what these read, and in which order, is the processor's own business
PROTECTION_FAULT = 13
MOST_SHOWN = 5

REASONS = {
    "walk": "accesses of page walks: Bochs shows them, QEMU does not tell its plugins",
    "entry": (
        "the processor's own accesses when it enters the kernel (gate, descriptors, task state, pushes): QEMU does not"
        " tell"
    ),
    "microcode": "reads of iret and segment loads in another order or size, and of the word that popa throws away",
    "limit": (
        "instructions of the kernel after a fault past a segment's limit, which Bochs raises, and which the plugin"
        " tells of without them"
    ),
    "interrupt.bochs": (
        "instructions of the timer's handler, which ran here in Bochs only: the two count time differently"
    ),
    "interrupt.qemu": "instructions of the timer's handler, which ran here in QEMU only",
    "frames": "pages of kernel memory in other frames: the firmwares leave different memory free",
}


@dataclass
class Group:
    """Instructions of QEMU's run and what they accessed, taken together; what happened before the first of them."""

    instructions: list[tuple[int, str]] = field(default_factory=list)  # linear address, class
    accesses: list[Access] = field(default_factory=list)
    directory: int | None = None
    base: int | None = None
    interrupt: bool = False
    limits: int = 0  # accesses past the limits of their segments


@dataclass
class Comparison:
    """What was compared and found equal, how often each known reason explains a difference, and what none explains."""

    instructions: int = 0
    accesses: int = 0
    directories: int = 0  # writes of CR3
    bases: int = 0  # changes of the user code's base
    limits: int = 0  # faults past a segment's limit
    paths: list[list[Step]] = field(default_factory=list)  # what the kernel executed after each of them
    reasons: Counter[str] = field(default_factory=Counter)
    unexplained: int = 0
    shown: list[str] = field(default_factory=list)

    def complain(self, text: str) -> None:
        self.unexplained += 1
        if len(self.shown) < MOST_SHOWN:
            self.shown.append(text)


def groups(lines: Iterable[str]) -> list[Group]:
    """The groups in the lines that the replayer prints (lab/trace/src/ia32/events.rs)."""
    found: list[Group] = []
    group = Group()
    for line in lines:
        what, *words = line.split()
        if what == "i":
            group.instructions.append((int(words[0], 16), words[1]))
        elif what in ("r", "w"):
            linear, physical, size = (int(word, 16) for word in words)
            group.accesses.append(Access(what == "w", linear, physical, size))
        elif what == "end":
            if found and not group.instructions:
                found[-1].accesses += group.accesses  # a repetition of its last instruction
            else:
                found.append(group)
            group = Group()
        elif what == "cr3":
            group.directory = int(words[0], 16)
        elif what == "base":
            group.base = int(words[0], 16)
        elif what == "limit":
            group.limits += 1
        elif what == "interrupt":
            group.interrupt = True
    return found


class Renaming:
    """One-to-one pairs of numbers, each fixed when first met."""

    def __init__(self) -> None:
        self._there: dict[int, int] = {}
        self._back: dict[int, int] = {}

    def same(self, qemu: int, bochs: int) -> bool:
        """Whether the two are a pair, or can become one."""
        if self._there.get(qemu, bochs) != bochs or self._back.get(bochs, qemu) != qemu:
            return False
        self._there[qemu], self._back[bochs] = bochs, qemu
        return True

    @property
    def changed(self) -> int:
        return sum(ours != theirs for ours, theirs in self._there.items())


def compare(qemu: Sequence[Group], bochs: Sequence[Step]) -> Comparison:
    """Compares from the start to where the shorter one ends, or to the first instruction that differs without a
    reason.
    """
    return _Comparison(qemu, bochs).run()


class _Comparison:
    """The state of one comparison: how far it came on both sides, and which addresses stand for which."""

    def __init__(self, qemu: Sequence[Group], bochs: Sequence[Step]) -> None:
        self.qemu, self.bochs = qemu, bochs
        self.group, self.step = 0, 0
        self.result = Comparison()
        self.pages, self.frames, self.directories = Renaming(), Renaming(), Renaming()
        # switches by the number of instructions before them
        self.qemu_directories: list[tuple[int, int]] = []
        self.bochs_directories: list[tuple[int, int | None]] = []
        self.qemu_bases: list[tuple[int, int]] = []
        self.bochs_bases: list[tuple[int, int]] = []

    def run(self) -> Comparison:
        while self.group < len(self.qemu) and self.step < len(self.bochs):
            group = self.qemu[self.group]
            if group.interrupt and not self._skip_qemu_interrupt():
                break
            group = self.qemu[self.group]
            steps = self._steps_of(group)
            if steps is None:
                break
            self._note_switches(group, steps)
            self._compare_accesses(group, steps)
            self.result.instructions += len(steps)
            self.group += 1
        self._compare_switches()
        seen = self.bochs[: self.step]
        self.result.reasons["walk"] += sum(step.walks for step in seen)
        self.result.reasons["entry"] += sum(len(step.entry) for step in seen)
        self.result.reasons["frames"] += self.pages.changed
        return self.result

    def _steps_of(self, group: Group) -> list[Step] | None:
        """Bochs' steps of the group's instructions; None where the trace ends or goes elsewhere."""
        steps: list[Step] = []
        limits = self.result.limits
        for linear, _ in group.instructions:
            if self.step < len(self.bochs) and self.bochs[self.step].linear != linear:
                self._skip_bochs_interrupt(linear)
            if self.step == len(self.bochs):
                return None
            self._pass_limit_faults()
            step = self.bochs[self.step]
            if step.linear != linear:
                self.result.complain(f"instruction {linear:#x} in QEMU, {step.linear:#x} ({step.text}) in Bochs")
                return None
            steps.append(step)
            self.step += 1
        found = self.result.limits - limits
        if found != group.limits:
            where = f"{group.instructions[0][0]:#x}" if group.instructions else "before an instruction"
            self.result.complain(f"{where}: {group.limits} accesses past a limit in QEMU, {found} faults in Bochs")
        return steps

    def _pass_limit_faults(self) -> None:
        """Passes over what the kernel does after the protection fault of the instruction that comes next, if it makes
        it again.
        """
        step = self.bochs[self.step]
        while step.user and step.vector == PROTECTION_FAULT and not step.interrupted:
            again = range(self.step + 1, len(self.bochs))
            back = next((index for index in again if self.bochs[index].user), None)
            if back is None or self.bochs[back].linear != step.linear:
                return
            path = list(self.bochs[self.step + 1 : back])
            self.result.limits += 1
            self.result.paths.append(path)
            self.result.reasons["limit"] += len(path)
            self.step, step = back, self.bochs[back]

    def _skip_bochs_interrupt(self, linear: int) -> None:
        """Passes over a handler that Bochs entered here, if it returns to `linear`."""
        before = self.bochs[self.step - 1] if self.step else None
        if before is None or not before.interrupted:
            return
        for index in range(self.step, len(self.bochs)):
            if self.bochs[index].linear == linear:
                self.result.reasons["interrupt.bochs"] += index - self.step
                self.step = index
                return

    def _skip_qemu_interrupt(self) -> bool:
        """Passes over a handler that QEMU entered here, if it returns to where Bochs is."""
        back = self.bochs[self.step].linear
        for index in range(self.group, len(self.qemu)):
            instructions = self.qemu[index].instructions
            if instructions and instructions[0][0] == back:
                self.result.reasons["interrupt.qemu"] += sum(len(g.instructions) for g in self.qemu[self.group : index])
                self.group = index
                return True
        return False

    def _note_switches(self, group: Group, steps: list[Step]) -> None:
        before = self.result.instructions
        if group.directory is not None:
            self.qemu_directories.append((before, group.directory))
        if group.base is not None:
            self.qemu_bases.append((before, group.base))
        for index, step in enumerate(steps, before):
            if self.bochs_directories and self.bochs_directories[-1][1] is None:
                self.bochs_directories[-1] = (self.bochs_directories[-1][0], step.directory)
            if step.text.startswith("mov cr3,"):
                self.bochs_directories.append((index + 1, step.directory))
            if step.user:
                self.bochs_bases.append((index, step.base))

    def _compare_switches(self) -> None:
        """Page directories under their own names on each side, bases as they are."""
        end = self.result.instructions
        qemu = [one for one in self.qemu_directories if one[0] < end]
        bochs = [one for one in self.bochs_directories if one[0] < end]
        for ours, theirs in zip(qemu, bochs, strict=False):
            if theirs[1] is None or ours[0] != theirs[0] or not self.directories.same(ours[1], theirs[1]):
                self.result.complain(f"CR3 {ours} in QEMU, {theirs} in Bochs (instructions before, directory)")
            self.result.directories += 1
        if len(qemu) != len(bochs):
            self.result.complain(f"{len(qemu)} writes of CR3 in QEMU, {len(bochs)} in Bochs")
        first = self.bochs_bases[0][1] if self.bochs_bases else None
        ours_bases, their_bases = _changes(self.qemu_bases, first), _changes(self.bochs_bases, first)
        if ours_bases != their_bases:
            pairs = zip([*ours_bases, None], [*their_bases, None], strict=False)
            where = next(pair for pair in pairs if pair[0] != pair[1])
            self.result.complain(
                f"user code's base {where[0]} in QEMU, {where[1]} in Bochs (instructions before, base)"
            )
        self.result.bases = len(their_bases)

    def _compare_accesses(self, group: Group, steps: list[Step]) -> None:
        rest = list(group.accesses)
        for (_, kind), step in zip(group.instructions, steps, strict=True):
            if kind in MICROCODED:
                self._compare_words(rest, step)
                continue
            for theirs in self._kept(step):
                ours = rest.pop(0) if rest else None
                if ours and self._same(ours, theirs):
                    self.result.accesses += 1
                else:
                    self.result.complain(f"{step.linear:#x} {step.text}: {ours} in QEMU, {theirs} in Bochs")
        for ours in rest:
            self.result.complain(f"{steps[-1].linear:#x}: {ours} in QEMU only")

    def _kept(self, step: Step) -> list[Access]:
        """What an instruction accessed, without what only Bochs reads."""
        if not step.text.startswith("popa") or len(step.accesses) != POPPED:
            return step.accesses
        self.result.reasons["microcode"] += 1
        return step.accesses[:SKIPPED] + step.accesses[SKIPPED + 1 :]

    def _compare_words(self, rest: list[Access], step: Step) -> None:
        """Compares which words were read and written, in any order; takes QEMU's off `rest`."""
        theirs = _words(step.accesses)
        order = []
        while rest:
            matches = [next((word for word in theirs if self._same(ours, word)), None) for ours in _words(rest[:1])]
            if None in matches:
                break
            order += [word for word in matches if word]
            rest.pop(0)
            self.result.accesses += 1
        if set(order) != set(theirs):
            self.result.complain(f"{step.linear:#x} {step.text}: {len(theirs) - len(set(order))} words in Bochs only")
        if order != list(step.accesses):
            self.result.reasons["microcode"] += len(step.accesses)

    def _same(self, ours: Access, theirs: Access) -> bool:
        if (ours.write, ours.size, ours.linear % PAGE) != (theirs.write, theirs.size, theirs.linear % PAGE):
            return False
        renamed = min(ours.linear, theirs.linear) >= KERNEL_BASE
        if not renamed and ours.linear != theirs.linear:
            return False
        return self.pages.same(ours.linear // PAGE, theirs.linear // PAGE) and self.frames.same(
            ours.physical // PAGE, theirs.physical // PAGE
        )


def _words(accesses: Iterable[Access]) -> list[Access]:
    """The aligned words that are touched."""
    found: dict[Access, None] = {}
    for access in accesses:
        first = access.linear & -WORD
        for linear in range(first, access.linear + access.size, WORD):
            found[Access(access.write, linear, access.physical + linear - access.linear, WORD)] = None
    return list(found)


def _changes(switches: Iterable[tuple[int, int]], first: int | None) -> list[tuple[int, int]]:
    """The values that differ from the one before."""
    found = []
    for where, value in switches:
        if value != first:
            found.append((where, value))
        first = value
    return found
