# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits on how long an emulator may run: processor time, not what a busy machine makes of it."""

import sys

import pytest

from cobnut import process


def python(text: str) -> list[str]:
    return [sys.executable, "-c", text]


def test_what_ends_by_itself_keeps_its_status_and_its_words(tmp_path):
    command = python("import sys; sys.stderr.write('why'); sys.exit(3)")
    assert process.run_limited(command, tmp_path, 60) == (3, "why", False)


def test_what_uses_its_processor_time_up_is_cut_off(tmp_path):
    assert process.run_limited(python("while True: pass"), tmp_path, 1)[2]


@pytest.mark.parametrize("patience, cut_off", [(10, False), (0.5, True)])
def test_waiting_is_not_using_and_has_a_limit_of_its_own(tmp_path, monkeypatch, patience, cut_off):
    monkeypatch.setattr(process, "PATIENCE", patience)
    assert process.run_limited(python("import time; time.sleep(2)"), tmp_path, 1)[2] == cut_off
