# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits on how long an emulator may run: processor time, not what a busy machine makes of it."""

import sys

import pytest

from cobnut import process


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_what_ends_by_itself_keeps_its_status_and_its_words(tmp_path):
    command = python("import sys; sys.stderr.write('why'); print('what'); sys.exit(3)")
    assert process.run_limited(command, tmp_path, 60) == process.Ended(3, "what\n", "why", False)


def test_what_uses_its_processor_time_up_is_cut_off(tmp_path):
    assert process.run_limited(python("while True: pass"), tmp_path, 1).cut_off


def test_what_its_children_use_counts(tmp_path):
    busy = python(f"import subprocess; subprocess.run([{sys.executable!r}, '-c', 'while True: pass'])")
    assert process.run_limited(busy, tmp_path, 1).cut_off


@pytest.mark.parametrize("stall, cut_off", [(60, False), (0.5, True)])
def test_waiting_is_not_using_and_has_a_limit_of_its_own(tmp_path, monkeypatch, stall, cut_off):
    monkeypatch.setattr(process, "STALL_SECONDS", stall)
    assert process.run_limited(python("import time; time.sleep(3)"), tmp_path, 1).cut_off == cut_off


def test_a_turn_now_and_then_is_enough(tmp_path, monkeypatch):
    """A process that gets little of a busy machine's processors is not taken for one that waits for nothing."""
    monkeypatch.setattr(process, "STALL_SECONDS", 2)
    now_and_then = """
import time
end = time.monotonic() + 5
while time.monotonic() < end:
    turn = time.process_time() + 0.04
    while time.process_time() < turn:
        pass
    time.sleep(0.4)
"""
    assert not process.run_limited(python(now_and_then), tmp_path, 1).cut_off
