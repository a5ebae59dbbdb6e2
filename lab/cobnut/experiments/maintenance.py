# SPDX-License-Identifier: GPL-2.0-or-later
"""What an ARM kernel does for its TLBs and virtual caches, from its disassembly: what `sanitize/mutations` removes
there.

Sites are: the operations of coprocessor 15 on TLBs and caches; on the SA-1110 the reads that clean its cache; the calls
of the functions that are there for such operations; and the marks by which the kernel with tags knows what may be dirty
or stale.
"""

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from cobnut import disassembly, elf
from cobnut.disassembly import Instruction, short
from cobnut.errors import CobnutError
from cobnut.findings import Mark

CACHES, TLBS, WAITING = 7, 8, 0  # coprocessor 15: c7 and c8, and c7's CRm that waits for an interrupt
FLAGS = "apsr_nzcv"  # where the ARM926's test operations put what they found
# functions that are called for this and nothing else
MAINTAINS = re.compile(
    r"caches::(?!wait)|host::(flush_caches|drop_lines|drop_translation)$|page_tables::(clean_lines|invalidate)$"
    r"|\w*::?(purge|forget)_\w+$"
)
# before the first user runs; and what only an idle processor does
BOOT = re.compile(r"boot_|\w+::initialise|loader::|page_tables::cache_window")
CLEANS_BY_READING = "caches::clean_and_invalidate_data"
READS = ("ldr", "ldrb", "ldrh", "ldrsb")
# what the kernel with tags notes for later: which spaces have run, and whose lines a section may have. A count of
# flushes is no such note: without it more is cleaned, not less
NOTES = {"processor": "PROCESSOR_RAN", "host::section": None}
# the like in structures that have no fixed place, by the source line of the store
FIELD = re.compile(r"\b(dirty_ \|=|lines_since =) ")
NOP, MOV_PC_LR, CMP_R0_R0 = 0xE1A00000, 0x01A0F00E, 0xE1500000
CONDITION = 0xF000_0000  # in an instruction's word
WORD = 4


@dataclass(frozen=True)
class Site:
    """An instruction of the kernel's, what it is there for, and the word that stands there in a kernel without it."""

    name: str
    address: int
    text: str
    instead: int = NOP


def sites(kernel: Path) -> list[Site]:
    """Everything but the marks that only a run shows, in the order of addresses."""
    code = _code(kernel)
    found = operations(kernel) + _cleaning_reads(code) + _calls(code) + _stores_to_fields(kernel, code)
    return sorted(found, key=lambda site: site.address)


def operations(kernel: Path) -> list[Site]:
    """The operations of coprocessor 15 alone."""
    return [Site(one.name, one.address, one.text, _without_operation(one)) for one in _code(kernel) if _operates(one)]


def marks(kernel: Path, stores: list[Mark]) -> list[Site]:
    """The instructions of the `stores` that a run has noted."""
    code = {one.address: one for one in _code(kernel)}
    noted = [code[store.instruction] for store in stores]
    return [Site(one.name, one.address, f"marks: {one.text}") for one in noted if not BOOT.match(one.name)]


def notes(kernel: Path, offsets: Path) -> list[tuple[int, int]]:
    """Addresses and sizes of what NOTES names, as far as this kernel has it. `offsets`: the header that its build has
    made.
    """
    places = dict(re.findall(r"#define (\w+) (\d+)", offsets.read_text()))
    found = []
    for symbol in elf.read(kernel).symbols:
        name = elf.demangled(symbol.name).replace("(anonymous namespace)::", "")
        if symbol.data and name in NOTES:
            offset = NOTES[name]
            if offset is None:
                found.append((symbol.address, symbol.size or WORD))
            elif offset in places:
                found.append((symbol.address + int(places[offset]), WORD))
    return sorted(found)


def without(kernel: Path, image: bytes, site: Site) -> bytes:
    """The plain `image` of the executable `kernel` with another word at `site`."""
    loaded = [segment for segment in elf.read(kernel).segments if segment.size]
    start = min(segment.physical for segment in loaded)
    for one in loaded:
        if one.linear <= site.address < one.linear + one.size:
            at = one.physical - start + site.address - one.linear
            return image[:at] + site.instead.to_bytes(WORD, "little") + image[at + WORD :]
    raise CobnutError(f"no bytes of the kernel at {site.address:#x}")


def _stores_to_fields(kernel: Path, code: list[Instruction]) -> list[Site]:
    """The stores to what FIELD names; none where the kernel was built without its source lines."""
    stores = [one for one in code if one.mnemonic.startswith("str")]
    places = elf.read(kernel).lines(one.address for one in stores)
    return [
        Site(one.name, one.address, f"marks: {one.text}")
        for one, place in zip(stores, places, strict=True)
        if place and FIELD.search(_source(*place))
    ]


@functools.cache
def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.is_file() else []


def _source(file: Path, line: int) -> str:
    """The line of source code, empty if there is no such file."""
    lines = _lines(file)
    return lines[line - 1] if 0 < line <= len(lines) else ""


def _operates(one: Instruction) -> bool:
    """Whether it is one of the operations on TLBs and caches, the ARM926's test operations included."""
    if not one.coprocessor or one.coprocessor[0] != 15:
        return False
    _, group, of_group = one.coprocessor
    if one.mnemonic.startswith("mrc"):
        return group == CACHES and FLAGS in one.writes
    return group == TLBS or (group == CACHES and of_group != WAITING)


def _without_operation(one: Instruction) -> int:
    # a loop around the test for dirty lines ends when none is left
    return CMP_R0_R0 if one.mnemonic.startswith("mrc") else NOP


def _cleaning_reads(code: list[Instruction]) -> list[Site]:
    """The read by which a cache is cleaned that has no operation for it."""
    own = [one for one in code if one.function == CLEANS_BY_READING]
    if any(one.mnemonic.startswith("mrc") for one in own):
        return []
    reads = [one for one in own if one.mnemonic in READS and one.base != "pc"]
    return [Site(one.name, one.address, f"cleans by reading: {one.text}") for one in reads]


def _calls(code: list[Instruction]) -> list[Site]:
    found = []
    for one in code:
        if not one.goes_to or BOOT.match(one.name):
            continue
        callee = short(one.goes_to)
        if MAINTAINS.match(callee) and callee != one.function:
            condition = int.from_bytes(one.code, "little") & CONDITION
            instead = NOP if one.returns else condition | MOV_PC_LR
            found.append(Site(one.name, one.address, f"calls {callee}", instead))
    return found


def _code(kernel: Path) -> list[Instruction]:
    """All instructions of the kernel's, but for where it begins."""
    return [one for one in disassembly.instructions(kernel) if one.function != "boot_start"]
