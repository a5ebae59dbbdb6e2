# SPDX-License-Identifier: GPL-2.0-or-later
"""What `latency/worst` makes of what x2test and the plugin tell. No emulator runs here."""

import json
import re

import pytest

import made_up
from cobnut import paths, stretches
from cobnut.errors import CobnutError
from cobnut.experiments import latency_worst
from cobnut.results import Provenance, Result, Series
from cobnut.stretches import Stretch

CONSOLE = "case 1 latency.one\nok latency.one\ncase 2 latency.two\nok latency.two\nx2test: 2 passed, 0 failed\n"


def written(*counts: int) -> str:
    cases = [
        {"case": number, "instructions": count, "ended_in": "leave", "most_in": [["work", count]]}
        for number, count in enumerate(counts, 1)
    ]
    return json.dumps({"cases": cases})


def test_cases_get_their_names():
    found = stretches.read(CONSOLE, written(10, 20))
    assert found == {"one": Stretch(10, ("work",)), "two": Stretch(20, ("work",))}


def test_a_case_that_was_not_seen_is_an_error():
    with pytest.raises(CobnutError, match="nothing of latency.two"):
        stretches.read(CONSOLE, written(10))


@pytest.mark.parametrize(
    ("few", "many", "failed"),
    [
        (9000, 9000, []),
        (20_001, 20_001, ["one.longest"]),
        (9000, 10_401, ["one.growth"]),
        (1, 30_000, ["one.longest", "one.growth"]),
    ],
)
def test_limit_and_growth(monkeypatch, few, many, failed):
    counts = {2: few, 100: few, 1000: many}
    monkeypatch.setattr(
        stretches, "measure", lambda board, *, spaces, threads: {"one": Stretch(counts[spaces], ("work",))}
    )
    result = latency_worst.EXPERIMENT.run(made_up.lab(latency_worst.EXPERIMENT, quick=False))
    assert [check.name for check in result.checks if not check.ok] == failed
    assert [line.y for line in result.series] == [[few], [few], [many]]


RESULT = Result(
    "latency/worst",
    None,
    Provenance("0123456789ab", None, "QEMU 10.0", "1995-12-03T10:00:00+00:00"),
    [Series(f"spaces_{n}", "instructions", ["one", "two"], [900, 12_345 + n]) for n in (2, 100)],
    [],
    [],
)
TABLE = """\
Commit 0123456789ab, 1995-12-03, QEMU 10.0:

| provoked by | 2 spaces | 100 spaces |
| --- | ---: | ---: |
| `two` | 12,347 | 12,445 |
| `one` | 900 | 900 |"""


def test_the_table_has_the_longest_first():
    assert latency_worst.markdown(RESULT) == TABLE


def test_the_documents_table_has_every_case_of_the_pc():
    rows = re.findall(
        r"^\| `(\w+)` \|((?: [\d,]+ \|)+)$", (paths.ROOT / "docs" / "preemption.md").read_text(), re.MULTILINE
    )
    sources = (
        (paths.ROOT / "user" / "x2test" / name).read_text()
        for name in (
            "attribute_tests.cc",
            "ia32/latency_tests.cc",
            "ia32/slot_latency_tests.cc",
            "ia32/stretch_tests.cc",
            "waiting_tests.cc",
        )
    )
    cases = {case for source in sources for case in re.findall(r'"latency\.(\w+)"', source)}
    assert cases and {name for name, _ in rows} == cases
    figures = [int(figure.replace(",", "")) for _, line in rows for figure in re.findall(r"[\d,]+", line)]
    assert len(figures) == len(cases) * len(latency_worst.SPACES) and max(figures) <= latency_worst.LIMIT
