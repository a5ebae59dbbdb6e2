# SPDX-License-Identifier: GPL-2.0-or-later
"""How long lines may be."""

import re
from collections.abc import Iterator
from pathlib import Path

import sources

CODE_COLUMNS, PROSE_COLUMNS = 120, 100
NUMBER = re.compile(r"\w+ = \{ .* \}$")  # of a machine file: an inline table, which TOML wants in one line
FENCE = "```"


def too_long_in_code(path: Path) -> Iterator[int]:
    for number, line in enumerate(sources.lines(path), start=1):
        if len(line) > CODE_COLUMNS and not (path.suffix == ".toml" and NUMBER.match(line)):
            yield number


def too_long_in_prose(lines: list[str]) -> Iterator[int]:
    """But for tables, headings, what has no blank to break at, as links have none, and code: that is shown as it is."""
    fenced = indented = False
    before = ""
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith(FENCE):
            fenced = not fenced
        indented = line.startswith("    ") and (indented or not before.strip())
        before = line
        if fenced or indented or line.lstrip().startswith(("|", "#")):
            continue
        text = re.sub(r"^\s*([-*]|\d+\.) ", "", line).strip()
        if len(line) > PROSE_COLUMNS and " " in text:
            yield number


def test_code_has_at_most_120_columns():
    found = [path for path in sources.code()]
    assert len(found) > 100
    assert [f"{path}:{number}" for path in found for number in too_long_in_code(path)] == []


def test_prose_has_at_most_100_columns():
    found = sources.prose()
    assert len(found) > 10
    wide = [f"{path}:{number}" for path in found for number in too_long_in_prose(sources.lines(path))]
    assert wide == []


def test_of_a_patch_only_what_it_adds_counts():
    patch = ["Subject: why", "--- a/file", "+++ b/file", "@@ -1 +1,2 @@", " quoted", "-gone", "+\tadded"]
    assert sources.added(patch) == ["Subject: why", "", "", "", "", "", "\tadded"]


def test_long_lines_are_noticed_and_tables_headings_and_links_are_not():
    words = "word " * 30
    for allowed in (
        [f"| {words}|"],
        [f"# {words}"],
        ["- https://" + "x" * 120],
        [FENCE, words, FENCE],
        [f"    {words}"],
    ):
        assert list(too_long_in_prose(allowed)) == []
    for refused in (words, f"- {words}", f"1. {words}", f"  {words}"):
        assert list(too_long_in_prose([refused])) == [1]
    assert list(too_long_in_prose(["- item", f"    {words}"])) == [2], "which goes on with the item"
