# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/conformance.md names tests that exist, and all of them."""

import fnmatch
import re

from cobnut import paths

SOURCES = sorted((paths.ROOT / "user/x2test").rglob("*_tests.cc"))
TESTS = {name for path in SOURCES for name in re.findall(r'^    \{"([a-z0-9_.]+)",', path.read_text(), re.MULTILINE)}
ROWS = [
    line.strip("|").rsplit("|", 1)
    for line in (paths.ROOT / "docs/conformance.md").read_text().splitlines()
    if line.startswith("| ") and not line.startswith("| Statement")
]


def named(cell: str) -> list[str]:
    """The tests, or patterns of tests, that a row's last column names."""
    return re.findall(r"`([a-z0-9_]+\.[a-z0-9_*]+)`", cell)


def test_the_tables_are_found():
    assert len(TESTS) > 400 and len(ROWS) > 150


def test_every_test_named_exists():
    unknown = [name for _, cell in ROWS for name in named(cell) if not fnmatch.filter(TESTS, name)]
    assert not unknown


def test_every_test_is_named():
    patterns = [name for _, cell in ROWS for name in named(cell)]
    assert not sorted(test for test in TESTS if not any(fnmatch.fnmatchcase(test, pattern) for pattern in patterns))


def test_a_statement_has_a_test_or_a_reason():
    bare = [
        statement for statement, cell in ROWS if not named(cell) and not re.match(r" (– \(.+\)|missing: .+) $", cell)
    ]
    assert not bare
