# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's image: how large it is, and what it keeps apart."""

import struct
import subprocess

import guests

TEXT_LIMIT = (
    61_440  # bytes; another X.2 kernel (L4Ka::Pistachio) has 60,438, and lacks what keeps this one within bounds
)
PAGE = 4096
LOAD, WRITABLE = 1, 2  # of ELF program headers


def test_text_is_small():
    printed = subprocess.run(["size", guests.PC.kernel], capture_output=True, text=True, check=True).stdout
    names, values = (line.split() for line in printed.splitlines())
    assert int(dict(zip(names, values, strict=True))["text"]) <= TEXT_LIMIT


def test_the_x87_pointers_are_the_kernels_before_a_state_is_loaded():
    # fxrstor leaves them alone on AMD's processors from K7 on, which no emulator does
    listing = subprocess.run(
        ["objdump", "-d", guests.PC.kernel], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    loads = [number for number, line in enumerate(listing) if "fxrstor" in line]
    assert loads and all("fildl" in listing[number - 1] for number in loads)


def test_text_and_data_share_no_page():
    image = guests.PC.kernel.read_bytes()
    (table,) = struct.unpack_from("<I", image, 28)
    size, count = struct.unpack_from("<HH", image, 42)
    headers = [struct.unpack_from("<8I", image, table + size * n) for n in range(count)]
    pages: dict[bool, set[int]] = {False: set(), True: set()}
    for kind, _, address, _, _, bytes_in_memory, flags, _ in headers:
        if kind == LOAD:
            last = address + bytes_in_memory - 1
            pages[bool(flags & WRITABLE)] |= set(range(address // PAGE, last // PAGE + 1))
    assert pages[False] and pages[True]
    assert not pages[False] & pages[True]
