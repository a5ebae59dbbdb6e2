# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded sessions of Doom: a stroll through its first level, of as many tics as are asked for.

The format is that of Doom 1.9 (a "demo"): 13 bytes about the game, four for each tic of the one player, and an end.
"""

from collections.abc import Collection

VERSION, SKILL, EPISODE, LEVEL, PLAYERS = 109, 2, 1, 1, 4
END = b"\x80"
WALKING, TURNING, ATTACK = 25, 2, 1  # forward, to the left in 1/256 of a circle, and a button
TICS_A_TURN, TURN = 30, 10  # of so many tics the last ones turn


def demo(tics: int, shots: Collection[int] = (), *, walks: bool = True, monsters: bool = True) -> bytes:
    """The player walks and turns, or stands, and shoots at the tics `shots`."""
    rules = bytes([0, 0, 0, not monsters, 0])  # no deathmatch, no respawn, not fast, who is there, seen by the first
    head = bytes([VERSION, SKILL, EPISODE, LEVEL]) + rules + bytes([1] + [0] * (PLAYERS - 1))
    return head + b"".join(_tic(tic, tic in shots, walks) for tic in range(tics)) + END


def _tic(tic: int, shoots: bool, walks: bool) -> bytes:
    turns = walks and tic % TICS_A_TURN >= TICS_A_TURN - TURN
    return bytes([WALKING if walks else 0, 0, TURNING if turns else 0, ATTACK if shoots else 0])
