# SPDX-License-Identifier: GPL-2.0-or-later
"""What studies of Linux give its programs. No emulator runs."""

import pytest

from cobnut.experiments import uhlig02_catwc, uhlig02_gcc
from cobnut.experiments.linux_programs import Peer, Turns


def test_the_text_is_the_same_each_time_and_as_long_as_it_was_asked_for():
    text = uhlig02_catwc.text(100_000)
    assert len(text) == 100_000 and text == uhlig02_catwc.text(100_000)
    assert 2_000 < text.count(b"\n") < 5_000 and max(map(len, text.split(b"\n"))) < 130


@pytest.mark.parametrize(("after", "verdict"), [(99, "ok"), (96, "failed"), (103, "failed")])
def test_a_compilation_saves_no_more_than_the_paper_says(after, verdict):
    def peer(name: str, count: int) -> Peer:
        counted = {counter: [count] for counter in ("cycles", "itlb_misses", "dtlb_misses")}
        return Peer(name, {"compile": Turns(name, "compile", {"per_iteration": counted}, {}, [])}, "", ())

    checks = uhlig02_gcc.judge_savings({"small": peer("small", 100), "all": peer("all", after)})
    assert {check.verdict for check in checks} == {verdict}
