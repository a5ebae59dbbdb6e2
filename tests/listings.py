# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up code as a disassembler lists it, read back into instructions: its bytes are decoded, its text is not."""

import re

from cobnut import disassembly
from cobnut.boards import ARM, IA32
from cobnut.disassembly import Instruction

HEAD = re.compile(r"^([0-9a-f]+) <(.*)>:$")
LINE = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(.*)$")
TO = re.compile(r"[0-9a-f]{8} <(.*)>$")


def instructions(listing: list[str]) -> list[Instruction]:
    """What `listing` has. Calls and jumps go to the functions that they name, whatever their bytes say."""
    starts = {head[2]: int(head[1], 16) for head in map(HEAD.match, listing) if head}
    found: list[Instruction] = []
    function = ""
    for line in listing:
        if head := HEAD.match(line):
            function = head[2]
        elif part := LINE.match(line):
            address, ia32 = int(part[1], 16), " " in part[2].strip()
            code = bytes.fromhex(part[2]) if ia32 else int(part[2], 16).to_bytes(4, "little")
            to = TO.search(part[3])
            functions = {starts[function]: function}
            if to:
                there = starts.get(to[1], 0xFFFA_0000)
                functions[there] = to[1]
                code = _to(code, there - address, ia32)
            found += disassembly.decode(IA32 if ia32 else ARM, functions, address, code)
    return found


def _to(code: bytes, distance: int, ia32: bool) -> bytes:
    """The call or jump to what is so far away."""
    if ia32:
        return code[:1] + ((distance - len(code)) & 0xFFFFFFFF).to_bytes(4, "little")
    return ((distance - 8 >> 2) & 0xFFFFFF).to_bytes(3, "little") + code[3:]
