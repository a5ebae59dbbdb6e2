# SPDX-License-Identifier: GPL-2.0-or-later
"""The console's port is busy with a character, and a program prints the next one. The emulator's ports never are: so
the stub says it in the port's place.
"""

from stub import guest

from cobnut import boards

BUSY = 40  # times, one after the other
PC, LR = 15, 14


def test_a_program_waits_for_the_port_with_interrupts_on(tmp_path):
    """It waits in user mode: the kernel is entered anew for each look at the port."""
    with guest(tmp_path, boards.find("versatilepb"), "filter=latency.wait_characters latency=1") as g:
        entry, ready = g.address["trap"], g.address["arch::console_ready()"]
        first = g.address["debug_calls::dispatch(Thread&, unsigned int)"]
        behind = min(at for at in g.address.values() if at > first)
        for at in entry, ready:
            assert g.stub.ask(f"Z0,{at:x},4") == "OK"
        entered, looks = False, []
        while len(looks) < BUSY and g.stub.ask("c").startswith("T05"):
            at, caller = g.stub.register(PC), g.stub.register(LR)
            if at == ready and first < caller <= behind:
                looks.append(entered)
                entered = False
                g.stub.set_register(0, 0)
                g.stub.set_register(PC, caller)
                continue
            entered |= at == entry
            assert g.stub.ask(f"z0,{at:x},4") == "OK" and g.stub.ask("s").startswith("T05")
            assert g.stub.ask(f"Z0,{at:x},4") == "OK"
        assert looks == [True] * BUSY, g.console
        for at in entry, ready:
            assert g.stub.ask(f"z0,{at:x},4") == "OK"
        g.stub.ask("c")
        assert "x2test: 1 passed, 0 failed" in g.console
        assert "\n" * 24 in g.console.replace("\r", "")
