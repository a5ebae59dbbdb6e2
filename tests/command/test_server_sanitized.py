# SPDX-License-Identifier: GPL-2.0-or-later
"""What counts as a report of `sanitize/server`, and what of a run without an invalidation. No emulator runs."""

from cobnut import sanitizing
from cobnut.experiments.server_sanitized import Run, candidates
from cobnut.findings import Findings, Invalidation, Report


def test_an_access_beside_a_programs_own_segment_is_nothing_stale():
    reports = [
        Report("segment", kind="segment-limit", privilege=3),
        Report("of the kernel", kind="segment-limit", privilege=0),
        Report("stale", kind="stale-entry", privilege=3),
    ]
    run = Run("all", None, Findings(reports, [], [], {}))
    assert run.reports == ["of the kernel", "stale"]


def test_a_run_without_an_invalidation_may_go_on_behind_its_first_report(tmp_path):
    """A program's first access past a limit would end it before anything stale is used."""
    ended = sanitizing.plugin_for((), tmp_path, ignore="0x1000").arguments
    goes_on = sanitizing.plugin_for((), tmp_path, ignore="0x1000", to_the_end=True).arguments
    assert set(ended) - set(goes_on) == {("stop", "first")} and ("ignore", "0x1000") in goes_on


def test_only_what_could_be_used_is_ignored_the_busiest_first():
    seen = [
        Invalidation(instruction="0x1000", symbol=symbol, executed=9, needed=needed, by=by)
        for symbol, needed, by in (
            ("a", 2, "cr3"),
            ("small_space::release+0x1b7", 3, "invlpg"),
            ("b+0x1", 5, "invlpg"),
            ("c", 0, "invlpg"),
            ("d", 7, "cr4"),
        )
    ]
    assert [one.symbol for one in candidates(Findings([], seen, [], {}))] == ["b+0x1", "a"]
