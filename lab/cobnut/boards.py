# SPDX-License-Identifier: GPL-2.0-or-later
"""The boards that the kernel is built for."""

from dataclasses import dataclass, replace
from pathlib import Path

from cobnut import paths
from cobnut.errors import CobnutError, unknown


@dataclass(frozen=True)
class Processor:
    """A processor family: `elf_machine` stands in the header of its programs, `architecture` in its machine files."""

    name: str
    architecture: str
    elf_machine: int
    image_suffix: str = ""


IA32 = Processor("IA-32", "ia32", 3)
ARM = Processor("ARM", "arm", 40, ".bin")


@dataclass(frozen=True)
class Board:
    """One board: its name is also that of its CMake preset and of its folder below build/. `programs` boot without a
    system; those of systems are in the same folder.
    """

    name: str
    description: str
    programs: tuple[str, ...]
    processor: Processor = IA32
    memory_mb: int | None = None  # where its emulator knows only one size
    machine: str | None = None  # the model of its processor, where an experiment has none of its own
    tags: bool = True  # False: with a kernel that gives spaces no tags
    registers: tuple[range, ...] = ()  # where its devices have their registers; nowhere: in I/O ports and on PCI
    lines: int = 16  # of interrupts
    checked: bool = False  # with a kernel that asserts its invariants as it runs

    @property
    def folder(self) -> Path:
        """Where its programs are built, which are the same for each kernel, and its usual kernel."""
        return paths.BUILD / self.name

    @property
    def kernel_folder(self) -> Path:
        """Where its kernel is built."""
        kernel = ("" if self.tags else "-standard") + ("-checked" if self.checked else "")
        return paths.BUILD / f"{self.name}{kernel}"

    @property
    def definitions(self) -> list[str]:
        """What CMake is told of its kernel, where that is not the usual one."""
        return ["-DCOBNUT_TAGS=off"] * (not self.tags) + ["-DCOBNUT_CHECKED=on"] * self.checked

    @property
    def kernel_settings(self) -> tuple[str, ...]:
        """What --set can choose of its kernel, on or off."""
        return ("checked", "tags") if self.processor is ARM else ("checked",)

    @property
    def standard(self) -> "Board":
        """The same board with the standard kernel, which flushes at every switch of spaces."""
        return replace(self, tags=False)

    @property
    def kernel(self) -> Path:
        """What a loader takes: an executable, or for ARM its bytes alone."""
        return self.kernel_folder / "kernel" / f"cobnut-kernel{self.processor.image_suffix}"

    @property
    def kernel_executable(self) -> Path:
        """The same with its symbols."""
        return self.kernel.with_name("cobnut-kernel")

    def program(self, name: str) -> Path:
        return self.folder / "user" / name

    @property
    def images(self) -> list[Path]:
        """What boots without a system, the kernel first."""
        return [self.kernel, *(self.program(name) for name in self.programs)]


BOARDS = {
    board.name: board
    for board in (
        Board(
            "pc",
            "IA-32 PC, 486 and later, on QEMU or Bochs",
            (
                *("sigma0", "root", "pingpong", "hello", "x2test", "stress", "strings", "fuzz", "attack", "scale"),
                *("compose", "exchange", "exhaust", "groups", "protect", "reflect", "revoke", "share", "sharers"),
            ),
        ),
        Board(
            "versatilepb",
            "ARM Versatile baseboard with an ARM926EJ-S, on QEMU",
            ("sigma0", "root", "hello", "x2test", "crowd", "attack", "compose", "stress", "share"),
            ARM,
            machine="arm926-400",
            registers=(
                range(0x1000_0000, 0x2000_0000),
                range(0x4100_0000, 0x4400_0000),  # configuration and I/O ports of a bus behind a bridge
            ),
            lines=32,
        ),
        Board(
            "collie",
            "Sharp Zaurus SL-5500 with a StrongARM SA-1110, on QEMU",
            ("sigma0", "root", "hello", "x2test", "crowd", "attack", "compose", "stress", "share"),
            ARM,
            memory_mb=512,
            machine="sa1100-200",
        ),
    )
}


def find(name: str) -> Board:
    """The board called `name`."""
    if name not in BOARDS:
        raise unknown("board", name, BOARDS)
    return BOARDS[name]


def configured(board: Board, given: list[str]) -> Board:
    """The board with what --set asks of its kernel, a list of K=V: checked=on is the checked one, tags=off the standard
    one.
    """
    for pair in given:
        name, _, value = pair.partition("=")
        if name not in board.kernel_settings or value not in ("on", "off"):
            known = ", ".join(f"{setting}=on or {setting}=off" for setting in board.kernel_settings)
            raise CobnutError(f"--set {pair}: the kernel for {board.name} is built with {known}")
        on = value == "on"
        board = replace(board, checked=on) if name == "checked" else replace(board, tags=on)
    return board
