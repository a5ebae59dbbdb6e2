# SPDX-License-Identifier: GPL-2.0-or-later
"""A non-maskable interrupt may come at every instruction of the paths of reflected calls, of page faults, and of their
answers.
"""

import pytest

from conftest import run_cobnut

# QEMU lets interrupts in while one instruction is executed, or not
LET_IN, KEEP_OUT = "maintenance packet Qqemu.sstep=0x1", "maintenance packet Qqemu.sstep=0x7"
# into its entry, back, and on by one
AT_ONE = f'("{LET_IN}", "monitor nmi", "stepi", "{KEEP_OUT}", "stepi", "stepi")'


# what gdb shows of the end of its entry
RETURN = "        iret\n"


def interrupted(break_at: tuple[str, ...], instructions: int, program: str) -> None:
    step = f"python for i in range({instructions}): [gdb.execute(c) for c in {AT_ONE}]"
    stops = (command for place in break_at for command in (f"tbreak *(char*)&{place}", "continue"))
    done = run_cobnut(
        *("boot", "--gdb", "--append", "small=512", "--root", f"x2test filter={program}"),
        *(word for command in (*stops, step, "continue") for word in ("--ex", command)),
    )
    assert done.stdout.count(RETURN) >= instructions, done.stdout[-3000:]
    assert "x2test: 1 passed, 0 failed" in done.stdout, done.stdout[-3000:]


@pytest.mark.parametrize(("start", "instructions"), [("reflect", 90), ("answer", 60), ("tls_loaded", 8)])
def test_nothing_is_lost_to_interrupts_that_cannot_be_masked(start, instructions):
    first = ("reflect", "tls_loaded") if start != "reflect" else ("reflect",)
    interrupted(first if start == "tls_loaded" else (*first, start), instructions, "reflected.all_registers")


def test_nothing_of_an_answer_by_sysexit_is_lost_to_them():
    interrupted(("reflect_sysenter", "answer_to_gate"), 7, "gate.quick_answers")


@pytest.mark.parametrize(("start", "instructions"), [("turn_to_pager", 50), ("faulted", 60)])
def test_nothing_of_a_page_fault_is_lost_to_them(start, instructions):
    interrupted((start,), instructions, "paged.one_page")
