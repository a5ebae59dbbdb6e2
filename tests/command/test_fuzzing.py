# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made of the fuzzer's console and of the sanitizer's reports. No emulator runs here."""

import made_up
from cobnut.experiments import fuzz_syscalls
from cobnut.findings import Findings

COUNTS = {"accesses": 1_000_000, "late_rights": 0}
ALL = "".join(
    f"fuzz: outcome {call} {code} {1000 + code}\n" for call, codes in fuzz_syscalls.CODES.items() for code in codes
)
END = "fuzz: 50010 calls, seed 1: 0 faults in the books, kernel pages 24 to 24, objects 200 to 200: ok\n"


def verdicts(monkeypatch, console=ALL + END, failure=None, reports=(), calls=1_000_000):
    """The checks that are not ok, by name, if each boot says this."""

    def boot(lab, kind, *, seed, calls):
        findings = Findings(list(reports), [], [], COUNTS)
        run = fuzz_syscalls.read(f"seed {seed}", kind.replay(seed, calls), console, failure, findings)
        return fuzz_syscalls.Run(**{**vars(run), "calls": calls if run.calls else 0})

    monkeypatch.setattr(fuzz_syscalls, "boot", boot)
    result = fuzz_syscalls.EXPERIMENT.run(made_up.lab(fuzz_syscalls.EXPERIMENT, quick=False, calls=calls))
    assert {"calls", "failed", "book_faults", "lost", "reports", "late_rights", "unseen_results"} == {
        check.name for check in result.checks
    }
    return {check.name: check.why for check in result.checks if not check.ok}


def test_a_good_run_is_good(monkeypatch):
    assert verdicts(monkeypatch) == {}


def test_the_calls_are_spread_over_boots_with_all_kinds(monkeypatch):
    seeds = []

    def boot(lab, kind, *, seed, calls):
        seeds.append((seed, kind, calls))
        return fuzz_syscalls.read("x", "", ALL + END, None, Findings([], [], [], COUNTS))

    monkeypatch.setattr(fuzz_syscalls, "boot", boot)
    fuzz_syscalls.EXPERIMENT.run(made_up.lab(fuzz_syscalls.EXPERIMENT, quick=False, calls=10_000_000))
    assert sorted(seed for seed, _, _ in seeds) == list(range(1, 41))
    assert {calls for _, _, calls in seeds} == {250_000} and {kind for _, kind, _ in seeds} == set(fuzz_syscalls.WAYS)


def test_a_boot_that_stops_fails_and_says_how_to_repeat_it(monkeypatch):
    found = verdicts(monkeypatch, console=ALL, failure="the kernel stopped: kernel fault 14")
    assert {"calls", "failed"} == set(found)
    assert "kernel fault 14. Again: ./cobnut boot --sanitize --cpu pentium3" in found["failed"]
    assert '"fuzz seed=1 calls=250000"' in found["failed"]
    assert "does not come to its end" in verdicts(monkeypatch, console="")["failed"]


def test_books_that_do_not_agree_fail(monkeypatch):
    assert set(verdicts(monkeypatch, ALL + END.replace("0 faults", "2 faults"))) == {"book_faults"}
    assert set(verdicts(monkeypatch, ALL + END.replace("24 to 24", "24 to 25"))) == {"lost"}
    assert set(verdicts(monkeypatch, ALL + END.replace("200 to 200", "200 to 199"))) == {"lost"}


def test_reports_fail_but_not_what_users_do_past_their_own_segments(monkeypatch):
    users = {"kind": "segment-limit", "privilege": 3, "line": "segment-limit: user"}
    assert verdicts(monkeypatch, reports=[users]) == {}
    for report in ({**users, "privilege": 0}, {**users, "kind": "stale-global"}, {**users, "kind": "foreign-segment"}):
        assert set(verdicts(monkeypatch, reports=[users, report])) == {"reports"}


def test_each_result_has_to_come_up_if_there_is_time(monkeypatch):
    without = ALL.replace("outcome schedule 5 ", "outcome schedule 0 ")
    assert "never schedule 5;" in verdicts(monkeypatch, without + END)["unseen_results"]
    rare = ALL.replace("outcome ipc 15 ", "outcome ipc 0 ")
    assert "never ipc 15;" in verdicts(monkeypatch, rare + END)["unseen_results"]
    assert verdicts(monkeypatch, rare + END, calls=40_000) == {}
    assert "unknown unmap 3." in verdicts(monkeypatch, ALL + "fuzz: outcome unmap 3 7\n" + END)["unseen_results"]
