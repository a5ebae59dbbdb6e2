# SPDX-License-Identifier: GPL-2.0-or-later
"""What the ping-pong program accepts and refuses."""

import pytest

import guests


@pytest.mark.parametrize(
    "arguments",
    [
        "servers=2 halves=1 served=2 pair=small_large slot=16",
        "calls=0 gen=walks distance=65536 sizes=8:16:8",
        "gen=jumps sizes=0:8:8 reads=16",
        "gen=nops sizes=0:60:20 also=45",
        "pair=intra gen=nops sizes=100:100:1",
    ],
)
def test_it_runs_what_can_be_run(arguments):
    outcome = guests.boot(guests.program("pingpong", f"rounds=3 warmup=1 {arguments}"))
    assert outcome.code == 0 and "pingpong: done" in outcome.console, outcome.console


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ("pair=intra servers=2", "servers"),
        ("servers=3", "servers"),
        ("gen=nops sizes=0:60:20 also=61", "also"),
        ("gen=reads distance=65536 sizes=0:17:1", "sizes"),
        ("gen=jumps reads=300", "reads"),
        ("served=64", "served"),
        ("distance=0", "distance"),
        ("halves=2", "halves"),
    ],
)
def test_it_names_what_it_cannot_do(arguments, word):
    outcome = guests.boot(guests.program("pingpong", arguments))
    assert outcome.code != 0 and f"pingpong: FAIL {word}=" in outcome.console, outcome.console
