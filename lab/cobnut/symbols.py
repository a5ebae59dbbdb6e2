# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in IA-32 ELF executables: where a symbol is, and which function an address belongs to."""

import bisect
import functools
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cobnut import paths
from cobnut.boards import ARM
from cobnut.errors import CobnutError
from cobnut.modules import ELF_HEADER, elf_fault

# System V ABI, chapter 4: section header and symbol of a 32-bit file
SECTION = struct.Struct("<10I")
SYMBOL = struct.Struct("<IIIBBH")
SHT_SYMTAB, SHF_EXECINSTR = 2, 4
STT_NOTYPE, STT_FUNC = 0, 2
SHN_LORESERVE = 0xFF00  # sections from here on are none: absolute values and the like


@dataclass(frozen=True)
class Section:
    """A section with code: its linear address, and where it is in the file."""

    address: int
    offset: int
    size: int


class Symbols:
    """The symbols of one file: `addresses` by name, as the file has them."""

    def __init__(self, path: Path):
        data = path.read_bytes()
        fault = elf_fault(data)
        if fault:
            raise CobnutError(f"{path}: {fault}")
        self.path = path
        self._data = data
        self.addresses: dict[str, int] = {}
        functions: dict[int, str] = {}
        self.code: list[Section] = []
        *_, sections_offset, _, _, _, _, section_size, sections, _ = ELF_HEADER.unpack_from(data)
        headers = [SECTION.unpack_from(data, sections_offset + index * section_size) for index in range(sections)]
        for _, _, flags, address, offset, size, *_ in headers:
            if flags & SHF_EXECINSTR:
                self.code.append(Section(address, offset, size))
        for _, kind, _, _, offset, size, link, *_ in headers:
            if kind != SHT_SYMTAB:
                continue
            for name, value, _, info, _, section in SYMBOL.iter_unpack(data[offset : offset + size]):
                start = headers[link][4] + name
                text = data[start : data.index(b"\0", start)].decode()
                if not text or not section or section >= SHN_LORESERVE:
                    continue
                self.addresses[text] = value
                if info & 0xF in (STT_NOTYPE, STT_FUNC) and headers[section][2] & SHF_EXECINSTR:
                    functions.setdefault(value, text)
        self._starts = sorted(functions)
        self._names = [functions[start] for start in self._starts]

    def address(self, name: str) -> int:
        """Where the symbol `name` is."""
        if name not in self.addresses:
            raise CobnutError(f"{self.path}: has no symbol {name}")
        return self.addresses[name]

    def function_at(self, address: int) -> str | None:
        """The name of the function that holds `address`, None outside of the file's code."""
        if not any(part.address <= address < part.address + part.size for part in self.code):
            return None
        index = bisect.bisect_right(self._starts, address) - 1
        return demangled(self._names[index]) if index >= 0 else None

    def offset(self, address: int) -> int:
        """Where in the file the code at `address` is."""
        for part in self.code:
            if part.address <= address < part.address + part.size:
                return part.offset + address - part.address
        raise CobnutError(f"{self.path}: has no code at {address:#010x}")

    def code_before(self, address: int, length: int) -> bytes:
        """The `length` bytes of code that end at `address`; less where the code begins later, none outside of it."""
        for part in self.code:
            if part.address < address <= part.address + part.size:
                end = part.offset + address - part.address
                return self._data[max(part.offset, end - length) : end]
        return b""


@functools.cache
def demangled(name: str) -> str:
    """A C++ symbol as people write it, without its parameters."""
    if not name.startswith("_Z"):
        return name
    try:
        done = subprocess.run(["c++filt", "-p", name], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return name
    return done.stdout.strip() or name


def places(executable: Path, address: int) -> list[str]:
    """Function, file and line of the code at `address`, as the file's debug information has them; what is inlined there
    comes before what it is inlined in. Empty if that is not known.
    """
    prefix = "arm-none-eabi-" if elf_fault(executable.read_bytes(), ARM) is None else ""
    command = [f"{prefix}addr2line", "-C", "-f", "-i", "-e", str(executable), f"{address:#x}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    answer = done.stdout.splitlines()
    pairs = list(zip(answer[::2], answer[1::2], strict=False))
    if not pairs or pairs[0][0] == "??":
        return []
    return [f"{function}{_line(place)}" for function, place in pairs]


def _line(place: str) -> str:
    """` at FILE:LINE`, the file as the repository names it; nothing if it is not known."""
    file, _, line = place.split(" (discriminator", 1)[0].rpartition(":")
    if not file or file == "??":
        return ""
    path = Path(file)
    if path.is_relative_to(paths.ROOT):
        path = path.relative_to(paths.ROOT)
    return f" at {path}:{line}"
