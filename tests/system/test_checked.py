# SPDX-License-Identifier: GPL-2.0-or-later
"""The checked kernel: what runs on the ordinary one runs on it, and an invariant that is broken is reported."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import guests
from cobnut import boards, build
from cobnut.emulators import Boot, Outcome, qemu_arm
from cobnut.modules import Module
from cobnut.symbols import Symbols

ARM_TIMEOUT_SECONDS = 180


def built(name: str) -> boards.Board:
    board = boards.configured(boards.find(name), ["checked=on"])
    build.images(board)
    return board


def boot(
    board: boards.Board, *words: tuple[str, ...], on: guests.Processor = guests.USUAL, kernel: Path | None = None
) -> Outcome:
    """Boots the checked kernel of `board`, or a mutant of it, with programs and their arguments; waits for the end."""
    modules = tuple(Module(board.program(name), *arguments) for name, *arguments in (("sigma0",), *words))
    what = Boot(kernel or board.kernel, modules, cpu=on.cpu)
    if board.processor is boards.IA32:
        return guests.run(what, on)
    outcome = qemu_arm.run(replace(what, memory_mb=board.memory_mb or 64), board.name, timeout=ARM_TIMEOUT_SECONDS)
    assert not outcome.timed_out, outcome.console[-2000:]
    return outcome


def assert_passed(outcome: Outcome) -> None:
    assert outcome.kernel_message is None
    failed = [line for line in outcome.console.splitlines() if line.startswith("FAIL")]
    assert not failed, "\n".join(failed)
    assert re.search(r"^x2test: \d+ passed, 0 failed$", outcome.console, re.MULTILINE), outcome.console[-2000:]


@pytest.mark.parametrize(
    ("kinds", "third"), [(kinds, third) for at, kinds in enumerate(guests.KINDS) for third in guests.thirds(at)]
)
def test_x2test(kinds, third):
    board = built("pc")
    assert_passed(guests.run(replace(guests.x2test(f"kinds={kinds} {third}"), kernel=board.kernel)))


@pytest.mark.parametrize(
    ("name", "third"),
    [(name, third) for at, name in enumerate(("versatilepb", "collie")) for third in guests.thirds(at)],
)
def test_x2test_on_arm(monkeypatch, name, third):
    """On a processor that is four times as fast: two reads of the clock are no longer within a microsecond
    otherwise.
    """
    monkeypatch.setattr(qemu_arm, "ICOUNT_SHIFT", qemu_arm.ICOUNT_SHIFT - 2)
    assert_passed(boot(built(name), ("x2test", third)))


@pytest.mark.parametrize("part", ["isolation.", "tags.", "tls.", "gate."])
def test_segments_where_limits_are_enforced(part):
    assert_passed(boot(built("pc"), ("x2test", f"filter={part} limits=1"), on=guests.BOCHS[-1]))


@pytest.mark.parametrize(
    ("name", "program", "wish"),
    [
        ("pc", "fuzz", "calls=20000"),
        ("pc", "stress", "operations=5000"),
        ("versatilepb", "x2test", "filter=robust.wild calls=6000"),
        ("versatilepb", "stress", "operations=1000"),
    ],
)
def test_random_calls(name, program, wish):
    outcome = boot(built(name), (program, f"seed=1 {wish}"))
    assert outcome.code == 0 and outcome.kernel_message is None, outcome.console[-2000:]


def test_a_broken_invariant_is_reported_with_its_thread_and_a_backtrace(tmp_path):
    """In a copy of the kernel, a thread that is woken early stays in the heap of timeouts."""
    board = built("pc")
    symbols = Symbols(board.kernel)
    (address,) = [
        value
        for name, value in symbols.addresses.items()
        if name.startswith("_ZN8timeouts6cancel") and ".cold" not in name
    ]
    data = bytearray(board.kernel.read_bytes())
    at = symbols.offset(address)
    data[at : at + 1] = b"\xc3"  # ret
    kernel = tmp_path / "broken-kernel"
    kernel.write_bytes(data)
    outcome = boot(board, ("root", "off=1"), ("hello",), kernel=kernel)
    line = r"^cobnut: check failed: .*timeout.* at kernel/core/\w+\.cpp:\d+, thread [0-9a-f]{7}1$"
    assert re.search(line, outcome.console, re.MULTILINE), outcome.console[-2000:]
    assert re.match(r"check failed: .*; kernel fault 6 ", outcome.kernel_message or "")
    frames = outcome.console.split("backtrace:\n", 1)[1].splitlines()
    assert "checks::failed" in frames[0] and any(
        "leave_kernel" in frame or "common_saved at" in frame for frame in frames
    )


def test_the_ordinary_kernel_has_no_checks():
    for name in boards.BOARDS:
        board = boards.find(name)
        build.images(board)
        assert b"check failed" not in board.kernel.read_bytes()
        assert b"6checks" not in board.kernel_executable.read_bytes()
