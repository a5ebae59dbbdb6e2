# SPDX-License-Identifier: GPL-2.0-or-later
"""What an ARM kernel does for its TLBs and virtual caches, from its disassembly: what `sanitize/mutations` removes
there.

Sites are: the operations of coprocessor 15 on TLBs and caches; on the SA-1110 the reads that clean its cache; the calls
of the functions that are there for such operations; and the marks by which the kernel with tags knows what may be dirty
or stale.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut.errors import CobnutError
from cobnut.modules import ELF_HEADER, PROGRAM_HEADER, PT_LOAD

FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
# mcr on c7 and c8, and the ARM926's test operations; waiting for an interrupt (c0, 4) is none
OPERATION = re.compile(r"mcr\S*\s+15, 0, \w+, cr(?:8, |7, cr(?!0, ))|mrc\S*\s+15, 0, APSR_nzcv, cr7, ")
CALL = re.compile(r"(bl|b)(eq|ne|cs|cc|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|)\s+[0-9a-f]+ <([^+>]*)>$")
# functions that are called for this and nothing else
MAINTAINS = re.compile(
    r"caches::(?!wait)|host::(flush_caches|drop_lines|drop_translation)$|page_tables::(clean_lines|invalidate)$"
    r"|\w*::?(purge|forget)_\w+$"
)
# before the first user runs; and what only an idle processor does
BOOT = re.compile(r"boot_|\w+::initialise|loader::|page_tables::cache_window")
CLEANS_BY_READING = "caches::clean_and_invalidate_data"
READ = re.compile(r"ldr(b|h|sb)?\s+\w+, \[(?!pc)")
# what the kernel with tags notes for later: who has run, and whose lines a section may have. A count of flushes is no
# such note: without it more is cleaned, not less
NOTES = {"processor": "PROCESSOR_RAN", "host::section": None}
# the like in structures that have no fixed place, by the source line of the store
FIELD = re.compile(r"\b(dirty_ \|=|lines_since =) ")
STORE = re.compile(r"str(b|h)?\w*\s")
NOP, MOV_PC_LR, CMP_R0_R0 = 0xE1A00000, 0x01A0F00E, 0xE1500000
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
    found = [one for one in _code(kernel) if OPERATION.match(one.text)]
    return [Site(one.name, one.address, one.text, _without_operation(one)) for one in found]


def marks(kernel: Path, stores: list[dict]) -> list[Site]:
    """The instructions of the `stores` that a run has noted."""
    code = {one.address: one for one in _code(kernel)}
    noted = [code[int(store["instruction"], 16)] for store in stores]
    return [Site(one.name, one.address, f"marks: {one.text}") for one in noted if not BOOT.match(one.name)]


def notes(kernel: Path, offsets: Path) -> list[tuple[int, int]]:
    """Addresses and sizes of what NOTES names, as far as this kernel has it. `offsets`: the header that its build has
    made.
    """
    places = dict(re.findall(r"#define (\w+) (\d+)", offsets.read_text()))
    found = []
    for line in _output(["nm", "-SC"], kernel):
        match = re.match(r"([0-9a-f]+) (?:([0-9a-f]+) )?[bBdD] (.*)$", line)
        name = match[3].replace("(anonymous namespace)::", "") if match else None
        if match and name in NOTES:
            offset = NOTES[name]
            if offset is None:
                found.append((int(match[1], 16), int(match[2] or "4", 16)))
            elif offset in places:
                found.append((int(match[1], 16) + int(places[offset]), WORD))
    return found


def without(kernel: Path, image: bytes, site: Site) -> bytes:
    """The plain `image` of the executable `kernel` with another word at `site`."""
    data = kernel.read_bytes()
    header = ELF_HEADER.unpack_from(data)
    loaded = [PROGRAM_HEADER.unpack_from(data, header[5] + index * header[9]) for index in range(header[10])]
    loaded = [segment for segment in loaded if segment[0] == PT_LOAD and segment[4]]
    start = min(segment[3] for segment in loaded)
    for _, _, virtual, physical, size, *_ in loaded:
        if virtual <= site.address < virtual + size:
            at = physical - start + site.address - virtual
            return image[:at] + site.instead.to_bytes(WORD, "little") + image[at + WORD :]
    raise CobnutError(f"no bytes of the kernel at {site.address:#x}")


def _stores_to_fields(kernel: Path, code: list[Site]) -> list[Site]:
    """The stores to what FIELD names; none where the kernel was built without its source lines."""
    stores = [one for one in code if STORE.match(one.text)]
    asked = "\n".join(f"{one.address:#x}" for one in stores)
    said = _output(["addr2line", "-e"], kernel, asked)
    return [
        Site(one.name, one.address, f"marks: {one.text}")
        for one, at in zip(stores, said, strict=True)
        if FIELD.search(_source(at))
    ]


def _source(place: str) -> str:
    """The line of source code at FILE:LINE, and what else addr2line says of it."""
    match = re.match(r"(.*):(\d+)", place)
    if not match or not Path(match[1]).is_file():
        return ""
    return Path(match[1]).read_text().splitlines()[int(match[2]) - 1]


def _without_operation(site: Site) -> int:
    # a loop around the test for dirty lines ends when none is left
    return CMP_R0_R0 if site.text.startswith("mrc") else NOP


def _cleaning_reads(code: list[Site]) -> list[Site]:
    """The read by which a cache is cleaned that has no operation for it."""
    own = [one for one in code if _function(one) == CLEANS_BY_READING]
    if any(one.text.startswith("mrc") for one in own):
        return []
    return [Site(one.name, one.address, f"cleans by reading: {one.text}") for one in own if READ.match(one.text)]


def _calls(code: list[Site]) -> list[Site]:
    found = []
    for one in code:
        call = CALL.match(one.text)
        if not call or BOOT.match(one.name):
            continue
        callee = _short(call[3])
        if MAINTAINS.match(callee) and callee != _function(one):
            condition = one_condition(call[2])
            instead = NOP if call[1] == "bl" else condition << 28 | MOV_PC_LR
            found.append(Site(one.name, one.address, f"calls {callee}", instead))
    return found


def one_condition(name: str) -> int:
    """The condition field of an instruction whose name ends so."""
    names = ("eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "")
    return names.index({"hs": "cs", "lo": "cc"}.get(name, name))


def _function(site: Site) -> str:
    return site.name.rpartition("+")[0]


def _short(function: str) -> str:
    """Its name without parameters."""
    return re.sub(r"\(.*", "", function.replace("(anonymous namespace)::", ""))


def _code(kernel: Path) -> list[Site]:
    """All instructions of the kernel's."""
    return list(_instructions(_output(["objdump", "-dC", "-w"], kernel)))


def _output(tool: list[str], kernel: Path, asked: str = "") -> list[str]:
    command = [f"arm-none-eabi-{tool[0]}", *tool[1:], str(kernel)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CobnutError(f"{tool[0]} cannot read {kernel}")
    return done.stdout.splitlines()


def _instructions(listing: list[str]) -> Iterator[Site]:
    function, start = "", 0
    for line in listing:
        head = FUNCTION.match(line)
        if head:
            start, function = int(head.group(1), 16), _short(head.group(2))
            continue
        parts = line.rstrip().split("\t")
        if len(parts) >= 3 and function != "boot_start":
            address = int(parts[0].strip(" :"), 16)
            text = re.sub(r"\s*[;@].*", "", " ".join(parts[2:]))
            yield Site(f"{function}+{address - start:#x}", address, " ".join(text.split()))
