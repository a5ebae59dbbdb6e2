# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes of Linux, which the descriptions in lab/guests tell apart (docs/plugin.md): natively on a PC, as a server
on our kernel, and on an ARM board. Two processes of one program call getpid; each has its own calls.
"""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cobnut import boards, images, linux_guest, machines, measuring, paths
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.guests import names_of
from cobnut.linux import board as board_linux
from cobnut.linux import guest as linux_server
from cobnut.linux import server
from cobnut.linux.guest import Wish

TIMEOUT_SECONDS = 600
CALLS = {"first": 7, "second": 5}
GETPID = 20
# busybox's cat says of itself which number it has
COMMANDS = "; ".join(["cat /proc/self/stat", *(f"{name} {calls} /tmp/file" for name, calls in CALLS.items())])
CAT = re.compile(r"^(\d+) \(cat\) ", re.MULTILINE)


def measured(outcome, out: Path) -> dict:
    assert not outcome.timed_out, outcome.console
    return json.loads(out.read_text())


def names(found: dict) -> set[str]:
    return {name for spaces in found["processes"].values() for name in spaces}


def plugin(out: Path, kernel: tuple[tuple[str, str], ...], guest: str, region: str, **programs: Path):
    """A model that knows the processes of `guest` and measures one region."""
    more = [("from", "begin"), *(("program", f"{name}:{path}") for name, path in programs.items())]
    more += [("processes", str(paths.LAB / "guests" / f"{guest}.toml")), ("region", f"3:{region}")]
    machine = "arm926-400" if guest == "linux-arm" else "pentium-133"
    return measuring.plugin_for(kernel, machines.load(machine), out, more=more)


@pytest.fixture
def native(tmp_path):
    """Runs Debian's kernel with a region."""
    guest = linux_guest.ensure()
    program = linux_guest.program("syscalls")
    copies = []
    for name in CALLS:
        copies.append(tmp_path / name)
        shutil.copy2(program, copies[-1])
    what = linux_guest.boot(replace(guest, programs=tuple(copies)), tmp_path, COMMANDS)

    def run(region: str) -> tuple[dict, str]:
        out = tmp_path / "out.json"
        symbols = (("symbols", str(guest.symbols)),)
        using = plugin(out, symbols, "linux-pc", region, it=program)
        outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=using, repeatable=True)
        assert linux_guest.failure(outcome) is None, outcome.console
        return measured(outcome, out), outcome.console

    return run


def test_a_call_of_linux_is_measured_in_one_process(native):
    found, console = native(f"process=second/call={GETPID}")
    (case,) = found["regions"]
    # by int, by the vdso, and once at the end
    assert case["iterations"] == 2 * CALLS["second"] + 1, "and none of the first one's"
    (number,) = CAT.findall(console)
    assert f"cat ({number})" in names(found), "the number that the process has said"
    assert {name.split()[0] for name in names(found)} >= {"init", *CALLS}
    assert not [doubt for doubt in found["warnings"] if "processes" in doubt]


def test_a_process_of_linux_is_measured_whole(native):
    found, _ = native("process=first")
    (case,) = found["regions"]
    user = sum(case["per_iteration"]["instructions_user"])
    assert case["iterations"] >= 1 and user > 4096, "it fills a page by bytes"
    assert sum(case["per_iteration"]["entries_int"]) >= CALLS["first"] * 4, "four loops of calls"


@pytest.mark.parametrize("small", ["none", "all"])
def test_a_process_of_the_server_is_measured(small, tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    program = linux_guest.program("syscalls")
    for name in CALLS:
        shutil.copy2(program, files / name)
    command = "; ".join(["cat /proc/self/stat", *(f"/files/{name} {calls} /tmp/f" for name, calls in CALLS.items())])
    what = linux_server.prepare(Wish(run=command, files=files, small=small), tmp_path)
    out = tmp_path / "out.json"
    kernel = (("kernel", str(what.kernel)),)
    using = plugin(out, kernel, "linux-server", "process=second/it/getpid..getpid_done", it=program, server=server.LINK)
    outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=using)
    found = measured(outcome, out)
    (case,) = found["regions"]
    assert case["iterations"] == CALLS["second"], "and none of the first one's"
    (number,) = CAT.findall(outcome.console)
    assert f"cat ({number})" in names(found) and "server" in names(found)


def test_processes_of_linux_for_arm_are_told_apart(tmp_path):
    board = boards.find("versatilepb")
    linux = board_linux.ensure(board)
    disk = tmp_path / "initrd"
    disk.write_bytes(board_linux.initrd())
    kernel, *rest = images.parse([f"{linux.kernel} console=ttyAMA0 -- memory 2 off", str(disk)], board.processor)
    what = Boot(kernel.path, tuple(rest), kernel.arguments, memory_mb=64, as_initrd=True)
    out = tmp_path / "out.json"
    using = plugin(out, names_of(kernel.path, linux.symbols, board), "linux-arm", "process=1/call=125")
    outcome = qemu_arm.run(what, board.name, timeout=TIMEOUT_SECONDS, plugin=using)
    found = measured(outcome, out)
    case = next(case for case in found["regions"] if case["case"] == 3)
    assert case["iterations"] == 4, "mprotect, twice a round"
    assert "init (1)" in names(found) and len(names(found)) == 3, "and a child in each round"
    assert all(re.fullmatch(r"init \(\d+\)", name) for name in names(found))


def test_descriptions_are_those_that_the_document_names():
    there = {path.name for path in (paths.LAB / "guests").glob("*.toml")}
    said = (paths.ROOT / "docs" / "plugin.md").read_text()
    assert there and all(name in said for name in there)


READS = """
dd if=/dev/urandom of=/dev/null bs=64M count=1 2>/dev/null &
for i in 1 2 3 4 5; do sleep 0.05; done
kill -0 $! && echo meanwhile
kill $!
"""


def test_a_call_that_computes_for_long_keeps_nobody_from_running(tmp_path):
    """In the kernel, which nothing interrupts."""
    ended = qemu.run(linux_server.prepare(Wish("minimal", READS), tmp_path), timeout=TIMEOUT_SECONDS)
    assert not ended.timed_out and "\nmeanwhile" in ended.console.replace("\r", ""), ended.console
