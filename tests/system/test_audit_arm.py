# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's audit on ARM: the debugger stub breaks one entry that the processor goes by, the audit names it."""

import pytest
from stub import guest

from cobnut import boards

WINDOW, SECTIONS = 0xF000_0000, 0xD000_0000 >> 20  # arm/layout.hpp; a versatilepb's memory begins at 0
SAID = "books: the first level is not what its holders' tables say ("


def audited(tmp_path, board, change):
    """The console of a run with `change` called, given the stub and the first level, when an audit begins."""
    with guest(tmp_path, board, "filter=edge.halted_before") as g:
        stop = f"0,{g.address['books::audit()']:x},4"
        assert g.stub.ask(f"Z{stop}") == "OK"
        assert g.stub.ask("c").startswith("T05")
        change(g.stub, g.address["boot_directory"])
        assert g.stub.ask(f"z{stop}") == "OK"
        g.stub.peer.sendall(b"$c#63")
        # What is broken may keep the guest from its end.
        g.wait(lambda: SAID in g.console)
    return g.console


def used(stub, directory):
    """A section that is in use, and its entry."""
    return next((s, entry) for s, entry in enumerate(stub.words(directory, SECTIONS)) if entry & 3 == 1)


def another_table(stub, directory):
    s, entry = used(stub, directory)
    stub.write(directory + s * 4, entry + 0x400)


def another_domain(stub, directory):
    s, entry = used(stub, directory)
    stub.write(directory + s * 4, entry ^ 0x1E0)


def one_more(stub, directory):
    _, entry = used(stub, directory)
    stub.write(directory + (SECTIONS - 1) * 4, entry)


def another_frame(stub, directory):
    _, entry = used(stub, directory)
    table = WINDOW + (entry & ~0x3FF)
    i, page = next((i, page) for i, page in enumerate(stub.words(table, 256)) if page & 3 == 2)
    stub.write(table + i * 4, page ^ 0x1000)


def one_more_of_the_kernels(stub, directory):
    free = next(i for i, entry in enumerate(stub.words(directory + SECTIONS * 4, 512)) if not entry)
    stub.write(directory + (SECTIONS + free) * 4, 0x11)


def nothing(stub, directory):
    pass


@pytest.mark.parametrize("change", [another_table, another_domain, one_more, another_frame])
def test_what_is_broken_is_named(tmp_path, change):
    assert SAID in audited(tmp_path, boards.find("versatilepb"), change)


def test_so_it_is_without_tags(tmp_path):
    assert SAID in audited(tmp_path, boards.find("versatilepb").standard, one_more_of_the_kernels)


@pytest.mark.parametrize("tags", [True, False])
def test_what_is_whole_is_not(tmp_path, tags):
    board = boards.find("versatilepb")
    console = audited(tmp_path, board if tags else board.standard, nothing)
    assert "x2test: 1 passed, 0 failed" in console and "books: the" not in console
