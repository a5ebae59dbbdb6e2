# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in IA-32 ELF executables: where a symbol is, and which function an address belongs to."""

import bisect
import subprocess
from pathlib import Path

from cobnut import elf, paths
from cobnut.boards import ARM
from cobnut.elf import Executable
from cobnut.errors import CobnutError
from cobnut.modules import elf_fault


class Symbols:
    """The symbols of one file: `addresses` by name, as the file has them."""

    def __init__(self, path: Path):
        data = path.read_bytes()
        fault = elf_fault(data)
        if fault:
            raise CobnutError(f"{path}: {fault}")
        self.path = path
        file = Executable(data, path)
        self.code = file.code
        self.addresses = {one.name: one.address for one in file.symbols}
        functions: dict[int, str] = {}
        for one in file.symbols:
            if one.code and one.type != "STT_OBJECT":
                functions.setdefault(one.address, one.name)
        self._starts = sorted(functions)
        self._names = [functions[start] for start in self._starts]

    @property
    def starts(self) -> list[int]:
        """Where functions begin, in order."""
        return self._starts

    def address(self, name: str) -> int:
        """Where the symbol `name` is."""
        if name not in self.addresses:
            raise CobnutError(f"{self.path}: has no symbol {name}")
        return self.addresses[name]

    def function_at(self, address: int) -> str | None:
        """The name of the function that holds `address`, None outside of the file's code."""
        if not any(part.address <= address < part.end for part in self.code):
            return None
        index = bisect.bisect_right(self._starts, address) - 1
        return elf.without_parameters(elf.demangled(self._names[index])) if index >= 0 else None

    def offset(self, address: int) -> int:
        """Where in the file the code at `address` is."""
        for part in self.code:
            if part.address <= address < part.end:
                return part.offset + address - part.address
        raise CobnutError(f"{self.path}: has no code at {address:#010x}")

    def code_before(self, address: int, length: int) -> bytes:
        """The `length` bytes of code that end at `address`; less where the code begins later, none outside of it."""
        for part in self.code:
            if part.address < address <= part.end:
                end = address - part.address
                return part.data[max(0, end - length) : end]
        return b""


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
