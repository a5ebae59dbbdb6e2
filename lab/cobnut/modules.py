# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot modules: from what a user types to a checked ELF file with its arguments.

The kernel checks its modules again when it boots; doing it here first gives the better message, with the file's name.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

from cobnut.boards import IA32, Board, Processor
from cobnut.errors import CobnutError, meant

# ELF header and program header of a 32-bit little-endian file (System V ABI, chapter 4 and 5)
ELF_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIIIIIII")
ELFCLASS32, ELFDATA2LSB, ET_EXEC, PT_LOAD = 1, 1, 2, 1


@dataclass(frozen=True)
class Module:
    """A file handed to the kernel at boot, with the arguments of its command line."""

    path: Path
    arguments: str = ""

    @property
    def name(self) -> str:
        return self.path.name


def alone(board: Board, program: str, arguments: str = "") -> tuple[Module, Module]:
    """What boots a program of ours by itself: sigma0, and the program in the root server's place."""
    return Module(board.program("sigma0")), Module(board.program(program), arguments)


def parse(text: str, board: Board) -> Module:
    """The module that `text` names: a built program or a file, with arguments after the first blank."""
    name, _, arguments = text.strip().partition(" ")
    if not name:
        raise CobnutError("an empty module name")
    path = board.program(name) if name in board.programs else Path(name)
    module = Module(path, arguments.strip())
    if not path.exists() and "/" not in name:
        like = f" ({meant(name, board.programs).strip()})".replace(" ()", "")
        raise CobnutError(f"module {name}: no such file, and no program of that name is built{like}")
    check(module, board.processor)
    return module


def check(module: Module, processor: Processor = IA32) -> None:
    """Refuses a module that could not be loaded, saying why."""
    try:
        data = module.path.read_bytes()
    except IsADirectoryError:
        raise CobnutError(f"module {module.path}: is a folder") from None
    except FileNotFoundError:
        raise CobnutError(f"module {module.path}: no such file, and no program of that name is built") from None
    except OSError as error:
        raise CobnutError(f"module {module.path}: {error.strerror}") from None
    fault = elf_fault(data, processor)
    if fault:
        raise CobnutError(f"module {module.path}: {fault}")


def elf_fault(data: bytes, processor: Processor = IA32) -> str | None:
    """What keeps `data` from being a loadable ELF executable for `processor`, or None."""
    if data[:4] != b"\x7fELF":
        return "not an ELF file"
    if len(data) < ELF_HEADER.size:
        return "truncated (shorter than an ELF header)"
    (
        ident,
        kind,
        machine,
        _,
        _,
        header_offset,
        sections_offset,
        _,
        _,
        header_size,
        headers,
        section_size,
        sections,
        _,
    ) = ELF_HEADER.unpack_from(data)
    if ident[4] != ELFCLASS32 or ident[5] != ELFDATA2LSB or machine != processor.elf_machine:
        return f"not an ELF file for {processor.name}"
    if kind != ET_EXEC:
        return "not an ELF executable (linked at a fixed address)"
    if headers == 0 or header_size != PROGRAM_HEADER.size:
        return "has no program headers to load"
    if header_offset + headers * header_size > len(data):
        return "truncated (its program headers lie past the end)"
    if sections_offset + sections * section_size > len(data):
        return "truncated (its section headers lie past the end)"
    loads = 0
    for index in range(headers):
        segment, offset, _, _, size, *_ = PROGRAM_HEADER.unpack_from(data, header_offset + index * header_size)
        if segment != PT_LOAD:
            continue
        loads += 1
        if offset + size > len(data):
            return f"truncated (a segment of {size} bytes at {offset} in a file of {len(data)})"
    return None if loads else "has nothing to load"
