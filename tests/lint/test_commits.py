# SPDX-License-Identifier: GPL-2.0-or-later
"""How commits are described."""

import subprocess

import pytest

from cobnut import paths

LONGEST = 72
SINCE = 1795305600  # 2026-11-22, in seconds: the rule holds for what has been written from then on


def git(*words: str) -> str:
    command = ["git", "-c", f"safe.directory={paths.ROOT}", "-C", str(paths.ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def too_long(log: str) -> list[str]:
    """Lines `HASH SECONDS SUBJECT` of those that are."""
    commits = [line.split(" ", 2) for line in log.splitlines()]
    return [f"{name} {subject}" for name, at, subject in commits if int(at) >= SINCE and len(subject) > LONGEST]


@pytest.mark.skipif(not (paths.ROOT / ".git").exists(), reason="not a clone: it has no commits")
def test_subjects_have_at_most_72_characters():
    assert too_long(git("log", "--no-merges", "--format=%h %at %s")) == []


def test_a_longer_subject_is_noticed():
    log = f"0123abc {SINCE} {'x' * 72}\n0123abd {SINCE} {'x' * 73}\n0123abe {SINCE - 1} {'x' * 73}\n"
    assert too_long(log) == [f"0123abd {'x' * 73}"]
