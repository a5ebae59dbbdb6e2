# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's invalidations, from its disassembly: what `sanitize/stress` has to execute and `sanitize/mutations`
removes.
"""

import itertools
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut.errors import CobnutError
from cobnut.sanitizing import Findings

INVALIDATES = re.compile(r"(invlpg\s.*|mov\s+%\w+,%cr[34])$")
RELOCATES = re.compile(r"add\s.*,%\w+$")
FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
# code below it runs before paging is on, when nothing can be cached
KERNEL_BASE = 0xF000_0000
# stores elsewhere are to pages that were page tables once
OWNERS = re.compile(r"hosts::|clean_host|small_space::|page_tables::")
# before the first user runs: what it clears are the boot's own entries
BOOT = re.compile(r"boot_|\w+::initialise")
# what it is called for is the kernel's own mapping, not the invalidation that comes with it
MAPS = re.compile(r"page_tables::map_fixed")
CALLS = re.compile(r"(call|jmp)\s+[0-9a-f]+ <([^+>]*)>$")


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


def disassembly(kernel: Path) -> list[str]:
    """The kernel's code, a line each."""
    done = subprocess.run(["objdump", "-dC", "-w", str(kernel)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CobnutError(f"objdump cannot read {kernel}")
    return done.stdout.splitlines()


def flushes(listing: list[str]) -> list[Site]:
    """Every `invlpg` and every write of CR3 or CR4, but for those before paging is on."""
    return [site for site in _instructions(listing) if INVALIDATES.match(site.text)]


def relocations(listing: list[str]) -> list[Site]:
    """The additions right before an `invlpg`: they make the processor's address of a small space's page."""
    code = list(_instructions(listing))
    return [
        Site(before.name, before.address, before.length, "adds the slot's base for invlpg")
        for before, site in itertools.pairwise(code)
        if site.text.startswith("invlpg") and RELOCATES.match(before.text)
    ]


def erasures(listing: list[str], baselines: list[Findings]) -> list[Site]:
    """The stores that were seen to clear directory entries or global bits in the code that owns page tables."""
    stores = {
        int(erasure["instruction"], 16): "clears a directory entry" if erasure["directory_entries"] else "clears global"
        for baseline in baselines
        for erasure in baseline.erasures
    }
    return [
        Site(site.name, site.address, site.length, stores[site.address])
        for site in _instructions(listing)
        if site.address in stores and OWNERS.match(site.name) and not BOOT.match(site.name)
    ]


def calls(listing: list[str], sites: list[Site]) -> list[Site]:
    """The calls of each function that has one of `sites`, or that passes them on in the code that owns page tables."""
    found = [(site, CALLS.match(site.text)) for site in _instructions(listing) if not BOOT.match(site.name)]
    code = [(site, _short(call[2]), call[1] == "jmp") for site, call in found if call and OWNERS.match(call[2])]
    invalidate = {function_of(site) for site in sites if not MAPS.match(site.name)}
    while (
        more := {function_of(site) for site, callee, _ in code if callee in invalidate and OWNERS.match(site.name)}
        - invalidate
    ):
        invalidate |= more
    return [
        Site(site.name, site.address, site.length, f"calls {callee}", leaves)
        for site, callee, leaves in code
        if callee in invalidate and callee != function_of(site)
    ]


def function_of(site: Site) -> str:
    """The function that it belongs to."""
    return site.name.rpartition("+")[0]


def observe(site: Site, baselines: dict[str, Findings]) -> Seen:
    """What became of `site` on the first processor on which it was needed, or else executed."""
    seen = [_seen(site, cpu, findings) for cpu, findings in baselines.items()]
    return next((one for one in seen if one.needed), next((one for one in seen if one.executed), seen[0]))


def _seen(site: Site, cpu: str, findings: Findings) -> Seen:
    for one in findings.invalidations:
        if int(one["instruction"], 16) == site.address:
            return Seen(cpu, one["executed"], one["effective"], one["needed"])
    for one in findings.erasures:
        if int(one["instruction"], 16) == site.address:
            many = one["directory_entries"] + one["global_bits"]
            return Seen(cpu, many, many, many)
    return Seen(cpu, 0, 0, 0)


def _short(function: str) -> str:
    """Its name without parameters."""
    return re.sub(r"\(.*", "", function.replace("(anonymous namespace)::", ""))


def _instructions(listing: list[str]) -> Iterator[Site]:
    function, start = "", 0
    for line in listing:
        head = FUNCTION.match(line)
        if head:
            start, function = int(head.group(1), 16), _short(head.group(2))
            continue
        parts = line.rstrip().split("\t")
        if len(parts) < 3:
            continue
        address = int(parts[0].strip(" :"), 16)
        if address >= KERNEL_BASE:
            text = " ".join(parts[2].split())
            yield Site(f"{function}+{address - start:#x}", address, len(parts[1].split()), text)
