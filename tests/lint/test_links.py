# SPDX-License-Identifier: GPL-2.0-or-later
"""Links in prose lead somewhere, and every page of docs/ is on one of the shelves."""

import re
from pathlib import Path

import sources

LINK = re.compile(r"\]\(([^()\s]+)\)")
SHELVES = Path("docs/README.md")


def anchors(text: str) -> set[str]:
    """What a `#` can name in a page: its headings, as a renderer of Markdown writes them."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def dead(page: Path) -> list[str]:
    """The links of `page`, a path from the root, that name no file of this tree or no heading in it."""
    found = []
    for link in LINK.findall((sources.paths.ROOT / page).read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        target = (sources.paths.ROOT / page).parent / name if name else sources.paths.ROOT / page
        if "://" not in link and not (target.exists() and (not anchor or anchor in anchors(target.read_text()))):
            found.append(link)
    return found


def test_no_link_is_dead():
    assert {str(page): links for page in sources.prose() if (links := dead(page))} == {}


def test_every_page_is_on_a_shelf():
    shelves = (sources.paths.ROOT / SHELVES).read_text().partition("\n## ")[2]
    pages = {path.name for path in sources.prose() if path.parent == SHELVES.parent} - {SHELVES.name}
    assert pages <= set(LINK.findall(shelves))


def test_headings_are_named_as_they_are_rendered():
    assert anchors("# What it costs\n\ntext\n## `--json`, and more\n") == {"what-it-costs", "--json-and-more"}
