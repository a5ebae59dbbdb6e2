# SPDX-License-Identifier: GPL-2.0-or-later
"""Systems of servers on the emulators: what init promises, the shell, servers that die, and what a stub costs."""

import json
import re
import time

import promises
import pytest
import shells

from conftest import run_cobnut

SECONDS = 120  # of processor time, for one system
ARM = "versatilepb"


@pytest.mark.parametrize(("board", "emulator"), [("pc", "qemu"), ("pc", "bochs"), (ARM, "qemu")])
def test_what_init_promises(board, emulator):
    done = run_cobnut("boot", "selftest", "--board", board, "--emulator", emulator, "--seconds", "300")
    checks = promises.checked(done.stdout)
    assert promises.broken(checks) == []
    assert len(checks) == 77, done.stdout
    assert "init: the system ends with code 0" in done.stdout
    assert done.returncode == 0


@pytest.fixture(params=["pc", ARM])
def shell(request):
    with shells.running("basic", "--board", request.param, seconds=SECONDS) as one:
        yield one


def killed(shell, name: str) -> str:
    """What is said when a program is killed, up to its next start."""
    said, again = shell.ask(f"kill {name}"), f"init: {name}: started again"
    return said if again in said else said + shell.until(again.encode())


def test_the_shell_shows_and_ends_programs(shell):
    assert "ends a program, by name or number" in shell.ask("help")
    listed = shell.ask("ps")
    rows = re.findall(r"^ +\d+ (\w+) +running", listed, re.MULTILINE)
    assert rows == ["console", "adder", "files", "shell"]
    columns = r"^ +1 adder +running +100 +1 +\d\d +1024 +[1-9]\d* +\d+ +[1-9]\d* +1 +0 +[1-9]\d* MB at [1-9]\d*$"
    assert re.search(columns, listed, re.MULTILINE), "a thread, memory, time, questions, a slot\n" + listed
    later = shell.ask("ps 1")
    assert "ms/s  asks/s" in later
    assert re.search(r"^ +1 adder +running +100 +1 +\d\d +1024 +[1-9]\d* +0 +0 +1 ", later, re.MULTILINE), later
    assert re.search(r"^ +\d shell +running +100 +1 +\d\d +1024 +[1-9]\d* +\d+ +[1-9]", later, re.MULTILINE), later
    assert "ps: 1 to 60 seconds" in shell.ask("ps x")
    assert "init: adder: ended: killed" in killed(shell, "adder")
    assert re.search(r"^ +1 adder +running .* 2 +1 ", shell.ask("ps"), re.MULTILINE), "it was started again"
    assert "x: not found" in shell.ask("kill x")
    assert "nonsense: no such command" in shell.ask("nonsense")
    shell.type("exit 3\r")
    shell.until(b"init: the system ends with code 3")
    assert shell.process.wait() == 3


def test_the_trace_has_what_init_was_asked_and_what_happened(shell):
    shell.ask("trace on")
    killed(shell, "adder")
    shell.ask("run nobody")
    shell.ask("trace off")
    shell.ask("run somebody")
    traced = [re.sub(r"^ *\d+\.\d{3} ms ", "", line) for line in shell.ask("trace").split("\n")]
    begin = traced.index("adder.0: ended with code 1")
    assert traced[begin + 1] == "shell.0: Kill: done"
    assert "adder.0: started, start 2" in traced[begin:]
    assert any(re.fullmatch(r"adder\.0: page fault at 00400000, ip [0-9a-f]{8}", line) for line in traced[begin:])
    assert traced.count("shell.0: Run: not found") == 1, "the second one came when it was off"
    assert "trace: on, off, or nothing" in shell.ask("trace maybe")


def test_the_consoles_driver_may_die(shell):
    """Its clients lose a call, not their session."""
    shell.type("kill console\r")
    shell.until(b"init: console: started again")
    time.sleep(0.5)
    assert "\nstill here" in shell.ask("echo still here")


HOME, UP, BACKSPACE = "\x1b[H", "\x1b[A", "\x7f"


def test_lines_are_edited(shell):
    assert "\none" in shell.ask(f"ecoh{BACKSPACE}{BACKSPACE}ho one")
    assert "\n=1=2" in shell.ask(f"{UP}2"), "the line before, with one letter more"
    assert "\nthree" in shell.ask(f"cho three{HOME}e\x05")


MOST_MORE = 15  # instructions of a null call by a stub, beside bare IPC


@pytest.mark.parametrize(("board", "machine"), [("pc", "pentium4-1400"), (ARM, "arm926-400")])
def test_a_stub_costs_little(tmp_path, board, machine):
    out = tmp_path / "measured.json"
    done = run_cobnut("boot", "stubs", "--board", board, "--machine", machine, "--json", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    bare, null, _ = [
        {name: values[len(values) // 2] for name, values in case["per_iteration"].items()}
        for case in json.loads(out.read_text())["regions"]
    ]
    assert bare["instructions_kernel"] == null["instructions_kernel"]
    assert bare["instructions_user"] < null["instructions_user"] <= bare["instructions_user"] + MOST_MORE
