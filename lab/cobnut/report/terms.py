# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report's short names stand for. A report lists those that it uses."""

import html
import re
from collections.abc import Mapping

PAPERS = {
    "L93": "Liedtke: Improving IPC by Kernel Design, SOSP 1993",
    "L95": "Liedtke: Improved Address-Space Switching on Pentium Processors, GMD TR 933, 1995",
    "H97": "Haertig, Hohmuth, Liedtke, Schoenberg, Wolter: The Performance of Micro-Kernel-Based Systems, SOSP 1997",
    "U02": (
        "Uhlig, Dannowski, Skoglund, Haeberlen, Heiser: Performance of Address-Space Multiplexing on the Pentium, 2002"
    ),
    "W03": (
        "Wiggins, Tuch, Uhlig, Heiser: Implementation of Fast Address-Space Switching and TLB Sharing on the StrongARM"
        " Processor, ACSAC 2003"
    ),
}
TERMS = {
    "CR3": "IA-32: the register that holds the page directory in force; writing it flushes the TLBs",
    "DTLB": "the TLB for data accesses",
    "GDT": "IA-32: global descriptor table, which defines segments",
    "IPC": "inter-process communication: a message from one thread to another, here the kernel's",
    "ITLB": "the TLB for instruction fetches",
    "KIP": "kernel interface page: what the kernel tells every space about itself",
    "MMU": "memory management unit: what translates addresses",
    "PID": "ARM: process id register, which moves addresses below 32 MB to one of the slots",
    "TCG": "QEMU's translator from guest code to host code",
    "TLB": "translation lookaside buffer: the processor's cache of page-table entries",
    "UTCB": "user-level thread control block: where a thread has its message registers",
    "fast path": "the assembly code that completes an IPC without entering the kernel's C++",
    "flush": "to drop all entries of a TLB or a cache",
    "large space": "a space with a page directory of its own, without a slot",
    "one way": "one IPC; a round trip consists of two",
    "round trip": "a call and its answer: two IPCs",
    "small space": "a space in a slot: a range of addresses that many spaces share, behind segments",
    "standard kernel": "the same kernel built without tags: it flushes at every switch of spaces",
    "stub": "the code in the kernel interface page that a program calls to enter the kernel",
    "trampoline": "IA-32: the instructions behind sysexit that load the user's own segments",
    "us": "microseconds",
    "working set": "the memory that a program uses again and again",
}


def used(text: str, sources: Mapping[str, str]) -> list[tuple[str, str]]:
    """The short names that occur in a page's body, with what they stand for; `sources` adds those of the machine."""
    known = {**PAPERS, **TERMS, **sources}
    words = html.unescape(re.sub(r"<[^>]*>", " ", text))
    while True:
        found = {name for name in known if re.search(rf"(?<![\w.]){re.escape(name)}(?:e?s)?(?!\w)", words)}
        more = " ".join(known[name] for name in sorted(found))  # what explains one may need another
        if more in words:
            break
        words += f" {more}"
    return [(name, known[name]) for name in sorted(found, key=str.casefold)]
