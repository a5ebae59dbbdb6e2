# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's frame is where nothing answers, and the bus says so to the kernel: the emulator never does on this board,
but for walks of page tables. So the stub turns the kernel's accesses to such frames to a megabyte whose page table is
where nothing answers.
"""

import re

from stub import guest

from cobnut import boards

VIEWS = range(0xFF00_1000, 0xFF00_3000)  # arm/spaces.cpp: where the kernel has frames that are beyond its window
ELSEWHERE, TABLE = 0xF800_0000, 0x8000_0000 | 0x11  # in the window, behind the memory; a coarse table's entry


def unanswered(tmp_path, tests):
    with guest(tmp_path, boards.find("versatilepb"), f"filter={tests}") as g:
        stop = f"0,{g.address['copy_if_there']:x},4"
        assert g.stub.ask(f"Z{stop}") == "OK"
        turned = 0
        while g.stub.ask("c").startswith("T05"):
            if not turned:
                g.stub.write(g.address["boot_directory"] + (ELSEWHERE >> 20) * 4, TABLE)
            for register in 0, 1:
                if g.stub.register(register) in VIEWS:
                    g.stub.set_register(register, ELSEWHERE)
                    turned += 1
            assert g.stub.ask(f"z{stop}") == "OK" and g.stub.ask("s").startswith("T05")
            assert g.stub.ask(f"Z{stop}") == "OK"
    return g.console, turned


def test_what_the_kernel_cannot_read_or_write_ends_what_it_was_for(tmp_path):
    console, turned = unanswered(tmp_path, "bus.")
    assert turned == 8, console
    assert "kernel fault" not in console
    assert re.findall(r"^bus: (.*)$", console, re.MULTILINE) == ["from aborted"] * 3 + ["to aborted"] * 3, console
    assert "x2test: 3 passed, 0 failed" in console
