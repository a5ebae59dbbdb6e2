# SPDX-License-Identifier: GPL-2.0-or-later
"""The boards with an ARM processor: boot, what is wrong with what is booted, and the kernel's interface."""

import json
import re

import pytest
from rows import begins, rows

import guests
from cobnut import attacks, boards, build, cpio, machines, sanitizing, stretches
from cobnut.emulators import Boot, qemu_arm
from cobnut.experiments import Lab, attack_isolation_arm, crowd, stress_arm
from cobnut.experiments.crowd import Crowd
from cobnut.findings import read
from cobnut.modules import Module
from cobnut.progress import Silent
from conftest import run_cobnut

BOARDS = [board.name for board in boards.BOARDS.values() if board.processor is boards.ARM]
TIMEOUT_SECONDS = (
    180  # the StrongARM has no way to wait for an interrupt that its emulator knows: it idles by instructions
)
EMPTY = cpio.archive([])


def program(board, name, arguments=""):
    return Module(boards.find(board).program(name), arguments)


def boot(board, *modules, options="", tags=True):
    """Boots sigma0 and `modules` (the root server first) until the run ends, and fails if it does not."""
    found = boards.find(board)
    if not tags:
        found = found.standard
        build.images(found)
    what = Boot(found.kernel, (program(board, "sigma0"), *modules), options, memory_mb=found.memory_mb or 64)
    outcome = qemu_arm.run(what, board, timeout=TIMEOUT_SECONDS)
    assert not outcome.timed_out, f"no end after {TIMEOUT_SECONDS} s; console:\n{outcome.console}"
    return outcome


@pytest.mark.parametrize("board", BOARDS)
def test_hello(board):
    outcome = boot(board, program(board, "root", "off=1"), program(board, "hello"))
    assert "hello: hello, world" in outcome.console
    before, after = (
        int(n) for n in re.search(r"at (\d+) us I slept for 100 ms, now it is (\d+) us", outcome.console).groups()
    )
    # as a timeout has it: ten bits, times a power of two (manual 3.2)
    assert 100_000 >> 7 << 7 <= after - before < 110_000
    assert outcome.code == 0


@pytest.mark.parametrize("board", BOARDS)
def test_several_programs_at_the_same_address(board):
    outcome = boot(board, program(board, "root", "off=1"), *[program(board, "hello")] * 3)
    assert outcome.console.count("hello: hello, world") == 3
    assert outcome.code == 0


@pytest.mark.parametrize(
    ("board", "tags", "third"),
    [*((board, True, "") for board in BOARDS), *(("versatilepb", False, third) for third in guests.thirds(0))],
)
def test_x2test(board, tags, third):
    outcome = boot(board, program(board, "x2test", third), tags=tags)
    failed = [line for line in outcome.console.splitlines() if line.startswith("FAIL")]
    assert not failed, "\n".join(failed)
    verdict = re.search(r"^x2test: (\d+) passed, 0 failed$", outcome.console, re.MULTILINE)
    assert verdict, outcome.console[-2000:]
    assert int(verdict.group(1)) > (60 if third else 200)
    assert outcome.kernel_message is None
    assert outcome.code == 0


@pytest.mark.parametrize(("board", "tags"), [*((board, True) for board in BOARDS), ("versatilepb", False)])
def test_nothing_stale_is_used_where_tags_change_hands(board, tags, tmp_path):
    """x2test's own scenes of domains, slots and aliases, with an emulator that does cache. Without tags everything is
    flushed at a switch; but the kernel also copies for threads whose space is not the one that ran last."""
    built = boards.find(board)
    if not tags:
        built = built.standard
        build.images(built)
    out = tmp_path / "reports.json"
    what = Boot(
        built.kernel,
        (program(board, "sigma0"), program(board, "x2test", "filter=domains.")),
        memory_mb=built.memory_mb or 64,
    )
    outcome = qemu_arm.run(what, board, timeout=TIMEOUT_SECONDS, plugin=sanitizing.plugin(built.kernel_executable, out))
    assert " passed, 0 failed" in outcome.console
    assert read(out).reports == []


PIECES = {
    "shared_page",
    "moved_space",
    "many_megabytes",
    "shared_megabyte",
    "shared_places",
    "large_page",
    "split_page",
}


@pytest.mark.parametrize("board", BOARDS)
def test_what_is_done_in_one_piece_is_bounded(board):
    """Whatever users have made of it (docs/preemption.md). These are the rows that count by themselves; all are made by
    test_no_stretch_with_interrupts_off_is_long.
    """
    worst = {}
    for begin in begins(PIECES):
        console = boot(board, program(board, "x2test", f"filter=latency.{begin} latency=1")).console
        worst |= {name: int(count) for name, count in re.findall(r"^latency: (\w+) (\d+)$", console, re.MULTILINE)}
        assert re.search(r"^x2test: [1-9]\d* passed, 0 failed$", console, re.MULTILINE), console[-2000:]
    assert worst.keys() == PIECES
    assert all(count < 20_000 for count in worst.values()), worst


@pytest.mark.parametrize(("board", "tags"), [*((board, True) for board in BOARDS), ("collie", False)])
def test_no_stretch_with_interrupts_off_is_long(board, tags):
    """Of all that happens in those cases and others, the making of their spaces included: what `latency/worst`
    measures.
    """
    built = boards.find(board)
    if not tags:
        built = built.standard
        build.images(built)
    found = stretches.measure(built, spaces=100, threads=200)
    assert found.keys() == rows(built) > PIECES
    assert {name: one for name, one in found.items() if one.instructions >= 20_000} == {}


@pytest.mark.parametrize("board", BOARDS)
def test_greedy_spaces_beside_a_working_one(board):
    outcome = boot(board, program(board, "share"))
    assert outcome.code == 0 and "share: done" in outcome.console, outcome.console


CROWDS = [
    *(
        f"pattern=calls place={place} members={n}"
        for place in ("apart", "alike", "collide", "slots", "within")
        for n in (1, 20, 64)
    ),
    *(
        f"pattern=reads place={place} members=16 shared={n} pages=1:40:13"
        for place in ("apart", "alike")
        for n in (0, 1)
    ),
]


@pytest.mark.parametrize("board", BOARDS)
def test_crowds_of_spaces(board):
    for wish in CROWDS:
        outcome = boot(board, program(board, "crowd", f"{wish} rounds=500 warmup=20"))
        assert outcome.code == 0 and "crowd: done" in outcome.console, f"{wish}: {outcome.console[-300:]}"


@pytest.mark.parametrize("board", BOARDS)
def test_a_large_page_takes_one_entry_of_the_tlb(board):
    lab = Lab("made/up", boards.find(board), machines.load("sa1100-200"), "qemu", True, {}, {}, Silent())
    specs = [Crowd("reads", "alike", 2, 50, 10, large=large, pages=(40, 40, 1)) for large in (False, True)]
    small, large = (counted.each("dtlb_misses") for counted in crowd.measure(lab, specs))
    assert small >= 40  # in a turn, and there are 32 entries
    assert large < 5


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    "wish", ["members=65", "members=0", "pattern=reads members=17", "place=here", "pages=0:3:1", "seed=0", "rounds=x"]
)
def test_a_crowd_that_is_not_possible(board, wish):
    outcome = boot(board, program(board, "crowd", wish))
    assert outcome.code == 1 and "crowd: FAIL bad option" in outcome.console


@pytest.mark.parametrize("board", BOARDS)
def test_every_attack_is_refused(board):
    made, findings = attack_isolation_arm.attempts(boards.find(board))
    assert {check.name: check.ok for check in attack_isolation_arm.judge_run("fast", made, findings)} == {
        "fast.attempts": True,
        "fast.not_refused": True,
        "fast.reports": True,
    }


@pytest.mark.parametrize("board", BOARDS)
def test_the_attack_program_sees_what_leaks(board):
    outcome = boot(board, program(board, "attack", "leaks=1 only=load"))
    status = {one.name: one.status for one in attacks.read(outcome.console)}
    assert outcome.code == 1
    assert {status[f"{access}.apart"] for access in ("load", "load_byte", "load_half", "load_multiple")} == {"escaped"}
    assert status["load.slot_60"] == "escaped" and status["load.kernel"] == "refused"


@pytest.mark.parametrize("board", BOARDS)
def test_random_system_calls_do_what_the_model_says_and_use_nothing_stale(board):
    built = boards.find(board)
    done = stress_arm.boot(built, built.kernel, seed=5, operations=12_000, timeout=TIMEOUT_SECONDS)
    assert done.failure is None
    assert done.findings.lines == []
    assert all(
        done.counters[name] > 50
        for name in (
            "accesses",
            "faults",
            "maps",
            "grants",
            "unmaps",
            "peer_calls",
            "thread_deletions",
            "space_deletions",
            "resizes",
        )
    )


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"not a program\n" * 200, "is not an ELF file"),
        (b"\x7fELF" + bytes(20), "is not an ELF file"),
        (boards.find("collie").program("root"), "is truncated"),
    ],
    ids=["text", "part of a header", "part of a program"],
)
def test_a_bad_root_server_is_refused(board, tmp_path, content, words):
    bad = tmp_path / "root"
    bad.write_bytes(content if isinstance(content, bytes) else content.read_bytes()[:200])
    outcome = boot(board, Module(bad))
    assert outcome.code == 1
    assert outcome.kernel_message and words in outcome.kernel_message


@pytest.mark.parametrize("board", BOARDS)
def test_a_program_for_another_processor_is_refused(board):
    outcome = boot(board, Module(boards.find("pc").program("root")))
    assert outcome.code == 1
    assert outcome.kernel_message and "for this processor" in outcome.kernel_message


@pytest.mark.parametrize("board", BOARDS)
def test_an_unknown_kernel_option_is_named(board):
    outcome = boot(board, program(board, "root"), program(board, "hello"), options="turbo=on")
    assert outcome.code == 1
    assert outcome.kernel_message and "turbo=on" in outcome.kernel_message


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:400], "cut off"),
        (lambda data: b"0" * 6 + data[6:], "damaged"),
        (lambda data: data[:54] + b"zzzzzzzz" + data[62:], "damaged"),
        (lambda data: EMPTY, "needs two modules, sigma0 and a root server"),
    ],
)
def test_a_damaged_archive_of_modules_is_refused(board, monkeypatch, damage, words):
    whole = cpio.archive
    monkeypatch.setattr(cpio, "archive", lambda members: damage(whole(members)))
    outcome = boot(board, program(board, "root"), program(board, "hello"))
    assert outcome.code == 1
    assert outcome.kernel_message and words in outcome.kernel_message


@pytest.mark.parametrize("board", BOARDS)
def test_the_path_of_an_ipc_is_counted(tmp_path, board):
    """And it is as short as it has to be, between spaces and within one."""
    file = tmp_path / "path.json"
    done = run_cobnut("run", "ipc/path", "--board", board, "--quick", "--json", str(file), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout
    result = json.loads(file.read_text())
    assert result["machine"] == boards.find(board).machine
    checks = {check["name"]: check for check in result["checks"]}
    for pair in ("different_address", "same_address", "intra"):
        assert 40 < checks[f"one_way.{pair}.instructions"]["measured"] <= 60
    assert all(round(1000 * sum(row["entries"].values())) == round(1000 * row["total"]) for row in result["ledger"])
