# SPDX-License-Identifier: GPL-2.0-or-later
"""Strings of all sizes arrive, wherever their memory lies: below and beyond the kernel's window on physical memory."""

import pytest

import guests

WINDOW_MB = 240


@pytest.mark.parametrize("pair", ["large_large", "small_small", "large_small", "small_large", "intra"])
@pytest.mark.parametrize("memory_mb", [16, WINDOW_MB + 16])
def test_strings_arrive(pair, memory_mb):
    arguments = f"pair={pair} rounds=1 warmup=1 memory={memory_mb}"
    outcome = guests.boot(guests.program("strings", arguments), memory_mb=512)
    assert "strings: done" in outcome.console, outcome.console
    assert outcome.code == 0 and outcome.kernel_message is None


def test_options_that_are_not_possible_are_said():
    outcome = guests.boot(guests.program("strings", "pair=large_tiny"))
    assert "strings: FAIL bad option" in outcome.console
    assert outcome.code == 1
