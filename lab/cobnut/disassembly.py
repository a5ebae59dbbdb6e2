# SPDX-License-Identifier: GPL-2.0-or-later
"""An executable's instructions, with their properties that are needed here: what they write, where they go, which
coprocessor they command. capstone is loaded when something is decoded: most commands decode nothing.
"""

import bisect
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobnut import elf
from cobnut.boards import ARM, Processor

WORD = 4  # bytes of an ARM instruction
DATA, CODE = "$d", "$a"  # where data and code begin between ARM's instructions (ELF for the Arm Architecture, 5.5.5)


@dataclass(frozen=True)
class Instruction:
    """`function` is without parameters, `text` as GNU as writes it.

    `writes`: registers that are operands and are written. `base`: the register that addresses its memory operand.
    `goes_to`: the function, with parameters, at whose beginning a direct call or jump ends; `returns`: it is a call.
    `coprocessor`: for ARM's mcr and mrc its number and the registers CRn and CRm.
    """

    function: str
    offset: int
    address: int
    code: bytes
    mnemonic: str
    text: str
    writes: frozenset[str] = frozenset()
    base: str | None = None
    goes_to: str | None = None
    returns: bool = False
    coprocessor: tuple[int, int, int] | None = None

    @property
    def name(self) -> str:
        return f"{self.function}+{self.offset:#x}"


def instructions(executable: Path) -> list[Instruction]:
    """All of an executable's, in the order of addresses."""
    file = elf.read(executable)
    functions: dict[int, str] = {}
    marks: dict[int, str] = {}
    for symbol in sorted((one for one in file.symbols if one.code), key=_rank):
        if symbol.name[:2] in (DATA, CODE):
            marks[symbol.address] = symbol.name[:2]
        else:
            functions.setdefault(symbol.address, elf.demangled(symbol.name))
            marks.setdefault(symbol.address, DATA if symbol.type == "STT_OBJECT" else CODE)
    found: list[Instruction] = []
    for section in file.code:
        edges = [section.address, *sorted(at for at in marks if section.address < at < section.end), section.end]
        for start, stop in itertools.pairwise(edges):
            if marks.get(start) != DATA:
                piece = section.data[start - section.address : stop - section.address]
                found += decode(file.processor, functions, start, piece)
    return sorted(found, key=lambda one: one.address)


def _rank(symbol: elf.Symbol) -> tuple[bool, str]:
    """Of several at one address a function names the code before a label."""
    return symbol.type != "STT_FUNC", symbol.name


def decode(processor: Processor, functions: Mapping[int, str], address: int, code: bytes) -> Iterator[Instruction]:
    """The instructions in `code`, which is of one function, at `address`; `functions` are by their beginnings."""
    starts = sorted(functions)
    index = bisect.bisect_right(starts, address) - 1
    start = starts[index] if index >= 0 else address
    function = short(functions.get(start, ""))
    decoder = _decoder(processor)
    for one in decoder.disasm(code, address):
        if one.id == 0:  # data
            continue
        text = f"{one.mnemonic} {one.op_str}".strip()
        known = (function, one.address - start, one.address, bytes(one.bytes), one.mnemonic, text)
        if processor is ARM:
            yield Instruction(*known, **_of_arm(one, functions))
        else:
            yield Instruction(*known, **_of_ia32(one, functions))


def short(function: str) -> str:
    """Its name without parameters and without what is in no namespace of a name."""
    return function.replace("(anonymous namespace)::", "").partition("(")[0]


def _decoder(processor: Processor) -> Any:
    import capstone

    if processor is ARM:
        decoder = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM)
    else:
        decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_32)
        decoder.syntax = capstone.CS_OPT_SYNTAX_ATT
    decoder.detail = decoder.skipdata = True
    return decoder


def _of_ia32(one: Any, functions: Mapping[int, str]) -> dict[str, Any]:
    from capstone import CS_AC_WRITE, x86

    registers = [op for op in one.operands if op.type == x86.X86_OP_REG]
    writes = frozenset(one.reg_name(op.reg) for op in registers if op.access & CS_AC_WRITE)
    direct = [op.imm for op in one.operands if op.type == x86.X86_OP_IMM]
    branches = one.id in (x86.X86_INS_CALL, x86.X86_INS_JMP) and direct
    goes_to = functions.get(direct[0] & 0xFFFFFFFF) if branches else None
    return {"writes": writes, "goes_to": goes_to, "returns": one.id == x86.X86_INS_CALL}


def _of_arm(one: Any, functions: Mapping[int, str]) -> dict[str, Any]:
    from capstone import arm

    found: dict[str, Any] = {}
    memory = [op for op in one.operands if op.type == arm.ARM_OP_MEM]
    if memory:
        found["base"] = one.reg_name(memory[0].mem.base)
    if one.id in (arm.ARM_INS_MCR, arm.ARM_INS_MRC):
        numbers = [op.imm for op in one.operands if op.type in (arm.ARM_OP_PIMM, arm.ARM_OP_CIMM)]
        found["coprocessor"] = tuple(numbers)
    if one.id in (arm.ARM_INS_B, arm.ARM_INS_BL):
        found["goes_to"] = functions.get(one.operands[0].imm & 0xFFFFFFFF)
        found["returns"] = one.id == arm.ARM_INS_BL
    if one.id == arm.ARM_INS_MRC:
        found["writes"] = frozenset(one.reg_name(op.reg) for op in one.operands if op.type == arm.ARM_OP_REG)
    return found
