# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux on an ARM board with fast address-space switching (docs/linux-arm.md): the same programs as on the unchanged
kernel, and what it says that it flushed. The first run compiles it.
"""

import re

import pytest

from cobnut import boards, images, sanitizing
from cobnut.emulators import Boot, Outcome, qemu, qemu_arm
from cobnut.findings import read
from cobnut.linux import board as board_linux

BOARD = boards.find("versatilepb")
TIMEOUT_SECONDS = 600
PROCESSES, DOMAINS = 40, 15


def boot(
    tmp_path, commands: str, *, fass: bool = True, options: str = "", plugin: qemu.Plugin | None = None
) -> Outcome:
    """The guest's init executes the commands and ends."""
    disk = tmp_path / "initrd"
    disk.write_bytes(board_linux.initrd())
    kernel = board_linux.ensure(BOARD, fass=fass).kernel
    first, *rest = images.parse(
        [f"{kernel} console=ttyAMA0 quiet {options} -- {commands} off", str(disk)], BOARD.processor
    )
    what = Boot(first.path, tuple(rest), first.arguments, memory_mb=64, as_initrd=True)
    done = qemu_arm.run(what, BOARD.name, timeout=TIMEOUT_SECONDS, plugin=plugin)
    assert "guest: done" in done.console and "FAIL" not in done.console, done.console
    return done


def counts(console: str) -> dict[str, int]:
    """What /proc/fass says."""
    return {name: int(value) for name, value in re.findall(r"^([a-z_]+) (\d+)$", console, re.MULTILINE)}


@pytest.mark.parametrize("fass", [False, True], ids=["standard", "fast"])
def test_a_crowd_sees_what_it_has_written(tmp_path, fass):
    work = f"memory 2 crowd {PROCESSES} 3 sharers {PROCESSES} 3 pipe 20 5 fifo 20 5 threads 20 5"
    console = boot(tmp_path, f"{work} show /proc/fass", fass=fass).console
    for name in ("memory", "crowd", "sharers", "pipe", "fifo", "threads"):
        assert f"guest: {name} done" in console
    assert ("guest: no such file" in console) == (not fass)
    if fass:
        found = counts(console)
        assert found["domains_revoked"] >= PROCESSES - DOMAINS, "there are fewer domains than processes"
        assert found["cache_flush_alias"] > PROCESSES, "one memory at different addresses"
        assert found["tlb_flush_revoked"] < found["domains_revoked"], "several go at a time"


def test_pipes_between_processes_flush_nothing(tmp_path):
    few = counts(boot(tmp_path, "pipe 100 10 show /proc/fass").console)
    many = counts(boot(tmp_path, "pipe 1100 10 show /proc/fass").console)
    assert many["switches"] - few["switches"] >= 2000
    flushed = [name for name in few if "flush" in name]
    assert {name: many[name] for name in flushed} == {name: few[name] for name in flushed}


def test_fast_switching_can_be_switched_off(tmp_path):
    console = boot(tmp_path, f"memory 1 crowd {PROCESSES} 2 show /proc/fass", options="fass=off").console
    assert "guest: crowd done" in console and "guest: no such file" in console


def test_the_sanitizer_finds_what_it_finds_in_the_standard_kernel(tmp_path):
    out = tmp_path / "found.json"
    names = (("symbols", str(board_linux.ensure(BOARD, fass=True).symbols)),)
    boot(tmp_path, "memory 1 crowd 17 3 sharers 4 2", plugin=sanitizing.plugin_for(names, out))
    stores = {(report.store_symbol or "").partition("+")[0] for report in read(out).reports}
    assert stores == {"__create_mapping"}, "where it maps its memory anew, at its start"
