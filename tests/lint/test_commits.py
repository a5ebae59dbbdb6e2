# SPDX-License-Identifier: GPL-2.0-or-later
"""How commits are described."""

import subprocess

import pytest

from cobnut import paths

LONGEST = 72
# in seconds: a rule holds for what has been written from then on
SINCE = 1795305600  # 2026-11-22
BODY_SINCE = 1795521600  # 2026-11-24, 12:00 UTC

FORMAT = "--format=%h%x00%at%x00%s%x00%b%x01"


def git(*words: str) -> str:
    command = ["git", "-c", f"safe.directory={paths.ROOT}", "-C", str(paths.ROOT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commits(log: str, since: int) -> list[tuple[str, str, str]]:
    """Hash, subject and body of each commit of a log in that format that was written then or later."""
    found = [commit.lstrip("\n").split("\0") for commit in log.split("\x01") if commit.strip()]
    return [(name, subject, body.strip()) for name, at, subject, body in found if int(at) >= since]


def too_long(log: str) -> list[str]:
    """Those whose subject is."""
    return [f"{name} {subject}" for name, subject, _ in commits(log, SINCE) if len(subject) > LONGEST]


def without_body(log: str) -> list[str]:
    """Those that do not say why."""
    return [f"{name} {subject}" for name, subject, body in commits(log, BODY_SINCE) if not body]


@pytest.fixture(scope="module")
def log() -> str:
    if not (paths.ROOT / ".git").exists():
        pytest.skip("not a clone: it has no commits")
    return git("log", "--no-merges", FORMAT)


def test_subjects_have_at_most_72_characters(log):
    assert too_long(log) == []


def test_each_commit_has_a_body(log):
    assert without_body(log) == []


def test_a_longer_subject_is_noticed():
    log = "".join(
        f"{name}\0{at}\0{'x' * length}\0why\n\x01\n"
        for name, at, length in (("0123abc", SINCE, 72), ("0123abd", SINCE, 73), ("0123abe", SINCE - 1, 73))
    )
    assert too_long(log) == [f"0123abd {'x' * 73}"]


def test_a_missing_body_is_noticed():
    log = "".join(
        f"{name}\0{at}\0subject\0{body}\x01\n"
        for name, at, body in (("a", BODY_SINCE, "why\n"), ("b", BODY_SINCE, "\n"), ("c", BODY_SINCE - 1, ""))
    )
    assert without_body(log) == ["b subject"]
