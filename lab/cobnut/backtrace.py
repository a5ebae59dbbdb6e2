# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel says when it stops for a fault of its own (kernel/ia32/panic.cpp), with names: where it was, and who
called.

The kernel has no names and prints every word of its stack that could be a return address. One that is has a call before
it.
"""

import re
from pathlib import Path

from cobnut.boards import IA32
from cobnut.disassembly import decode
from cobnut.errors import CobnutError
from cobnut.symbols import Symbols, places

STACK = re.compile(r"^ stack ([0-9a-f]{8})$", re.MULTILINE)
LAST_WORDS = re.compile(r"^cobnut: kernel fault \d+ .* at ([0-9a-f]{8}) ", re.MULTILINE)
SHORTEST_CALL, LONGEST_CALL = 2, 7  # bytes: opcode and ModRM, or with SIB and displacement


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
    """Whether `code` ends with a call instruction, whatever lies before it."""
    return any(_is_call(code[-length:]) for length in range(SHORTEST_CALL, min(len(code), LONGEST_CALL) + 1))


def _is_call(code: bytes) -> bool:
    """Whether `code` is one near call and nothing else."""
    one = next(decode(IA32, {}, 0, code), None)
    return one is not None and one.returns and one.code == code


def _places(symbols: Symbols, address: int) -> list[str]:
    """Function, file and line of the code at `address`; what is inlined there comes before what it is inlined in."""
    return places(symbols.path, address) or [symbols.function_at(address) or "not in the kernel's code"]
