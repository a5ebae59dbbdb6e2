# SPDX-License-Identifier: GPL-2.0-or-later
"""What `latency/worst` makes of what x2test and the plugin tell. No emulator runs here."""

import json

import made_up
import pytest
from cobnut import stretches
from cobnut.errors import CobnutError
from cobnut.experiments import latency_worst
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
    [(9000, 9000, []), (20_001, 20_001, ["one.longest"]), (9000, 10_401, ["one.growth"]), (1, 30_000, ["one.longest", "one.growth"])],
)
def test_limit_and_growth(monkeypatch, few, many, failed):
    counts = {2: few, 100: few, 1000: many}
    monkeypatch.setattr(stretches, "measure", lambda board, *, spaces, threads: {"one": Stretch(counts[spaces], ("work",))})
    result = latency_worst.EXPERIMENT.run(made_up.lab(latency_worst.EXPERIMENT, quick=False))
    assert [check.name for check in result.checks if not check.ok] == failed
    assert [line.y for line in result.series] == [[few], [few], [many]]
