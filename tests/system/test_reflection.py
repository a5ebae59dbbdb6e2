# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of other systems on a server of this kernel: calls and faults, on every way into the kernel."""

import json
import re

import pytest

import browser
import guests
from conftest import run_cobnut

WITHOUT_SYSENTER = ("486", "pentium")
PAIRS = ("large_large", "small_small", "large_small", "small_large")


def has_sysenter(on, option):
    return on.cpu not in WITHOUT_SYSENTER and option != "sysenter=off"


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize(
    ("on", "option"),
    [
        (guests.USUAL, ""),
        (guests.USUAL, "fastpath=off"),
        (guests.USUAL, "sysenter=off"),
        (guests.QEMU[0], ""),
        (guests.BOCHS[0], ""),
        (guests.BOCHS[-1], ""),
    ],
    ids=lambda value: str(value) or "plain",
)
def test_calls_and_faults_are_answered_and_stops_stop(pair, on, option):
    each = (
        ("call", "", "12 calls, 0 faults, 0 stops"),
        ("call", "confined=1", "12 calls, 0 faults, 0 stops"),
        ("fault", "", "12 calls, 12 faults, 0 stops"),
        ("fault", "pages=64", "12 calls, 12 faults, 0 stops"),
        *([("call", "gate=1", "12 calls, 0 faults, 0 stops")] if has_sysenter(on, option) else []),
        ("stop", "", "1 calls, 0 faults, 12 stops"),
    )
    # an interpreter takes its time: each of the two processors does every second one
    mine = each[guests.BOCHS.index(on) :: 2] if on in guests.BOCHS else each
    for what, more, done in mine:
        arguments = f"pair={pair} what={what} tls=1 rounds=10 warmup=2 {more}"
        outcome = guests.boot(guests.program("reflect", arguments), options=option, on=on)
        assert f"reflect: {done}\nreflect: done" in outcome.console, outcome.console
        assert outcome.code in (0, None) and outcome.kernel_message is None


@pytest.mark.parametrize(
    "arguments",
    ["pair=large_tiny", "what=else", "tls=2", "confined=2", "gate=2", "rounds=0", "warmup=x", "pages=3", "pages=128"],
)
def test_options_that_are_not_possible_are_said(arguments):
    outcome = guests.boot(guests.program("reflect", arguments))
    assert "reflect: FAIL bad option" in outcome.console
    assert outcome.code == 1


@pytest.mark.parametrize("on", [guests.USUAL, guests.BOCHS[-1]], ids=str)
def test_shared_memory_is_taken_from_the_oldest(on):
    outcome = guests.boot(guests.program("sharers", "sharers=20 megabytes=4"), on=on)
    # with the space go its image and stack, and its thread
    assert re.search(r"^sharers: 20 spaces, 1024 pages unmapped, 102[6-9] deleted$", outcome.console, re.MULTILINE)
    assert "sharers: done" in outcome.console


@pytest.mark.parametrize("arguments", ["sharers=0", "sharers=201", "megabytes=0", "megabytes=6", "megabytes=68"])
def test_sharers_that_are_not_possible_are_said(arguments):
    outcome = guests.boot(guests.program("sharers", arguments))
    assert "sharers: FAIL bad option" in outcome.console
    assert outcome.code == 1


@pytest.mark.parametrize("sysenter", [1, 0])
def test_its_checks_hold_and_its_report_renders(sysenter, tmp_path):
    done = run_cobnut(
        *("run", "ipc/reflection", "--quick", "--set", f"sysenter={sysenter}"),
        *("--json", str(tmp_path / "result.json"), "--report", str(tmp_path)),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert {check["verdict"] for check in result["checks"]} == {"ok"}
    rendered = browser.render(tmp_path / "ipc-reflection.html")
    assert rendered.complaints == []
    assert all(check["name"] in rendered.dom for check in result["checks"])
