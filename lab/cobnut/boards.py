# SPDX-License-Identifier: GPL-2.0-or-later
"""The boards that the kernel is built for."""

from dataclasses import dataclass, replace
from pathlib import Path

from cobnut import paths
from cobnut.errors import CobnutError


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
    """One board: its name is also that of its CMake preset and of its folder below build/."""

    name: str
    description: str
    programs: tuple[str, ...]
    processor: Processor = IA32
    memory_mb: int | None = None  # where its emulator knows only one size
    machine: str | None = None  # the model of its processor, where an experiment has none of its own
    tags: bool = True  # False: with a kernel that gives spaces no tags

    @property
    def folder(self) -> Path:
        """Where it is built."""
        return paths.BUILD / (self.name if self.tags else f"{self.name}-standard")

    @property
    def standard(self) -> "Board":
        """The same board with the standard kernel, which flushes at every switch of spaces."""
        return replace(self, tags=False)

    @property
    def kernel(self) -> Path:
        """What a loader takes: an executable, or for ARM its bytes alone."""
        return self.folder / "kernel" / f"cobnut-kernel{self.processor.image_suffix}"

    @property
    def kernel_executable(self) -> Path:
        """The same with its symbols."""
        return self.kernel.with_name("cobnut-kernel")

    def program(self, name: str) -> Path:
        return self.folder / "user" / name

    @property
    def images(self) -> list[Path]:
        """Everything that is built for the board, the kernel first."""
        return [self.kernel, *(self.program(name) for name in self.programs)]


BOARDS = {
    board.name: board
    for board in (
        Board(
            "pc",
            "IA-32 PC, 486 and later, on QEMU or Bochs",
            (
                *("sigma0", "root", "pingpong", "hello", "x2test", "stress", "strings", "fuzz", "attack", "scale"),
                *("exhaust", "groups", "revoke"),
            ),
        ),
        Board(
            "versatilepb",
            "ARM Versatile baseboard with an ARM926EJ-S, on QEMU",
            ("sigma0", "root", "hello", "x2test", "crowd", "attack", "stress"),
            ARM,
            machine="arm926-400",
        ),
        Board(
            "collie",
            "Sharp Zaurus SL-5500 with a StrongARM SA-1110, on QEMU",
            ("sigma0", "root", "hello", "x2test", "crowd", "attack", "stress"),
            ARM,
            memory_mb=512,
            machine="sa1100-200",
        ),
    )
}


def find(name: str) -> Board:
    """The board called `name`."""
    if name not in BOARDS:
        raise CobnutError(f"unknown board '{name}' (known: {', '.join(BOARDS)})")
    return BOARDS[name]


def settled(board: Board, given: list[str]) -> Board:
    """The board with what --set asks of its kernel, a list of K=V: tags=off is the standard kernel."""
    for pair in given:
        if board.processor is not ARM or pair not in ("tags=on", "tags=off"):
            raise CobnutError(f"--set {pair}: a kernel is built with tags=on or tags=off, for the boards with an ARM processor")
        board = replace(board, tags=pair == "tags=on")
    return board
