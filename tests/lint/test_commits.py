# SPDX-License-Identifier: GPL-2.0-or-later
"""How commits are described."""

import subprocess

import pytest

from cobnut import paths

LONGEST = 72
BASE = "c4311a8"  # the rule holds for what came after it


def git(*words: str) -> str:
    command = ["git", "-c", f"safe.directory={paths.ROOT}", "-C", str(paths.ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def too_long(log: str) -> list[str]:
    return [line for line in log.splitlines() if len(line.partition(" ")[2]) > LONGEST]


@pytest.mark.skipif(not (paths.ROOT / ".git").exists(), reason="not a clone: it has no commits")
def test_subjects_have_at_most_72_characters():
    assert git("merge-base", BASE, "HEAD"), f"{BASE} is no ancestor of this commit: name another one here"
    assert too_long(git("log", "--no-merges", "--format=%h %s", f"{BASE}..HEAD")) == []


def test_a_longer_subject_is_noticed():
    assert too_long(f"0123abc {'x' * 72}\n0123abd {'x' * 73}") == [f"0123abd {'x' * 73}"]
