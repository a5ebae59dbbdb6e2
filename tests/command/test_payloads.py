# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command makes of root's lines on the console."""

from pathlib import Path

import pytest

from cobnut import payloads
from cobnut.modules import Module

FAULT = "root: crash: ended: write at 00000000 without permission, ip 00400100"
HELLO, CRASH, NAMED = Module(Path("hello")), Module(Path("/a b/crash")), Module(Path("prog"), "name=crash x")


@pytest.mark.parametrize(
    ("lines", "modules", "status"),
    [
        (["root: hello: finished with code 0"], [HELLO], 0),
        (["root: crash: finished with code 7"], [HELLO, CRASH], 7),
        ([FAULT], [HELLO, CRASH], 1),
        ([FAULT], [NAMED], 1),
        (["root: crash: finished with code 7", "root: hello: finished with code 3"], [HELLO, CRASH], 3),
        (["root: hello: finished with code 0", "root: hello: finished with code 5"], [HELLO, HELLO], 5),
        (["root: 1-crash: finished with code 200"], [CRASH, CRASH], 1),
        (["root: crash: finished with code -4"], [CRASH], 1),
        (["root: crash: not started: the file is truncated"], [CRASH], 1),
        (["hello: finished with code 9"], [HELLO], 0),
        ([], [HELLO], 0),
    ],
)
def test_the_status_is_that_of_the_first_module_that_failed(lines, modules, status):
    assert payloads.status("\r\n".join(["Cobnut: 15 MB", *lines, "root: all programs finished"]), modules) == status


def test_only_a_fault_of_a_known_module_has_a_place(monkeypatch):
    asked = []

    def places(path, address):
        asked.append((path, address))
        return ["poke at main.c:3", "cobnut_main at main.c:10"]

    monkeypatch.setattr(payloads, "places", places)
    console = f"{FAULT}\r\n{FAULT.replace('crash', 'other')}\r\nroot: hello: finished with code 0\r\n"
    assert payloads.fault_places(console, [HELLO, CRASH]) == [
        "crash: in poke at main.c:3",
        "crash: called by cobnut_main at main.c:10",
    ]
    assert asked == [(CRASH.path, 0x400100)]


def test_a_fault_of_a_program_is_not_looked_up_in_another_one(monkeypatch):
    monkeypatch.setattr(payloads, "places", lambda path, _: [str(path)])
    same = Module(Path("/elsewhere/other"), "name=crash")
    assert payloads.fault_places(FAULT, [CRASH, same]) == [] == payloads.fault_places(FAULT, [same, CRASH])
    alike = Module(Path("/elsewhere/crash"))
    assert payloads.fault_places(FAULT, [CRASH, alike]) == [f"crash: in {CRASH.path}"]
    numbered = FAULT.replace("crash", "3-crash")
    assert payloads.fault_places(numbered, [CRASH, alike]) == [f"3-crash: in {alike.path}"]
    assert payloads.fault_places(numbered, [CRASH, alike, Module(Path("/third/crash"))]) == []
    assert payloads.fault_places(FAULT, [CRASH, CRASH]) == [f"crash: in {CRASH.path}"], "the same program twice"
