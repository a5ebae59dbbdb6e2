# SPDX-License-Identifier: GPL-2.0-or-later
"""What an ELF executable holds: code, symbols, what is loaded where, and the source lines of addresses.

`modules.elf_fault` says whether a file is one; here it has to be.
"""

import bisect
import functools
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.constants import P_FLAGS, SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from cobnut.boards import ARM, IA32, Processor
from cobnut.errors import CobnutError

TYPES = ("STT_NOTYPE", "STT_FUNC", "STT_OBJECT")
QUALIFIERS = (" const", " volatile", " &", " &&")
CLONE = " [clone "


@dataclass(frozen=True)
class Section:
    """A section with code: its linear address, where it is in the file, and what it holds."""

    address: int
    offset: int
    data: bytes

    @property
    def end(self) -> int:
        return self.address + len(self.data)


@dataclass(frozen=True)
class Symbol:
    """A symbol with its name as the file has it. `code`: it lies in a section with code; `data`: in a writable one."""

    name: str
    address: int
    size: int
    type: str
    code: bool
    data: bool


@dataclass(frozen=True)
class Segment:
    """What is loaded: the file's bytes from `offset` on, to a linear and a physical address, and with them `room` bytes
    in all.
    """

    offset: int
    size: int
    linear: int
    physical: int
    room: int
    writable: bool


class Executable:
    """An executable by its bytes; `name` is what an error calls it."""

    def __init__(self, data: bytes, name: object = "the executable"):
        try:
            self._file = ELFFile(io.BytesIO(data))
        except ELFError as error:
            raise CobnutError(f"{name}: not an ELF file ({error})") from None

    @property
    def processor(self) -> Processor:
        return ARM if self._file["e_machine"] == "EM_ARM" else IA32

    @functools.cached_property
    def code(self) -> list[Section]:
        """The sections with code."""
        return [
            Section(section["sh_addr"], section["sh_offset"], section.data())
            for section in self._file.iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR
        ]

    @functools.cached_property
    def symbols(self) -> list[Symbol]:
        """What has a name and a place, in the order of the file."""
        sections = list(self._file.iter_sections())
        found = []
        for table in sections:
            if not isinstance(table, SymbolTableSection) or table["sh_type"] != "SHT_SYMTAB":
                continue
            for one in table.iter_symbols():
                index, kind = one["st_shndx"], one["st_info"]["type"]
                if not one.name or not isinstance(index, int) or kind not in TYPES:
                    continue
                flags = sections[index]["sh_flags"]
                code, data = bool(flags & SH_FLAGS.SHF_EXECINSTR), bool(flags & SH_FLAGS.SHF_WRITE)
                found.append(Symbol(one.name, one["st_value"], one["st_size"], kind, code, data))
        return found

    @functools.cached_property
    def segments(self) -> list[Segment]:
        """What is loaded from the file."""
        return [
            Segment(
                one["p_offset"],
                one["p_filesz"],
                one["p_vaddr"],
                one["p_paddr"],
                one["p_memsz"],
                bool(one["p_flags"] & P_FLAGS.PF_W),
            )
            for one in self._file.iter_segments("PT_LOAD")
        ]

    def lines(self, addresses: Iterable[int]) -> list[tuple[Path, int] | None]:
        """The source file and line of each address, None where the debug information does not say."""
        rows = self._rows
        starts = [row[0] for row in rows]
        found = []
        for address in addresses:
            index = bisect.bisect_right(starts, address) - 1
            found.append(rows[index][1] if index >= 0 else None)
        return found

    @functools.cached_property
    def _rows(self) -> list[tuple[int, tuple[Path, int] | None]]:
        """Where each source line begins in the code, and with None where a piece of code ends."""
        found: dict[int, tuple[Path, int] | None] = {}
        if not self._file.has_dwarf_info():
            return []
        dwarf = self._file.get_dwarf_info()
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            files, folders = program["file_entry"], program["include_directory"]
            first = 0 if program["version"] >= 5 else 1
            for entry in program.get_entries():
                state = entry.state
                if state is None:
                    continue
                if state.end_sequence:
                    found.setdefault(state.address, None)
                    continue
                file = files[state.file - first]
                folder = folders[file.dir_index - first].decode() if file.dir_index >= first else ""
                path = os.path.normpath(os.path.join(folder, file.name.decode()))
                found[state.address] = (Path(path), state.line)
        return sorted(found.items(), key=lambda row: row[0])


def read(path: Path) -> Executable:
    """The executable in a file."""
    return Executable(path.read_bytes(), path)


@functools.cache
def demangled(name: str) -> str:
    """A symbol as C++ has it, with its parameters; any other as it is."""
    import cxxfilt  # few commands need it, and it looks for C++'s library

    try:
        return cxxfilt.demangle(name)
    except cxxfilt.Error:  # it is none of C++, or there is no library of C++ here to ask
        return name


def without_parameters(name: str) -> str:
    """The name of a C++ function alone."""
    name = name.partition(CLONE)[0]
    while name.endswith(QUALIFIERS):
        name = name.rpartition(" ")[0]
    if not name.endswith(")"):
        return name
    alone = name[: _opened(name, len(name) - 1)]
    return alone[_last_blank(alone) + 1 :] if alone.endswith(">") else alone  # a template's has the type before it


def _opened(text: str, at: int) -> int:
    """Where the bracket is opened that is closed at `at`."""
    depth = 0
    for index in range(at, -1, -1):
        depth += (text[index] in ")>]}") - (text[index] in "(<[{")
        if depth == 0:
            return index
    return 0


def _last_blank(text: str) -> int:
    """The last blank outside of brackets, -1 without one."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] in ")>]}") - (text[index] in "(<[{")
        if depth == 0 and text[index] == " ":
            return index
    return -1
