# SPDX-License-Identifier: GPL-2.0-or-later
"""Backtraces: which words of a stack are return addresses, and what they are called."""

import pytest

from cobnut import backtrace, boards
from cobnut.emulators import kernel_message
from cobnut.symbols import Symbols

KERNEL = boards.find("pc").kernel

CALLS = {
    "relative": "e8 11 22 33 44",
    "register": "ff d0",
    "memory at a register": "ff 13",
    "absolute": "ff 15 11 22 33 f0",
    "through a table": "ff 14 85 11 22 33 f0",
    "short displacement": "ff 50 08",
    "long displacement": "ff 92 11 22 33 f0",
    "stack, short displacement": "ff 54 24 08",
}
OTHERS = {
    "nothing": "",
    "a jump": "e9 11 22 33 44",
    "an indirect jump": "ff e0",
    "push": "ff 35 11 22 33 f0",
    "no call in front": "90 90 90 90 90 90 90",
    "too short": "ff",
}


@pytest.mark.parametrize("code", CALLS.values(), ids=CALLS)
def test_a_return_address_follows_a_call(code):
    assert backtrace.is_after_call(bytes.fromhex("90 90" + code)[-7:])


@pytest.mark.parametrize("code", OTHERS.values(), ids=OTHERS)
def test_other_words_are_no_return_addresses(code):
    assert not backtrace.is_after_call(bytes.fromhex(code))


def console_of(*stack: int, at: int) -> str:
    lines = ["Cobnut: hello", " thread 000c8001 space f0500000 ip 00300000 sp 00301000"]
    lines += [f" stack {word:08x}" for word in stack]
    return "\n".join([*lines, f"cobnut: kernel fault 14 error 2 at {at:08x} cr2 00000000", ""])


def return_address(symbols: Symbols, function: str) -> int:
    """Behind the first relative call in `function`."""
    (start,) = [address for name, address in symbols.addresses.items() if function in name]
    code = KERNEL.read_bytes()[symbols.offset(start) :]
    return start + next(n for n in range(5, 200) if code[n - 5] == 0xE8 and code[n - 1] in (0xFF, 0x00))


def test_callers_get_names_and_lines_and_other_words_go():
    symbols = Symbols(KERNEL)
    caller = return_address(symbols, "14thread_control")
    console = console_of(symbols.address("boot_main"), caller, 0xF0000004, at=symbols.address("sysenter_fast"))
    lines = backtrace.lines(console, KERNEL)
    assert lines[0] == "backtrace:" and "kernel/ia32/fastpath.S:" in lines[1]
    assert f"  {caller:08x} " in lines[2] and "kernel/core/thread_control.cpp:" in lines[2]
    assert "thread_control" in "".join(lines[2:])
    assert all(line.startswith(f"  {caller:08x} ") for line in lines[2:]), "what is no return address is left out"
    shown = backtrace.with_names(console, KERNEL)
    assert " stack " not in shown and shown.startswith("Cobnut: hello\n thread ")
    assert kernel_message(shown).startswith("kernel fault 14"), "still the last words"


def test_a_console_without_a_fault_stays_as_it_is():
    console = "Cobnut: hello\n stack f0100000\ncobnut: too little memory\n"
    assert backtrace.with_names(console, KERNEL) == console and backtrace.lines(console, KERNEL) == []


def test_a_kernel_without_names_stays_silent(tmp_path):
    foreign = tmp_path / "bzImage"
    foreign.write_bytes(b"not an ELF file")
    assert backtrace.lines(console_of(0xF0100000, at=0xF0100000), foreign) == []
