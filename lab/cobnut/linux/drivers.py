# SPDX-License-Identifier: GPL-2.0-or-later
"""The drivers of devices that Linux as a server uses: programs of servers/, each in a space of its own."""

from cobnut import systems
from cobnut.boards import Board
from cobnut.modules import Module
from cobnut.systems import Program

# by the program's name; they are started again when they die
DISK = {
    "ide": Program(
        provides=["disk"],
        arguments="disk=0+",  # all of it
        ports=["0x1f0-0x1f7", "0x3f6"],
        interrupts=[14],
        priority=150,
        restart=True,
    )
}
CARD = "8086:100e"
SCREEN = {
    "display": Program(provides=["display"], device=systems.DISPLAY, ports=["0x1ce-0x1d0"], priority=150, restart=True),
    "ps2": Program(provides=["input"], ports=["0x60", "0x64"], interrupts=[1, 12], priority=150, restart=True),
}
NET = {"e1000": Program(provides=["nic"], device=CARD, dma=True, priority=140, restart=True)}


def modules(board: Board, drivers: dict[str, Program]) -> tuple[Module, ...]:
    """Their modules, with what root is to let them have and use."""
    return tuple(Module(board.program(name), systems.words(name, program, board)) for name, program in drivers.items())
