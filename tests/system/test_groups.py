# SPDX-License-Identifier: GPL-2.0-or-later
"""Tags among many spaces, quickly: what the kernel's choice is worth, and what it takes to take a slot back."""

import json
import re
from types import SimpleNamespace

import pytest

import browser
import guests
from cobnut import boards
from cobnut.emulators import Boot, qemu
from cobnut.experiments import talking_spaces
from conftest import run_cobnut

SECONDS = 120  # of processor time, for one guest


@pytest.mark.parametrize("name", ["groups/policy", "groups/revocation"])
def test_its_checks_hold_and_its_report_renders(name, tmp_path):
    done = run_cobnut("run", name, "--quick", "--json", str(tmp_path / "result.json"), "--report", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["checks"] and all(check["verdict"] != "failed" for check in result["checks"])
    missed = {check["name"] for check in result["checks"] if not check["ok"]}
    assert missed <= {"pipeline.64.gain", "web.64.gain"}
    rendered = browser.render(tmp_path / f"{name.replace('/', '-')}.html")
    assert rendered.complaints == []
    assert all(check["name"] in rendered.dom for check in result["checks"])


@pytest.mark.parametrize("batch", [63, 64, 70])
def test_tags_come_to_rest_where_all_call_one(batch):
    """Clients of a server that is a hub do not follow the space that has started them, which sleeps."""
    where = SimpleNamespace(board=boards.find("pc"), cpu=Boot.cpu)
    talk = talking_spaces.Talk("star", 64, "groups", batch, rounds=320, warmup_ms=2048)
    outcome = qemu.run(talk.boot(where), timeout=SECONDS, repeatable=True)
    assert talking_spaces.TOTAL.search(outcome.console)[2] == "0", "spaces that got or lost a slot"
    assert [one[3] for one in talking_spaces.SPACE.findall(outcome.console)].count("16") >= 30


@pytest.mark.parametrize("on", guests.QEMU[::3], ids=str)
@pytest.mark.parametrize("option", ["", "revocation=eager"])
def test_slots_are_taken_from_a_hundred_spaces(option, on):
    options = f"small=2048 automatic=off {option}"
    outcome = guests.boot(guests.program("revoke", "spaces=100 rounds=2"), options=options, on=on, memory_mb=64)
    assert "revoke: 100 spaces, 134 revocations" in outcome.console
    assert outcome.code == 0 and outcome.kernel_message is None


@pytest.mark.parametrize("on", [guests.USUAL, guests.BOCHS[-1]], ids=str)
def test_a_host_that_goes_has_no_copies_of_what_others_lose(on):
    outcome = guests.boot(guests.program("x2test", "filter=deletion."), options="revocation=eager", on=on)
    assert re.search(r"^x2test: \d+ passed, 0 failed$", outcome.console, re.MULTILINE), outcome.console[-2000:]


@pytest.mark.parametrize("arguments", ["spaces=1", "spaces=1001", "pages=65", "rounds=0", "rounds=x"])
def test_options_that_are_not_possible_are_said(arguments):
    outcome = guests.boot(guests.program("revoke", arguments))
    assert "revoke: FAIL bad option" in outcome.console
    assert outcome.code == 1
