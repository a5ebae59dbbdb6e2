# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the clock's interrupt waits, in instructions, for the kernel's longest operations (docs/preemption.md)."""

import re

import guests

OPERATIONS = {"unmap_tree", "unmap_range", "unmap_far", "map_range", "delete_space", "change_slot", "seek_tag", "unmap_ports", "map_ports",
              "chain_of_senders"}
LIMIT = 30_000


def test_no_operation_keeps_interrupts_waiting():
    outcome = guests.boot(guests.program("x2test", "filter=latency. latency=1"))
    worst = {name: int(count) for name, count in re.findall(r"^latency: (\w+) (\d+)$", outcome.console, re.M)}
    assert worst.keys() == OPERATIONS
    assert all(0 < count < LIMIT for count in worst.values()), worst
    assert f"x2test: {len(OPERATIONS)} passed, 0 failed" in outcome.console
