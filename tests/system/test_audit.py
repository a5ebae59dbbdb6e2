# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's audit (core/books.cpp) compares what keeps spaces apart with their slots: gdb breaks one thing, the
audit names it.
"""

import pytest

from conftest import run_cobnut

# At the audit of the test isolation.audited: a large space runs, others are small, one of them is bound to another
# space.
BROKEN = """
gdb.execute("break books::audit")
gdb.execute("continue", to_string=True)
spaces = list(all_spaces())
runs = next(space for space in spaces if address_of(space) == int(gdb.parse_and_eval(f"((Thread*){current()})->space")))
leader = lambda space: int(space["arch"]["slots"]["leader"])
small = next(space for space in spaces if int(space["arch"]["slot"]["size"]) and not leader(space))
bound = next(space for space in spaces if leader(space))
place = lambda space: f"((Space*){address_of(space)})->arch"
gdb.execute("set var " + BREAK)
gdb.execute("delete")
gdb.execute("continue")
"""

PAST, HOST, COPIES = (
    "a segment reaches past its space",
    "a space is in a wrong host",
    "a host has stale copies",
)


# The kernel's own directory has a copy of what is gone; then 2^32 slots are revoked, of which two
# are where the count is half-way. gdb's own call does not know that an argument is in a register.
MISSED = """
def call(function, argument):
    held = {name: int(gdb.parse_and_eval(f"(unsigned)${name}")) for name in
        ("eax", "ecx", "edx", "ebx", "esi", "edi", "ebp", "esp", "eip")}
    gdb.execute("set var $esp -= 4, *(unsigned*)$esp = $eip")
    gdb.execute(f"set var $eax = (unsigned)&{argument}, $eip = (unsigned)&{function}")
    gdb.execute(f"tbreak *{held['eip']}")
    gdb.execute("continue", to_string=True)
    assert all(int(gdb.parse_and_eval(f"(unsigned)${name}")) == held[name] for name in ("esp", "eip"))
    gdb.execute("set var " + ", ".join(f"${name} = {value}" for name, value in held.items()))

before = int(gdb.parse_and_eval("hosts::revocations"))
area = int(gdb.parse_and_eval(f"{place(small)}.slot.base")) >> 22
gdb.execute("set var hosts::kernel.clean = hosts::revocations")
gdb.execute(f"set var ((PageTable*)&boot_directory)->entry[{area}] = 0x5000007")
for half in (0x7fffffff, 0xffffffff):
    gdb.execute(f"set var hosts::revocations = {half}")
    call("hosts::clear_all_copies", f"{place(small)}.slot")
gdb.execute(f"set var hosts::revocations = {before}, processor.host->clean = {before}")
"""


def test_a_host_that_misses_each_number_of_revocations_is_not_clean(tmp_path):
    script = tmp_path / "missed.py"
    script.write_text(BROKEN.replace('gdb.execute("set var " + BREAK)\n', MISSED))
    done = run_cobnut("boot", "--gdb", "--ex", f"source {script}", "--root", "x2test filter=isolation.audited")
    assert "x2test: 1 passed, 0 failed" in done.stdout, done.stdout[-2000:] + done.stderr


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("f'{place(small)}.segment_low |= 0xffff'", PAST),
        ("f'{place(small)}.segment_high += 0x10'", PAST),
        ("f'{place(bound)}.slot.base += 0x100000'", PAST),
        ("'gdt.entry[3].high |= 0xf0000'", PAST),
        ("'gdt.entry[4].high |= 0xf0000'", PAST),
        ("f'gdt.entry[7].low = 0xffff, gdt.entry[7].high = 0xcff300'", PAST),
        ("f'{place(small)}.host = &{place(runs)}.own'", HOST),
        ("f'{place(bound)}.host = 0'", HOST),
        ("f'{place(bound)}.free_switches = 1'", HOST),
        ("f'{place(runs)}.host = 0'", HOST),
        ("f'{place(small)}.slot.size = 0'", COPIES),
        ("f'{place(small)}.directory = {place(runs)}.directory'", COPIES),
    ],
)
def test_what_is_broken_is_named(tmp_path, broken, said):
    script = tmp_path / "broken.py"
    script.write_text(BROKEN.replace("BREAK", broken))
    done = run_cobnut("boot", "--gdb", "--ex", f"source {script}", "--root", "x2test filter=isolation.audited")
    assert f"books: {said} (" in done.stdout, done.stdout[-2000:] + done.stderr
