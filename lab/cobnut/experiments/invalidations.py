# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's invalidations, from its disassembly: what `sanitize/stress` has to execute and `sanitize/mutations`
removes.
"""

import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from cobnut import disassembly
from cobnut.disassembly import Instruction, short
from cobnut.elf import Executable
from cobnut.errors import CobnutError
from cobnut.findings import Findings

PAGING = {"cr3", "cr4"}  # registers: what writes them drops translations
NOP, RET = 0x90, 0xC3
UNRELOCATED = "unrelocated."  # how the names of mutants begin that do not remove the invalidation itself
UNCALLED = "uncalled."
# code below it runs before paging is on, when nothing can be cached
KERNEL_BASE = 0xF000_0000
# stores elsewhere are to pages that were page tables once
OWNERS = re.compile(r"hosts::|clean_host|small_space::|page_tables::")
# before the first user runs: what it clears are the boot's own entries
BOOT = re.compile(r"boot_|\w+::initialise")
# it is called for the kernel's own mapping, not for the invalidation that comes with it
MAPS = re.compile(r"page_tables::map_fixed")


@dataclass(frozen=True)
class Site:
    """An instruction of the kernel's, and what it is there for.

    `leaves`: a jump to another function in place of a call and a return.
    """

    name: str
    address: int
    length: int
    text: str
    leaves: bool = False


@dataclass(frozen=True)
class Seen:
    """How often the unchanged kernel executed an instruction, how often it dropped anything, and anything stale."""

    cpu: str
    executed: int
    effective: int
    needed: int


@dataclass(frozen=True)
class Mutant:
    """A kernel without `site`, and what the whole kernel did there."""

    name: str
    site: Site
    seen: Seen

    @property
    def called(self) -> bool:
        """A call of what invalidates."""
        return self.name.startswith(UNCALLED)


def code_of(kernel: Path) -> list[Instruction]:
    """The kernel's code that runs with paging."""
    return [one for one in disassembly.instructions(kernel) if one.address >= KERNEL_BASE]


def flushes(code: list[Instruction]) -> list[Site]:
    """Every `invlpg` and every write of CR3 or CR4, but for those before paging is on."""
    return [_site(one, one.text) for one in code if one.mnemonic == "invlpg" or one.writes & PAGING]


def relocations(code: list[Instruction]) -> list[Site]:
    """The additions right before an `invlpg`: they make the processor's address of a small space's page."""
    return [
        _site(before, "adds the slot's base for invlpg")
        for before, one in itertools.pairwise(code)
        if one.mnemonic == "invlpg" and before.mnemonic == "addl" and before.writes
    ]


def erasures(code: list[Instruction], baselines: list[Findings]) -> list[Site]:
    """The stores that were seen to clear directory entries or global bits in the code that owns page tables."""
    stores = {
        erasure.instruction: "clears a directory entry" if erasure.directory_entries else "clears global"
        for baseline in baselines
        for erasure in baseline.erasures
    }
    return [
        _site(one, stores[one.address])
        for one in code
        if one.address in stores and OWNERS.match(one.name) and not BOOT.match(one.name)
    ]


def calls(code: list[Instruction], sites: list[Site]) -> list[Site]:
    """The calls of each function that has one of `sites`, or that passes them on in the code that owns page tables."""
    found = [
        (one, short(one.goes_to))
        for one in code
        if one.goes_to and OWNERS.match(one.goes_to) and not BOOT.match(one.name)
    ]
    invalidate = {function_of(site) for site in sites if not MAPS.match(site.name)}
    while (
        more := {one.function for one, callee in found if callee in invalidate and OWNERS.match(one.name)} - invalidate
    ):
        invalidate |= more
    return [
        _site(one, f"calls {callee}", not one.returns)
        for one, callee in found
        if callee in invalidate and callee != one.function
    ]


def function_of(site: Site) -> str:
    """The function that it belongs to."""
    return site.name.rpartition("+")[0]


def observe(site: Site, baselines: dict[str, Findings]) -> Seen:
    """What became of `site` on the first processor on which it was needed, or else executed."""
    seen = [_seen(site, cpu, findings) for cpu, findings in baselines.items()]
    return next((one for one in seen if one.needed), next((one for one in seen if one.executed), seen[0]))


def derive(code: list[Instruction], baselines: dict[str, Findings]) -> list[Mutant]:
    """Everything that invalidates, takes away or relocates, in the order of addresses."""
    removed = [*flushes(code), *erasures(code, list(baselines.values()))]
    mutants = [Mutant(site.name, site, observe(site, baselines)) for site in removed]
    flushed = {site.address: site for site in removed}
    for site in relocations(code):
        follows = flushed[site.address + site.length]
        mutants.append(Mutant(UNRELOCATED + site.name, site, observe(follows, baselines)))
    nothing = Seen(next(iter(baselines)), 0, 0, 0)
    mutants += [Mutant(UNCALLED + site.name, site, nothing) for site in calls(code, removed)]
    return sorted(mutants, key=lambda mutant: mutant.site.address)


def without(image: bytes, site: Site) -> bytes:
    """The kernel's file with the instruction replaced by nops of the same length, or by a return and nops."""
    instead = (bytes([RET]) if site.leaves else b"").ljust(site.length, bytes([NOP]))
    for one in Executable(image).segments:
        if one.linear <= site.address and site.address + site.length <= one.linear + one.size:
            at = one.offset + site.address - one.linear
            return image[:at] + instead + image[at + site.length :]
    raise CobnutError(f"no bytes of the kernel at {site.address:#x}")


def _seen(site: Site, cpu: str, findings: Findings) -> Seen:
    for one in findings.invalidations:
        if one.instruction == site.address:
            return Seen(cpu, one.executed, one.effective, one.needed)
    for erasure in findings.erasures:
        if erasure.instruction == site.address:
            many = erasure.directory_entries + erasure.global_bits
            return Seen(cpu, many, many, many)
    return Seen(cpu, 0, 0, 0)


def _site(one: Instruction, text: str, leaves: bool = False) -> Site:
    return Site(one.name, one.address, len(one.code), text, leaves)
