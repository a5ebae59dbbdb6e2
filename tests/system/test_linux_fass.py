# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux on ARM boards with fast address-space switching (docs/linux-arm.md): the same programs as on the unchanged
kernel, and what it says that it flushed. The first run compiles it. Longer form: `./cobnut test long linux/series`.
"""

import hashlib
import json
import os
import re
import subprocess

import pytest

from cobnut import boards, foreign, images, machines, measuring, paths, sanitizing
from cobnut.emulators import Boot, Outcome, qemu, qemu_arm
from cobnut.findings import read
from cobnut.linux import armel, source
from cobnut.linux import board as board_linux

BOARDS = [boards.find(name) for name in board_linux.PORTS]
VERSATILEPB = boards.find("versatilepb")
TIMEOUT_SECONDS = 600
PROCESSES, DOMAINS = 40, 15
TURNS = 30  # of each process
RELOCATED = 32 << 20  # addresses up to here are
LINES = (300, 900, 2700, 8100)
PIPELINES = (
    f"for n in {' '.join(map(str, LINES))}; do (seq 1 $n | gzip | gunzip | cat | cat | md5sum) & done; wait;"
    " cat /proc/self/maps; bash -c 'echo bash $((6 * 7))'; cat /proc/fass"
)
LMBENCH = (
    "export ENOUGH=2000; lat_syscall -N 1 null; lat_pipe -N 1; lat_ctx -N 1 -s 0 2;"
    " lat_tcp -s localhost; lat_tcp -N 1 localhost"
)
MEMBERS, WRITE = 3, 4  # of a small crowd; the number of the call
SERIES = board_linux.fast_series()
STATES = range(len(SERIES), len(SERIES) - int(os.environ.get("PATCHES", "1")), -1)  # after how many patches it is tried
KINDS = ("pipe", "fifo", "unix", "fcntl", "threads", "unix_threads", "fcntl_threads", "pipe_stream", "unix_stream")
# what the sanitizer reports of collie's decompressor, to which QEMU tells another size of the cache than the SA-1110
DECOMPRESSORS = {"collie": "lost-line", "versatilepb": None}
CHECKPATCH = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")


def boot(
    tmp_path, board, commands: str, *, patches=SERIES, options: str = "", plugin: qemu.Plugin | None = None
) -> Outcome:
    """The guest's init executes the commands and ends."""
    disk = tmp_path / "initrd"
    disk.write_bytes(board_linux.initrd())
    kernel = board_linux.ensure(board, patches).kernel
    memory_mb = board.memory_mb or 64
    return run(kernel, disk, board, f"{options} -- {commands} off", memory_mb=memory_mb, plugin=plugin)


def run(kernel, disk, board, options: str, *, memory_mb: int, plugin: qemu.Plugin | None = None) -> Outcome:
    """A guest comes to its end."""
    console = f"console={board_linux.PORTS[board.name].console} quiet"
    first, *rest = images.parse([f"{kernel} {console} {options}", str(disk)], board.processor)
    what = Boot(first.path, tuple(rest), first.arguments, memory_mb=memory_mb, as_initrd=True)
    done = qemu_arm.run(what, board.name, timeout=TIMEOUT_SECONDS, plugin=plugin)
    assert "guest: done" in done.console and "FAIL" not in done.console, done.console
    return done


def counts(console: str) -> dict[str, int]:
    """What /proc/fass says."""
    return {name: int(value) for name, value in re.findall(r"^([a-z_]+) (\d+)$", console, re.MULTILINE)}


@pytest.mark.parametrize(
    ("board", "patches"),
    [
        pytest.param(board, patches, id=f"{board.name}-{guest}")
        for board in BOARDS
        for guest, patches in {"linux": (), "linux-fass": SERIES}.items()
        if (board.name, guest) not in foreign.UNTESTED
    ],
)
def test_a_crowd_sees_what_it_has_written(tmp_path, board, patches):
    kinds = (*KINDS, "fork", "exec", "shell")
    work = f"memory 2 heap crowd {PROCESSES} 3 sharers {PROCESSES} 3 {','.join(kinds)} 20 5"
    console = boot(tmp_path, board, f"{work} show /proc/fass", patches=patches).console
    for name in ("memory", "heap", "crowd", "sharers", *kinds):
        assert f"guest: {name} done" in console
    assert ("guest: no such file" in console) == (not patches)
    if patches:
        found = counts(console)
        assert found["domains_revoked"] >= PROCESSES - DOMAINS, "there are fewer domains than processes"
        assert found["slots_left"] > 0, "a heap reaches where its process is relocated to"
        assert found["cache_flush_alias"] > PROCESSES, "one memory at different addresses"
        assert found["tlb_flush_revoked"] < found["domains_revoked"], "several go at a time"


@pytest.mark.parametrize(("board", "kind"), [("versatilepb", "pipe"), ("collie", "unix"), ("collie", "fcntl")])
def test_a_potato_between_processes_flushes_nothing(tmp_path, board, kind):
    few = counts(boot(tmp_path, boards.find(board), f"{kind} 100 10 show /proc/fass").console)
    many = counts(boot(tmp_path, boards.find(board), f"{kind} 1100 10 show /proc/fass").console)
    assert many["switches"] - few["switches"] >= 2000
    flushed = [name for name in few if "flush" in name]
    assert {name: many[name] for name in flushed} == {name: few[name] for name in flushed}


def test_of_those_that_take_turns_most_keep_their_domains(tmp_path):
    """One more than there are domains: were the longest unused to lose its domain, none would find it."""
    found = counts(boot(tmp_path, VERSATILEPB, f"ring-{DOMAINS + 1}-0 {TURNS} 0 show /proc/fass").console)
    assert found["switches"] >= TURNS * DOMAINS
    assert found["without_domain"] < found["switches"] / 4


@pytest.mark.parametrize("patches", [(), SERIES], ids=["debian", "debian-fass"])
def test_debians_programs_are_relocated_whole(tmp_path, patches):
    """Unmodified, with shared libraries; several pipelines at a time, of more processes than there are domains."""
    disk, kernel = tmp_path / "initrd", board_linux.ensure(VERSATILEPB, patches, for_debian=True).kernel
    disk.write_bytes(armel.initrd())
    console = run(kernel, disk, VERSATILEPB, f'run="{PIPELINES}"', memory_mb=armel.MEMORY_MB).console
    for lines in LINES:
        counted = "".join(f"{line}\n" for line in range(1, lines + 1))
        assert hashlib.md5(counted.encode()).hexdigest() in console
    assert "bash 42" in console
    mapped = [int(end, 16) for end in re.findall(r"^[0-9a-f]{8}-([0-9a-f]{8}) ", console, re.MULTILINE)]
    assert len(mapped) > 10 and "libc.so" in console
    assert (max(mapped[:-1]) <= RELOCATED) == bool(patches), "the last are the vectors"
    if patches:
        found = counts(console)
        assert found["slots_left"] == 0 and found["without_domain"] > DOMAINS
        assert found["cache_flush_collision"] == 0, "no two have lines at the same address"


@pytest.mark.parametrize("patches", [(), SERIES], ids=["lmbench", "lmbench-fass"])
def test_lmbenchs_programs_have_results(tmp_path, patches):
    disk, kernel = tmp_path / "initrd", board_linux.ensure(VERSATILEPB, patches, for_debian=True).kernel
    disk.write_bytes(armel.initrd(armel.image("lmbench")))
    console = run(kernel, disk, VERSATILEPB, f'run="{LMBENCH}"', memory_mb=armel.MEMORY_MB).console
    assert [
        float(time) > 0 for time in re.findall(r" latency(?: using localhost)?: ([\d.]+) microseconds", console)
    ] == [True, True], console
    assert re.search(r"^Simple syscall: [\d.]+ microseconds", console, re.MULTILINE)
    assert re.search(r"^2 [\d.]+$", console, re.MULTILINE), "a switch between two processes"


def test_fast_switching_can_be_switched_off(tmp_path):
    done = boot(tmp_path, VERSATILEPB, f"memory 1 crowd {PROCESSES} 2 show /proc/fass", options="fass=off")
    assert "guest: crowd done" in done.console and "guest: no such file" in done.console


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
@pytest.mark.parametrize("options", ["", board_linux.SHARING], ids=["fast", "sharing"])
def test_the_sanitizer_finds_what_it_finds_in_the_standard_kernel(tmp_path, board, options):
    out = tmp_path / "found.json"
    names = (("symbols", str(board_linux.ensure(board, SERIES).symbols)),)
    work = "memory 1 crowd 17 3 sharers 4 2 regions"
    boot(tmp_path, board, work, options=options, plugin=sanitizing.plugin_for(names, out))
    found = [report for report in read(out).reports if report.kind != DECOMPRESSORS[board.name]]
    stores = {(report.store_symbol or "").partition("+")[0] for report in found}
    assert stores == {"__create_mapping"}, "where it maps its memory anew, at its start"
    assert all(report.privilege == 0 for report in read(out).reports), "none of a program"


@pytest.mark.parametrize("options", ["", "fass=off", "fass=share"], ids=["fast", "off", "share"])
@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_what_one_does_to_memory_of_many_is_what_linux_says(tmp_path, board, options):
    """The same with regions as without: a process that has not mapped it, or no more, gets a signal; pages that are
    written to privately are not common; a file that changes does so for all. Init has its code below 32 MB here.
    """
    found = counts(boot(tmp_path, board, "regions show /proc/fass", options=options).console)
    assert ("regions" in found) == (options != "fass=off")
    if options == "fass=share":
        assert found["regions"] > DOMAINS and found["domains_revoked"] > 0, "more regions than domains"
        assert found["regions_joined"] > found["regions"]
        assert found["regions_ended"] == found["regions"], "a region ends with its last member"
        assert found["region_pages_filled"] > found["region_pages_forgotten"] > 0
    elif not options:
        assert found["regions"] == 0


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_crowd_that_shares_its_code_sees_what_it_has_written(tmp_path, board):
    kinds = (*KINDS, "fork", "exec", "shell")
    work = f"memory 2 heap crowd {PROCESSES} 3 sharers {PROCESSES} 3 regions {','.join(kinds)} 20 5"
    console = boot(tmp_path, board, f"{work} show /proc/fass", options=board_linux.SHARING).console
    for name in ("memory", "heap", "crowd", "sharers", "regions", *kinds):
        assert f"guest: {name} done" in console
    found = counts(console)
    assert found["regions_joined"] > PROCESSES, "each process is a member for its code"
    assert found["slots_left"] > 0, "a heap begins behind the data, not behind the code"


def test_code_in_regions_is_not_exchanged_at_switches(tmp_path):
    """It has one place, so without regions two processes would take it from each other each time."""
    few, many = (
        counts(boot(tmp_path, VERSATILEPB, f"pipe {rounds} 10 show /proc/fass", options=board_linux.SHARING).console)
        for rounds in (100, 1100)
    )
    assert many["switches"] - few["switches"] >= 2000
    changing = [name for name in few if "flush" in name or "region" in name or "section" in name]
    assert len(changing) > 10 and {name: many[name] for name in changing} == {name: few[name] for name in changing}


def test_processes_in_one_table_are_told_apart(tmp_path):
    """By their slots, and by the task that runs."""
    out, symbols = tmp_path / "measured.json", board_linux.ensure(VERSATILEPB, SERIES).symbols
    more = [("processes", str(paths.LAB / "guests" / "linux-arm.toml")), ("region", f"1:call={WRITE}")]
    machine = machines.load(VERSATILEPB.machine)
    plugin = measuring.plugin_for((("symbols", str(symbols)),), machine, out, more=more)
    boot(tmp_path, VERSATILEPB, f"crowd {MEMBERS} 2", plugin=plugin)
    found = json.loads(out.read_text())
    tables = {space.partition("+")[0] for space in found["processes"]}
    assert len(tables) == 1 and len(found["regions"][0]["spaces"]) == MEMBERS + 1
    assert ["init (1)"] in found["processes"].values()


@pytest.fixture(scope="module")
def checkpatch(tmp_path_factory):
    """Linux's own, from the source that the series is for."""
    folder = tmp_path_factory.mktemp("scripts")
    names = [f"{source.PACKAGE}/scripts/{name}" for name in CHECKPATCH]
    subprocess.run(
        ["tar", "-xf", str(source.ensure().archive), "-C", str(folder), "--strip-components=2", *names], check=True
    )
    return folder / CHECKPATCH[0]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
@pytest.mark.parametrize("patches", STATES)
def test_the_series_can_end_with_each_patch(tmp_path, checkpatch, board, patches):
    """Each builds and boots without those behind it, and is as Linux wants patches to be."""
    words = ["perl", str(checkpatch), "--no-tree", "--no-signoff", "--terse", str(SERIES[patches - 1])]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stdout
    work = f"memory 1 crowd {PROCESSES} 2 sharers 8 2 show /proc/fass"
    found = counts(boot(tmp_path, board, work, patches=board_linux.fast_series(patches)).console)
    assert found["switches"] > PROCESSES
