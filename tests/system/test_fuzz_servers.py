# SPDX-License-Identifier: GPL-2.0-or-later
"""Malformed requests to every server, on QEMU with the same clock in every run, and on Bochs."""

import re

import pytest

from cobnut import systems
from cobnut.experiments import fuzz_servers
from conftest import ROOT, run_cobnut

INTERFACES = ROOT / "servers" / "interfaces"


@pytest.mark.parametrize("board", ["pc", "versatilepb"])
def test_servers_refuse_what_is_no_request_and_go_on(board):
    done = run_cobnut("run", "fuzz/servers", "--quick", "--board", board)
    assert done.returncode == 0, done.stdout + done.stderr


DEVICES = ("fuzzdevices", "--net", "--disk")  # and the path of the disk
CARD, BOARD = ("fuzzcard", "--net"), ("fuzzboard", "--net", "--board", "versatilepb")
BOCHS, SANITIZE = ("--emulator", "bochs", "--seconds", "900"), ("--sanitize",)


@pytest.mark.parametrize(
    ("words", "how"),
    [*((words, how) for words in (("fuzztest",), DEVICES, CARD) for how in (BOCHS, SANITIZE)), (BOARD, SANITIZE)],
)
def test_so_they_do_in_small_spaces(words, how, tmp_path):
    """Every server has a slot: where segments have limits, and under the sanitizer."""
    disk = tmp_path / "disk.img"
    disk.write_bytes(bytes(1 << 20))
    done = run_cobnut("boot", *words, *([str(disk)] if words is DEVICES else []), *how)
    assert done.returncode == 0 and "ok keeper.servers_are_in_small_spaces" in done.stdout, done.stdout + done.stderr
    assert "keeper: 0 failed" in done.stdout
    if "--sanitize" in how:
        assert done.stdout.splitlines()[-1].startswith("sanitizer: 0 reports in ")


@pytest.mark.parametrize("interface", sorted(path.stem for path in INTERFACES.glob("*.h")))
def test_no_interface_is_left_out(interface):
    """A new one is held to it, too."""
    text = (INTERFACES / f"{interface}.h").read_text()
    declared = re.findall(r"^(?:struct|namespace) (\w+) \{", text, re.MULTILINE)
    fuzzer = "".join(path.read_text() for path in (ROOT / "servers" / "fuzzservers").rglob("*.cc"))
    assert any(re.search(rf"Interface \w+_interface\({name}::Operations\{{\}}", fuzzer) for name in declared)


def test_no_driver_of_a_network_card_is_left_out():
    mains = (ROOT / "servers").glob("*/main.cc")
    drivers = {path.parent.name for path in mains if "#include <nic/driver.h>" in path.read_text()}
    drivers.remove("impostor")  # which drives no card
    fuzzed = [systems.load(name) for board in fuzz_servers.SYSTEMS.values() for name in board]
    assert len(drivers) > 1 and drivers <= {name for system in fuzzed for name in system.description.program}
