# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's image: how large it is, and what it keeps apart."""

import subprocess

import guests
from cobnut import disassembly, elf

TEXT_LIMIT = (
    61_440  # bytes; another X.2 kernel (L4Ka::Pistachio) has 60,438, and lacks what keeps this one within bounds
)
PAGE = 4096


def test_text_is_small():
    printed = subprocess.run(["size", guests.PC.kernel], capture_output=True, text=True, check=True).stdout
    names, values = (line.split() for line in printed.splitlines())
    assert int(dict(zip(names, values, strict=True))["text"]) <= TEXT_LIMIT


def test_the_x87_pointers_are_the_kernels_before_a_state_is_loaded():
    # fxrstor leaves them alone on AMD's processors from K7 on, which no emulator does
    code = disassembly.instructions(guests.PC.kernel)
    loads = [place for place, one in enumerate(code) if one.mnemonic == "fxrstor"]
    assert loads and all(code[place - 1].mnemonic == "fildl" for place in loads)


def test_text_and_data_share_no_page():
    pages: dict[bool, set[int]] = {False: set(), True: set()}
    for one in elf.read(guests.PC.kernel).segments:
        pages[one.writable] |= set(range(one.linear // PAGE, (one.linear + one.room - 1) // PAGE + 1))
    assert pages[False] and pages[True]
    assert not pages[False] & pages[True]
