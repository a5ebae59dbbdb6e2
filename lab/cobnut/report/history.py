# SPDX-License-Identifier: GPL-2.0-or-later
"""A folder's reports and their index: what a page says of itself in its head is all that the index knows.

So the index can be made again from the pages that are there, and a deleted page is gone from it with the next run.
"""

import html
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from cobnut.results import Result

if TYPE_CHECKING:
    import jinja2

INDEX = "index.html"
HEAD = "<head>\n"
META = '<meta name="cobnut-run" content="{}">\n'
ENTRY = re.compile(r'<meta name="cobnut-run" content="([^"]*)">')
HEAD_BYTES = 16384  # of a page that are looked at


@dataclass(frozen=True)
class Entry:
    """A run, in the words of its report."""

    file: str
    experiment: str
    date: str
    machine: str
    board: str
    settings: str
    command: str
    revision: str
    ok: int
    known_miss: int
    failed: int

    @property
    def verdict(self) -> str:
        return "failed" if self.failed or not self.ok + self.known_miss else "known_miss" if self.known_miss else "ok"


WRITTEN = TypeAdapter(Entry)


def entry(result: Result, file: str) -> Entry:
    """What the index says about `result`, whose report is `file`."""
    origin = result.provenance
    verdicts = [check.verdict for check in result.checks]
    settings = [f"{name}={value}" for name, value in origin.settings.items()]
    return Entry(
        file,
        result.experiment,
        origin.date,
        result.machine or "",
        origin.board,
        " ".join(["quick"] * origin.quick + settings),
        origin.command,
        origin.revision,
        verdicts.count("ok"),
        verdicts.count("known_miss"),
        verdicts.count("failed"),
    )


def mark(page: str, about: Entry) -> str:
    """The page with its entry in its head."""
    return page.replace(HEAD, HEAD + META.format(html.escape(json.dumps(asdict(about)))), 1)


def entries(folder: Path) -> list[Entry]:
    """Those of the pages in `folder`, the latest first. A copy of a page, as the latest one is, does not count."""
    found = []
    for path in folder.glob("*.html"):
        with path.open("rb") as page:
            head = ENTRY.search(page.read(HEAD_BYTES).decode(errors="replace"))
        if not head:
            continue
        try:
            one = WRITTEN.validate_json(html.unescape(head.group(1)))
        except ValidationError:
            continue  # written by another revision
        if one.file == path.name:
            found.append(one)
    return sorted(found, key=lambda one: (one.date, one.file), reverse=True)


def write(folder: Path, environment: "jinja2.Environment") -> None:
    """Writes the folder's index anew."""
    text = environment.get_template("index.html").render(entries=entries(folder))
    replace_text(folder / INDEX, text)


def replace_text(path: Path, text: str) -> None:
    """Writes a file so that a reader meanwhile sees either the old one or the new one."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)
