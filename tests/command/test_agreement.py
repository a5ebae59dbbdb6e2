# SPDX-License-Identifier: GPL-2.0-or-later
"""Two emulators' accounts of one guest: what is the same, what has a reason, and what has none. No emulator runs
here.
"""

import pytest

from cobnut import agreement
from cobnut.emulators import bochs_trace
from cobnut.experiments import limit_faults

# a system call into the kernel, CR3 written, and back; kernel memory lies a page further up in Bochs
QEMU = """i 301000 load
r 3c0f28 3c0f28 4
end
i 301004 int
end
i f0101200 store
w f3fdd010 3fdd010 4
i f0101203 cr3_write
end
cr3 3fb9000
i f0101206 iret
r f3fdd000 3fdd000 4
r f0155058 155058 4
r f015505c 15505c 4
end
i 301006 alu_store
r 3c0f20 3c0f20 4
w 3c0f20 3c0f20 4
end
"""
BOCHS = """cs:0x001b, dh=0x00cbfb00, dl=0x0000ffff, valid=1
gdtr:base=0x00000000f0155040, limit=0x7f
(0).[1] [0x000000301000] 001b:0000000000301000 (unk. ctxt): mov eax, dword ptr ss:[esp+4] ; 8b442404
[CPU0 RD]: PHY 0x000003fd0000 (len=4, WB): 0x03FC1027	; PDE
[CPU0 RD]: LIN 0x00000000003c0f28 PHY 0x0000003c0f28 (len=4, WB): 0x000D0001
(0).[2] [0x000000301004] 001b:0000000000301004 (unk. ctxt): int 0x30                  ; cd30
CPU 0: Interrupt 0x30 occurred (error_code=0x0000)
[CPU0 RD]: LIN 0x00000000f0155240 PHY 0x000000155240 (len=8, WB): 0xF010EE00 0x00081200
[CPU0 RD]: LIN 0x00000000f0155048 PHY 0x000000155048 (len=8, WB): 0x00CF9B00 0x0000FFFF
[CPU0 WR]: LIN 0x00000000f3fee000 PHY 0x000003fee000 (len=4, WB): 0x00301006
(0).[3] [0x000000101200] 0008:00000000f0101200 (unk. ctxt): mov dword ptr ss:[ebp], eax ; 8ceb
[CPU0 WR]: LIN 0x00000000f3fee010 PHY 0x000003fee010 (len=4, WB): 0x00000000
(0).[4] [0x000000101203] 0008:00000000f0101203 (unk. ctxt): mov cr3, ebx              ; 0f22db
[CPU0 RD]: PHY 0x000003fc9f00 (len=4, WB): 0x000000E3	; PDE
(0).[5] [0x000000101206] 0008:00000000f0101206 (unk. ctxt): iret                      ; cf
[CPU0 RD]: LIN 0x00000000f0155058 PHY 0x000000155058 (len=8, WB): 0x00CBFB00 0x0000FFFF
[CPU0 RD]: LIN 0x00000000f3fee000 PHY 0x000003fee000 (len=4, WB): 0x00301006
(0).[6] [0x000000301006] 001b:0000000000301006 (unk. ctxt): dec dword ptr ss:[esp]    ; ff0c24
[CPU0 RW]: LIN 0x00000000003c0f20 PHY 0x0000003c0f20 (len=4, WB): 0x000002BC
[CPU0 WR]: PHY 0x0000003c0f20 (len=4, WB): 0x000002BB
"""
# a timer between iret and what comes next, which the debugger names first although the handler runs
TIMER = """CPU 0: Interrupt 0x20 occurred (error_code=0x0000)
[CPU0 RD]: LIN 0x00000000f01551c0 PHY 0x0000001551c0 (len=8, WB): 0xF0108E00 0x00081546
(0).[7] [0x000000301006] 001b:0000000000301006 (unk. ctxt): dec dword ptr ss:[esp]    ; ff0c24
[CPU0 WR]: LIN 0x00000000f3fee010 PHY 0x000003fee010 (len=4, WB): 0x00000000
(0).[8] [0x000000101547] 0008:00000000f0101547 (unk. ctxt): iret                      ; cf
[CPU0 RD]: LIN 0x00000000f0155058 PHY 0x000000155058 (len=8, WB): 0x00CBFB00 0x0000FFFF
"""
LAST = "(0).[6]"


def compare(qemu: str = QEMU, bochs: str = BOCHS) -> agreement.Comparison:
    return agreement.compare(agreement.groups(qemu.splitlines()), list(bochs_trace.read(bochs.splitlines())))


def test_what_differs_by_nature_has_its_reason():
    found = compare()
    assert found.unexplained == 0, found.shown
    assert (found.instructions, found.accesses, found.directories) == (6, 7, 1)
    assert dict(found.reasons) == {"walk": 2, "entry": 3, "microcode": 2, "frames": 1}


def test_a_timer_in_one_of_them_is_passed_over():
    found = compare(bochs=BOCHS.replace(LAST, TIMER + LAST))
    assert found.unexplained == 0, found.shown
    assert found.instructions == 6 and found.reasons["interrupt.bochs"] == 2
    handler = "interrupt\ni f0101546 store\nend\ni f0101547 iret\nend\n"
    found = compare(qemu=QEMU.replace("i 301006", handler + "i 301006"))
    assert found.unexplained == 0, found.shown
    assert found.instructions == 6 and found.reasons["interrupt.qemu"] == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("i f0101200", "i f0101201"),
        ("r 3c0f28 3c0f28 4", "r 3c0f2c 3c0f2c 4"),
        ("r 3c0f28 3c0f28 4", "r 3c0f28 3c0f28 2"),
        ("r 3c0f28 3c0f28 4", "w 3c0f28 3c0f28 4"),
        ("r 3c0f28 3c0f28 4\n", ""),
        ("r 3c0f28 3c0f28 4\n", "r 3c0f28 3c0f28 4\nr 3c0f28 3c0f28 4\n"),
        ("r 3c0f20 3c0f20 4", "r 3c0f20 999f20 4"),
        ("r f3fdd000 3fdd000 4", "r f3fde000 3fde000 4"),
        ("r f015505c 15505c 4\n", ""),
        ("cr3 3fb9000\n", ""),
        ("cr3 3fb9000\ni f0101206 iret\n", "i f0101206 iret\n"),
        ("i 301006", "base d0000000\ni 301006"),
        ("i 301006", "cr3 3fb9000\ni 301006"),
    ],
)
def test_anything_else_is_unexplained(before, after):
    assert before in QEMU
    assert compare(qemu=QEMU.replace(before, after)).unexplained > 0


def test_a_handler_that_no_interrupt_entered_is_unexplained():
    handler = TIMER.replace("CPU 0: Interrupt 0x20 occurred (error_code=0x0000)\n", "")
    assert compare(bochs=BOCHS.replace(LAST, handler + LAST)).unexplained > 0


# a read past the limit of a segment: Bochs faults first, and the kernel lets the instruction try again
LIMITED = QEMU.replace("i 301000 load\n", "i 301000 load\nlimit 3c0f28\n")
FAULTING = BOCHS.replace(
    "(0).[1]",
    """(0).[0] [0x000000301000] 001b:0000000000301000 (unk. ctxt): mov eax, dword ptr ss:[esp+4] ; 8b442404
CPU 0: Exception 0x0d - (#GP) general protection fault occurred (error_code=0x0000)
CPU 0: Interrupt 0x0d occurred (error_code=0x0000)
[CPU0 RD]: LIN 0x00000000f0155048 PHY 0x000000155048 (len=8, WB): 0x00CF9B00 0x0000FFFF
(0).[0] [0x000000101300] 0008:00000000f0101300 (unk. ctxt): push ecx ; 51
[CPU0 WR]: LIN 0x00000000f3fee000 PHY 0x000003fee000 (len=4, WB): 0x00000000
(0).[0] [0x000000101301] 0008:00000000f0101301 (unk. ctxt): iret ; cf
(0).[1]""",
    1,
)


def test_a_fault_past_a_limit_is_passed_over_where_both_have_it():
    found = compare(LIMITED, FAULTING)
    assert found.unexplained == 0, found.shown
    assert (found.limits, found.reasons["limit"], found.instructions) == (1, 2, 6)
    assert [[step.code for step in path] for path in found.paths] == [["51", "cf"]]


@pytest.mark.parametrize(("qemu", "bochs"), [(LIMITED, BOCHS), (QEMU, FAULTING)])
def test_a_fault_past_a_limit_in_one_of_them_is_unexplained(qemu, bochs):
    assert compare(qemu, bochs).unexplained > 0


def test_repetitions_of_a_string_instruction_are_one():
    line = "(0).[9] [0x000000301008] 001b:0000000000301008 (unk. ctxt): rep stosd dword ptr es:[edi], eax ; f3ab\n"
    write = "[CPU0 WR]: LIN 0x00000000003c0f{0} PHY 0x0000003c0f{0} (len=4, WB): 0x0\n"
    bochs = BOCHS + line + write.format("40") + line + write.format("44")
    qemu = QEMU + "i 301008 string\nw 3c0f40 3c0f40 4\nend\nw 3c0f44 3c0f44 4\nend\n"
    found = compare(qemu, bochs)
    assert found.unexplained == 0, found.shown
    assert (found.instructions, found.accesses) == (7, 9)


def test_a_path_is_listed_with_its_accesses():
    path = compare(LIMITED, FAULTING).paths[0]
    assert limit_faults.listing(path) == "i f0101300 101300 51\nw f3fee000 3fee000 4\ni f0101301 101301 cf\n"
