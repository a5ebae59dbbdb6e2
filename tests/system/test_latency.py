# SPDX-License-Identifier: GPL-2.0-or-later
"""How long the clock's interrupt waits, in instructions, for the kernel's longest operations (docs/preemption.md)."""

import re

import pytest

import guests
from cobnut import boards, build, stretches

OPERATIONS = {
    "unmap_tree",
    "unmap_range",
    "unmap_far",
    "map_range",
    "map_apart",
    "delete_space",
    "change_slot",
    "seek_tag",
    "unmap_ports",
    "map_ports",
    "chain_of_senders",
    "unmap_status",
    "unmap_write",
    "unmap_sparse",
    "unmap_port_registers",
    "map_port_items",
    "unmap_short_registers",
}
LIMIT = 30_000


def test_no_operation_keeps_interrupts_waiting():
    outcome = guests.boot(guests.program("x2test", "filter=latency. latency=1"))
    worst = {name: int(count) for name, count in re.findall(r"^latency: (\w+) (\d+)$", outcome.console, re.MULTILINE)}
    assert worst.keys() == OPERATIONS
    assert all(0 < count < LIMIT for count in worst.values()), worst
    assert re.search(r"^x2test: \d+ passed, 0 failed$", outcome.console, re.MULTILINE)


WAITS = {
    "wait_queue",
    "wait_expiry",
    "wait_receive",
    "wait_forwarded",
    "wait_strings",
    "wait_items",
    "wait_granted",
    "wait_end_of_space",
    "wait_deletion",
    "wait_renaming",
    "wait_local_ids",
    "wait_console",
    "wait_characters",
}
WORST = 20_000  # instructions with interrupts off


def test_no_stretch_is_longer_than_its_bound():
    build.lab()
    found = stretches.measure(boards.find("pc"), spaces=100, threads=200)
    assert found.keys() >= OPERATIONS | WAITS | {"wait_wild", "grow_in_group", "leave_group"}
    assert max(one.instructions for one in found.values()) <= WORST, found


def test_no_group_makes_a_member_slow_to_grow():
    build.lab()
    found = stretches.measure(boards.find("pc"), spaces=2, threads=2, only="grow_in_group", area_mb=2048)
    assert found["grow_in_group"].instructions <= WORST, found


def test_no_group_makes_the_clock_slow():
    build.lab()
    found = stretches.measure(boards.find("pc"), spaces=2, threads=2, only="leave_group", area_mb=2048)
    assert found["leave_group"].instructions <= WORST, found


@pytest.mark.parametrize("board", ["pc", "versatilepb", "collie"])
def test_no_number_of_waiting_threads_keeps_interrupts_off(board):
    build.lab()
    few, many = (stretches.measure(boards.find(board), spaces=2, threads=threads, only="wait") for threads in (2, 200))
    assert few.keys() >= WAITS
    for name in WAITS:
        assert many[name].instructions <= min(WORST, 2 * few[name].instructions + 2000), (name, few[name], many[name])
