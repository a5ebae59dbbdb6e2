# SPDX-License-Identifier: GPL-2.0-or-later
"""What the command makes of root's lines on the console."""

from pathlib import Path

import pytest

from cobnut import payloads
from cobnut.modules import Module

FAULT = "root: crash: ended: write at 00000000 without permission, ip 00400100, thread 51"
SERVERS = [Module(Path("sigma0")), Module(Path("root"))]
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
    fault = FAULT.replace("51", "52")
    console = f"{fault}\r\n{fault.replace('crash', 'other')}\r\nroot: hello: finished with code 0\r\n"
    assert payloads.fault_places(console, [*SERVERS, HELLO, CRASH]) == [
        "crash: in poke at main.c:3",
        "crash: called by cobnut_main at main.c:10",
    ]
    assert asked == [(CRASH.path, 0x400100)]


def test_a_fault_is_looked_up_in_the_program_of_its_thread(monkeypatch):
    monkeypatch.setattr(payloads, "places", lambda path, _: [str(path)])

    def looked_up(name, thread, *modules):
        return payloads.fault_places(FAULT.replace("crash", name).replace("51", str(thread)), [*SERVERS, *modules])

    alike, same = Module(Path("/elsewhere/crash")), Module(Path("/elsewhere/other"), "name=crash")
    for second, name in ((alike, "3-crash"), (same, "crash"), (CRASH, "crash")):
        assert looked_up("crash", 51, CRASH, second) == [f"crash: in {CRASH.path}"]
        assert looked_up(name, 52, CRASH, second) == [f"{name}: in {second.path}"]
    assert looked_up("crash", 51, same, CRASH) == [f"crash: in {same.path}"]
    assert looked_up("crash", 53, CRASH) == looked_up("root", 50, CRASH) == looked_up("sigma0", 49, CRASH) == []
    assert looked_up("other", 51, CRASH) == [], "another root server's, which counts otherwise"
