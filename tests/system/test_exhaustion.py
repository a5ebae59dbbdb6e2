# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel memory that runs out is an error code: every way to ask for it, with too few pages and with just enough
(user/exhaust). And what one space takes is not what another needs (user/share)."""

import re

import pytest

import guests

# What each takes, in kernel pages, when the pools of small objects are empty: a page for each pool that it needs an
# object of, two for a page table (its entries, and who mapped each page), two for a space, one for UTCBs or of the
# thread table.
NEEDS = {
    "thread": 1,
    "space": 1 + 2,
    "areas": 2,
    "utcb": 2 + 1,
    "active_thread": 1 + 2 + 1,
    "interrupt": 1,
    "mapping": 1,
    "mapping_elsewhere": 1 + 2,
    "port": 1,
    "string": 1,
    "far_thread": 1 + 1,
    "page_of_sigma0": 1 + 2,
}


@pytest.mark.parametrize("on", [guests.QEMU[0], guests.USUAL], ids=str)
def test_every_way_to_run_out(on):
    outcome = guests.boot(guests.program("exhaust"), options="kmem=512", on=on)
    assert "exhaust: done" in outcome.console, outcome.console
    assert outcome.code == 0 and outcome.kernel_message is None
    needs = re.findall(r"^exhaust: (\w+) needs (\d+) pages$", outcome.console, re.MULTILINE)
    assert {name: int(pages) for name, pages in needs} == NEEDS
    assert "exhaust: coprocessor lent" in outcome.console
    assert "exhaust: page fault answered" in outcome.console
    assert "exhaust: as many again" in outcome.console
    # of the thread table one, and of sigma0's page two mappings and page tables
    assert "exhaust: 5 pages and 2 objects more than at first" in outcome.console


# One space after the other takes all that it gets, by page tables or by mappings; the working one beside them gets what
# it needs.
@pytest.mark.parametrize("wish", ["greedy=1", "greedy=2", "greedy=4 step=64"])
def test_greedy_spaces_beside_a_working_one(wish):
    outcome = guests.boot(guests.program("share", wish), options="kmem=4096")
    assert "share: done" in outcome.console, outcome.console
    assert outcome.code == 0 and outcome.kernel_message is None
    held = [
        int(pages)
        for pages in re.findall(r"^share: greedy space \d+ holds (\d+) pages$", outcome.console, re.MULTILINE)
    ]
    assert held[0] > 512, "one that is alone with its greed gets most of the memory"


LIMITED = ("threads", "mappings", "page tables")


def test_limits():
    outcome = guests.boot(guests.program("share", "limits=1"), options="kmem=4096")
    assert outcome.code == 0 and "share: done" in outcome.console, outcome.console
    assert tuple(re.findall(r"^share: limit kept for ([a-z ]+)", outcome.console, re.MULTILINE)) == LIMITED
