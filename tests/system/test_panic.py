# SPDX-License-Identifier: GPL-2.0-or-later
"""A fault of the kernel's own: what it says, and the backtrace that the command makes of it.

No such fault is known, so an instruction of a copy of the kernel is replaced by one that faults.
"""

import json
import re

import pytest

import guests
import trace_format
from cobnut import tracing
from cobnut.emulators import Boot
from cobnut.symbols import Symbols
from conftest import run_cobnut

UD2 = b"\x0f\x0b"
VICTIM, CALLER = "14thread_controlE", "thread_control_registers"  # mangled: as the file has it


def broken_kernel(folder, victim, code=UD2):
    """A copy of the kernel with `code` at the start of the function `victim`."""
    symbols = Symbols(guests.PC.kernel)
    (address,) = [value for name, value in symbols.addresses.items() if victim in name]
    data = bytearray(guests.PC.kernel.read_bytes())
    at = symbols.offset(address)
    data[at : at + len(code)] = code
    kernel = folder / "broken-kernel"
    kernel.write_bytes(data)
    return kernel


def stopped(kernel, on=guests.USUAL):
    outcome = guests.run(
        Boot(kernel, (guests.program("sigma0"), guests.program("root", "off=1"), guests.program("hello")), "", on.cpu),
        on,
    )
    assert outcome.code in (1, None)
    return outcome.console


@pytest.mark.parametrize("on", [*guests.QEMU[::3], guests.BOCHS[-1]], ids=str)
def test_a_kernel_fault_says_where_and_who(tmp_path, on):
    console = stopped(broken_kernel(tmp_path, VICTIM), on)
    assert re.search(r"^cobnut: kernel fault 6 error 0 at [0-9a-f]{8} cr2 [0-9a-f]{8}$", console, re.MULTILINE)
    root = 50 << 14 | 1
    assert re.search(rf"^ thread {root:08x} space f[0-9a-f]{{7}} ip [0-9a-f]{{8}} sp ", console, re.MULTILINE)
    frames = console.split("backtrace:\n", 1)[1].splitlines()
    assert re.search(
        r"^  [0-9a-f]{8} system_calls::thread_control\(.* at kernel/core/thread_control.cpp:\d+$", frames[0]
    )
    assert re.search(rf"^  [0-9a-f]{{8}} .*{CALLER}\(Thread&\) at kernel/ia32/system_calls.cpp:\d+$", frames[1])
    assert " stack " not in console, "what is no return address is gone"


def test_the_registers_are_those_of_the_fault(tmp_path):
    move = b"\xb8\x78\x56\x34\x12" + b"\xbd\x21\x43\x65\x87" + UD2  # EAX, EBP
    console = stopped(broken_kernel(tmp_path, VICTIM, move))
    assert " eax 12345678 " in console and " ebp 87654321 " in console


def test_a_fault_without_a_stack_is_a_double_fault_with_a_backtrace(tmp_path):
    no_stack = b"\x31\xe4\x50"  # xor %esp, %esp; push %eax
    console = stopped(broken_kernel(tmp_path, VICTIM, no_stack))
    assert "cobnut: kernel fault 8 " in console and " esp 00000000 " in console
    assert "thread_control(" in console.split("backtrace:\n", 1)[1].splitlines()[0]


def test_boot_shows_the_backtrace(tmp_path):
    kernel = broken_kernel(tmp_path, VICTIM)
    images = [f"--image={kernel}", f"--image={guests.PC.program('sigma0')}", f"--image={guests.PC.program('root')}"]
    done = run_cobnut("boot", *images, f"--image={guests.PC.program('hello')}")
    assert done.returncode == 2 and "the kernel stopped: kernel fault 6" in done.stderr
    assert CALLER in done.stdout.split("backtrace:\n", 1)[1]


def test_the_trace_of_a_kernel_that_stopped_is_there(tmp_path):
    out = tmp_path / "trace.json"
    modules = tuple(guests.program(*words) for words in (("sigma0",), ("root", "off=1"), ("hello",)))
    done = tracing.run(Boot(broken_kernel(tmp_path, VICTIM), modules, "trace=64"), out)
    assert "kernel fault 6" in str(done.failure)
    last = done.trace.records[-1]
    assert (last.event, last.thread) == ("switched", 50 << 14 | 1), "to root, which then calls ThreadControl"
    trace_format.check(json.loads(out.read_text()))


def test_a_fault_in_the_fast_path_has_no_stack_to_show(tmp_path):
    console = stopped(broken_kernel(tmp_path, "receives_sysenter"))
    sigma0 = 48 << 14 | 1
    assert re.search(rf"^ thread {sigma0:08x} space f[0-9a-f]{{7}} ip 0002", console, re.MULTILINE), (
        "sigma0 answers first"
    )
    frames = console.split("backtrace:\n", 1)[1].splitlines()
    assert "sysenter_fast" in frames[0] or "receives_sysenter" in frames[0]
    assert "kernel/ia32/fastpath.S:" in frames[0]
