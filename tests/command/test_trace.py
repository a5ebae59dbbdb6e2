# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/trace`: what is taken for a kernel, and what is made of what the plugin measured on it. No emulator runs
here.
"""

import json
import os
import struct
from dataclasses import replace
from pathlib import Path

import pytest

import made_up
from cobnut import boards, guests, images, linux_guest
from cobnut.emulators import qemu
from cobnut.errors import CobnutError
from cobnut.experiments import ipc_trace, pingpong
from cobnut.guests import Asked
from cobnut.linux_guest import LinuxGuest

ROUNDS = 20
KERNEL = boards.find("pc").kernel
SWITCHES = [
    {"from": "00000000", "to": "00000000", "how": "unknown", "at": None},
    {"from": "00000000", "to": "00000000", "how": "unknown", "at": None},
    {"from": "00001000", "to": "00002000", "how": "cr3", "at": "c1000010"},
    {"from": "00002000", "to": "00001000", "how": "cr3", "at": "c1000010"},
    {"from": "00001000", "to": "00001000", "how": "reload", "at": "c1000020"},
]


def region(**changes) -> dict:
    """A ping-pong of two large spaces, a reload of CR3 in each round trip, and an interrupt in the first."""
    counters = {name: [4] * ROUNDS for name in ("entries_sysenter", "exits_sysexit")}
    counters |= {name: [1] + [0] * (ROUNDS - 1) for name in ("entries_irq", "exits_iret")}
    counters |= {name: [0] * ROUNDS for name in ("entries_int", "entries_fault", "invlpg", "segment_loads")}
    counters |= {name: [10] * ROUNDS for name in ("instructions_kernel", "instructions_user")}
    counters |= {"instructions_stub": [5] * ROUNDS, "instructions_trampoline": [1] * ROUNDS, "cr3_writes": [3] * ROUNDS}
    return {
        "case": 7,
        "iterations": ROUNDS,
        "per_iteration": counters,
        "ledger": {"instructions": 400, "flush": 800},
        "cycles_total": 1200,
        "cycles_per_iteration": [60] * ROUNDS,
        "space": "00001000",
        "spaces": ["00001000"],
        "switches": [{"switch": 2, "times": ROUNDS}, {"switch": 3, "times": ROUNDS}, {"switch": 4, "times": ROUNDS}],
        "causes": [
            {"category": "flush", "kind": "flushed", "switch": 2, "refills": 5, "cycles": 100},
            {"category": "flush", "kind": "evicted", "switch": 2, "refills": 5, "cycles": 60},
            {"category": "flush", "kind": "cold", "switch": None, "refills": 5, "cycles": 40},
        ],
    } | changes


@pytest.fixture
def lab(monkeypatch):
    """Lets the plugin have measured the regions that are given to what this returns, which gives a lab with images."""

    def prepare(*regions: dict, warnings=(), written=True, totals=None, processes=None):
        def interact(what, *, plugin, end):
            assert Path(dict(plugin.arguments)["kernel"]).is_absolute(), "the emulator runs in a folder of its own"
            if written:
                out = {"machine": "made-up", "machine_set": [], "totals": totals or {}, "warnings": list(warnings)}
                out |= {"regions": list(regions), "switches": SWITCHES}
                out |= {"processes": processes} if processes else {}
                Path(dict(plugin.arguments)["out"]).write_text(json.dumps(out))
            return 0

        monkeypatch.setattr(qemu, "interact", interact)
        guest = guests.resolve(Asked("run", image=[os.path.relpath(KERNEL)]))
        return replace(made_up.lab(ipc_trace.EXPERIMENT), guest=guest)

    return prepare


def bad(result) -> list[str]:
    return [check.name for check in result.checks if not check.ok]


def test_counts_and_switches_are_those_of_a_round_trip(lab, capsys):
    result = ipc_trace.run(lab(region()))
    assert bad(result) == [] and result.ok
    each = {series.name: series.y for series in result.series}
    assert each["round_trip.instructions_user"] == [16], "all that is outside of the kernel"
    assert each["round_trip.entries_sysenter"] == [4] and each["round_trip.entries_irq"] == [1 / ROUNDS]
    assert each["round_trip.switches"] == [2], "a reload is none"
    assert result.find("case.7.times").x[0] == "00001000 -> 00002000 by cr3 at c1000010"
    assert result.find("case.7.refills").y == [160 / ROUNDS, 0, 0]
    assert [charge.taker(result.ledger[0].space) for charge in result.ledger[0].causes] == ["call", "eviction", "cold"]
    ipc_trace.show(result)
    shown = capsys.readouterr().out
    assert "reload in 00001000" in shown and "total" in shown and "entries sysenter" in shown


def test_spaces_are_called_after_their_processes(lab):
    result = ipc_trace.run(lab(region(), processes={"00001000": ["init (1)", "sh (17)"]}))
    assert result.find("case.7.times").x[0] == "00001000 init (1), sh (17) -> 00002000 by cr3 at c1000010"
    assert [charge.taker(result.ledger[0].space) for charge in result.ledger[0].causes] == ["call", "eviction", "cold"]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"iterations": 0, "per_iteration": region()["per_iteration"]}, "rounds"),
        ({"cycles_total": 1201}, "ledger"),
        ({"per_iteration": region()["per_iteration"] | {"entries_fault": [1] * ROUNDS}}, "ways"),
        ({"per_iteration": region()["per_iteration"] | {"cr3_writes": [2] * ROUNDS}}, "cr3"),
    ],
)
def test_two_ways_of_counting_have_to_agree(lab, changes, name):
    if name == "rounds":
        trace = ipc_trace.read("case.7", region(), SWITCHES, lambda address: None)
        checks = ipc_trace.judge_trace(trace, ROUNDS + 1)
        assert [check.name for check in checks if not check.ok] == ["case.7.rounds"]
    else:
        assert bad(ipc_trace.run(lab(region(**changes)))) == [f"case.7.{name}"]


def test_a_case_that_is_measured_twice_has_two_names(lab):
    result = ipc_trace.run(lab(region(), region(case=3), region()))
    assert [row.name for row in result.ledger] == ["case.7", "case.3", "case.7.2"]


@pytest.mark.parametrize(
    ("how", "words"), [({}, "no case was measured; --set whole=1"), ({"written": False}, "the plugin wrote nothing")]
)
def test_a_kernel_that_gives_nothing_is_an_error(lab, how, words):
    with pytest.raises(CobnutError, match=words):
        ipc_trace.run(lab(**how))


def test_a_guest_without_marks_is_measured_as_a_whole(lab):
    counters = {name: sum(values) for name, values in region()["per_iteration"].items()}
    totals = counters | {"cycles": 1200, "ledger": region()["ledger"]}
    prepared = lab(totals=totals)
    result = ipc_trace.run(replace(prepared, settings=prepared.settings | {"whole": 1}))
    assert [row.name for row in result.ledger] == ["run"] and bad(result) == []
    assert [check.name for check in result.checks] == ["run.ledger", "run.doubts"]


def test_what_the_plugin_does_not_understand_is_never_ok(lab):
    result = ipc_trace.run(lab(region(), warnings=["no symbol kip: what", "the guest uses PAE page tables"]))
    assert bad(result) == ["case.7.doubts"]
    assert "PAE" in next(check.why for check in result.checks if not check.ok)


def test_a_machine_without_sysenter_is_not_asked_for_it(monkeypatch):
    asked = []
    monkeypatch.setattr(ipc_trace, "measure", lambda lab, what, names, **_: asked.append((what.cpu, names)))
    monkeypatch.setattr(images, "kind", lambda data: "linux")
    guest = LinuxGuest("6.1", KERNEL, KERNEL, KERNEL, ())
    ipc_trace.measure_linux(made_up.lab(ipc_trace.EXPERIMENT), guest)
    assert asked == [("pentium3,-sep", ("linux.int",))], "the made-up machine has none"


def test_without_images_linux_and_this_kernel_are_measured(monkeypatch, tmp_path):
    def measure(lab, what, *, from_begin, names, symbol_at=lambda address: None):
        return [ipc_trace.read(name, region(), SWITCHES, symbol_at) for name in names]

    symbols = tmp_path / "symbols"
    symbols.write_text("c1000000 T first\nc1000008 t switch_mm\n")
    guest = LinuxGuest("6.1", KERNEL, symbols, KERNEL, ())
    monkeypatch.setattr(linux_guest, "ensure", lambda: guest)
    monkeypatch.setattr(ipc_trace, "measure", measure)
    monkeypatch.setattr(pingpong, "measure", made_up.measure)
    result = ipc_trace.run(made_up.lab(ipc_trace.EXPERIMENT))
    assert [row.name for row in result.ledger] == ["linux.int", "cobnut.large_large", "cobnut.small_small"]
    assert result.find("linux.int.times").x[0].endswith("by cr3 at switch_mm+0x8")
    same = ["cobnut.large_large.as_path", "cobnut.small_small.as_path"]
    assert bad(result) == same, "made up by two who know nothing of each other"
    assert "linux.int.switches" in [check.name for check in result.checks]


def test_our_kernel_and_a_bzimage_are_kernels():
    assert images.kind(KERNEL.read_bytes()) == "multiboot"
    linux = bytearray(0x400)
    linux[0x1FE:0x200], linux[0x202:0x206] = b"\x55\xaa", b"HdrS"
    assert images.kind(bytes(linux)) == "linux"
    assert images.kind(boards.find("pc").program("hello").read_bytes()) is None
    header = struct.pack("<III", 0x1BADB002, 0, 0xFFFFFFFF & -0x1BADB002)
    assert images.kind(header) is None, "a header that is in no executable"


def test_a_bzimage_has_to_be_whole(tmp_path):
    linux = bytearray(512 * 5 + 16 * 3)
    linux[0x1FE:0x200], linux[0x202:0x206], linux[0x1F1], linux[0x1F4] = b"\x55\xaa", b"HdrS", 4, 3
    image = tmp_path / "vmlinuz"
    image.write_bytes(linux)
    assert images.parse([str(image)])
    image.write_bytes(linux[:-1])
    with pytest.raises(CobnutError, match="cut off"):
        images.parse([str(image)])


def test_images_have_arguments():
    found = images.parse([str(KERNEL), f"{boards.find('pc').program('sigma0')}", f"{KERNEL}  a=1 b"])
    assert [image.arguments for image in found] == ["", "", "a=1 b"]
