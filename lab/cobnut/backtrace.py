# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel says when it stops for a fault of its own (kernel/ia32/panic.cpp), with names: where it was, and who
called.

The kernel has no names and prints every word of its stack that could be a return address. One that is has a call before
it.
"""

import re
from pathlib import Path

from cobnut.errors import CobnutError
from cobnut.symbols import Symbols, places

STACK = re.compile(r"^ stack ([0-9a-f]{8})$", re.MULTILINE)
LAST_WORDS = re.compile(r"^cobnut: kernel fault \d+ .* at ([0-9a-f]{8}) ", re.MULTILINE)
LONGEST_CALL = 7  # bytes: opcode, ModRM, SIB, displacement


def lines(console: str, kernel: Path) -> list[str]:
    """The backtrace in what the kernel in the file `kernel` wrote to the console, innermost first; empty if there is
    none.
    """
    end = LAST_WORDS.search(console)
    if not end:
        return []
    try:
        symbols = Symbols(kernel)
    except CobnutError:
        return []  # a kernel without names
    fault = int(end.group(1), 16)
    words = [int(word, 16) for word in STACK.findall(console, 0, end.start())]
    returns = [word for word in words if is_after_call(symbols.code_before(word, LONGEST_CALL))]
    # what was called is known by the call, which is what lies before the return address
    found = [(fault, fault)] + [(word, word - 1) for word in returns]
    return ["backtrace:", *(f"  {shown:08x} {text}" for shown, at in found for text in _places(symbols, at))]


def with_names(console: str, kernel: Path) -> str:
    """`console` with the backtrace in the place of the kernel's stack, if it holds one."""
    named = lines(console, kernel)
    if not named:
        return console
    last = LAST_WORDS.search(console)
    assert last is not None
    before = STACK.sub("", console[: last.start()]).rstrip("\n")
    return "\n".join([before, *named, console[last.start() :]])


def is_after_call(code: bytes) -> bool:
    """Whether `code` ends with a call instruction: E8 with a displacement, or FF /2 with its operand (processor manual,
    CALL).
    """
    if len(code) >= 5 and code[-5] == 0xE8:
        return True
    return any(
        len(code) >= length and code[-length] == 0xFF and _operand_bytes(code[-length + 1 :]) == length - 1
        for length in range(2, LONGEST_CALL + 1)
    )


def _operand_bytes(operand: bytes) -> int | None:
    """The bytes of ModRM, SIB and displacement of FF /2, None if it is another instruction."""
    modrm = operand[0]
    mode, opcode, base = modrm >> 6, modrm >> 3 & 7, modrm & 7
    if opcode != 2:
        return None
    if mode == 3:
        return 1
    size = 1
    if base == 4:
        if len(operand) < 2:
            return None
        size, base = 2, operand[1] & 7
    if mode == 0:
        return size + (4 if base == 5 else 0)
    return size + (1 if mode == 1 else 4)


def _places(symbols: Symbols, address: int) -> list[str]:
    """Function, file and line of the code at `address`; what is inlined there comes before what it is inlined in."""
    return places(symbols.path, address) or [symbols.function_at(address) or "not in the kernel's code"]
