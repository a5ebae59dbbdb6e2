# SPDX-License-Identifier: GPL-2.0-or-later
"""Thousands of threads in 64 MB, and a kernel whose memory is of a wanted size."""

import re

import pytest

import guests

PLENTY = "kmem=24576"


@pytest.mark.parametrize("on", guests.QEMU[::3], ids=str)
@pytest.mark.parametrize("pair", ["large_large", "small_small"])
def test_all_are_alive_at_once(pair, on):
    program = guests.program("scale", f"pair={pair} threads=4000 rounds=8 warmup=1")
    outcome = guests.boot(program, options=PLENTY, on=on, memory_mb=64)
    assert "scale: 1000 spaces, 4000 threads, 3999 answers" in outcome.console
    assert outcome.code == 0 and outcome.kernel_message is None


def test_too_little_memory_is_an_error_code():
    outcome = guests.boot(guests.program("scale", "threads=4000"), options="kmem=4096", memory_mb=64)
    assert re.search(r"^scale: FAIL \w+ \([0-9a-f]{8}, 00000008\)$", outcome.console, re.MULTILINE), outcome.console
    assert outcome.code == 1 and outcome.kernel_message is None


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("kmem=40000", "more than half of the memory"),
        ("kmem=128", "too little kernel memory"),
        ("kmem=all", "not a number"),
    ],
)
def test_sizes_that_are_not_possible_are_said(option, complaint):
    outcome = guests.boot(guests.program("scale"), options=option, memory_mb=64)
    assert complaint in outcome.console, outcome.console


def test_options_that_are_not_possible_are_said():
    outcome = guests.boot(guests.program("scale", "threads=4001"))
    assert "scale: FAIL bad option" in outcome.console
    assert outcome.code == 1
