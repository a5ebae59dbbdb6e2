# SPDX-License-Identifier: GPL-2.0-or-later
"""A run is recorded once; what a replay measures on a machine is what the plugin measures in the run itself."""

import json
import statistics
from dataclasses import replace

import pytest

import guests
import made_up
from cobnut import boards, machines, paths, recording
from cobnut.emulators import Boot, qemu
from cobnut.experiments import crowd, ipc_path_arm
from conftest import assert_refused, run_cobnut

CROWD = "crowd pattern=calls place=within members=4 rounds=10 warmup=2"
PING_PONG = "pair=large_small gen=reads sizes=0:16:8 rounds=4 warmup=2"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The ping-pong, recorded by the command."""
    path = tmp_path_factory.mktemp("record") / "x.record"
    done = run_cobnut("record", "--out", str(path), "--root", f"pingpong {PING_PONG}")
    assert done.returncode == 0, done.stderr
    assert "pingpong: done" in done.stdout and str(path) in done.stdout
    return path


def test_a_replay_is_the_run_on_every_machine(record, tmp_path):
    out = tmp_path / "replayed.json"
    done = run_cobnut("replay", str(record), "--json", str(out))
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    assert result["record"]["provenance"]["revision"]
    assert [image["name"] for image in result["record"]["provenance"]["images"]] == [
        "cobnut-kernel",
        "sigma0",
        "pingpong",
    ]
    assert len(result["replays"]) == len(machines.known("ia32"))
    for name, path in machines.known("ia32").items():
        live = _live(path, tmp_path)
        assert f'"measured": {live}}}' in out.read_text(), name
        assert f"{name}: modelled cycles of an iteration" in done.stdout


def test_each_time_the_same_bytes(record, tmp_path):
    files = [tmp_path / name for name in ("first.json", "second.json")]
    for file in files:
        assert run_cobnut("replay", str(record), "--machine", "pentium-90", "--json", str(file)).returncode == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_changed_number_changes_what_comes_out(record):
    done = run_cobnut("replay", str(record), "--machine", "pentium4-1400", "--set", "entry.sysenter_sysexit_cycles=0")
    assert done.returncode == 0, done.stderr
    assert "pentium4-1400, entry.sysenter_sysexit_cycles:0" in done.stdout
    assert "kernel entry exit" not in done.stdout, "nothing is paid for it"


def test_what_another_machine_lacks_is_said(record):
    done = run_cobnut("replay", str(record), "--machine", "i486")
    assert "the guest saw a pentium3, not a 486" in done.stdout


def test_a_cut_record_is_refused(record, tmp_path):
    cut = tmp_path / "cut.record"
    cut.write_bytes(record.read_bytes()[:-20])
    assert_refused(run_cobnut("replay", str(cut)), "cut.record", "ends too early")


@pytest.mark.parametrize(("board", "machine"), [("versatilepb", "arm926-400"), ("collie", "sa1100-200")])
def test_a_replay_of_an_arm_guest_is_the_run(board, machine, tmp_path):
    record, out, live = (tmp_path / name for name in ("x.record", "replayed.json", "live.json"))
    crowd = ("--board", board, "--root", CROWD)
    done = run_cobnut("record", "--out", str(record), *crowd)
    assert done.returncode == 0 and "crowd: done" in done.stdout, done.stderr
    done = run_cobnut("replay", str(record), "--json", str(out))
    assert done.returncode == 0, done.stderr
    assert run_cobnut("boot", "--machine", machine, "--json", str(live), *crowd).returncode == 0
    assert f'"measured": {live.read_text().rstrip()}}}' in out.read_text()
    result = json.loads(out.read_text())
    assert result["record"]["provenance"]["cpu"] == board
    assert len(result["replays"]) == len(machines.known("arm"))
    assert_refused(run_cobnut("replay", str(record), "--machine", "i486"), "i486 is for ia32 processors", "arm guest")


def test_a_crowd_is_booted_once_and_measured_on_changed_machines():
    board = boards.find("collie")
    lab = replace(made_up.lab(ipc_path_arm.EXPERIMENT), board=board, model=machines.load(board.machine))
    spec = crowd.Crowd("calls", "apart", members=1, rounds=20, warmup=20)
    [first], [again] = crowd.measure(lab, [spec]), crowd.measure(lab, [spec])
    [dearer] = crowd.measure(replace(lab, overrides={"coprocessor.register_cycles": "4"}), [spec])
    assert first == again and first.failure is None and lab.records.count == 1
    writes = sum(statistics.fmean(first.at(1).counters[name]) for name in crowd.SWITCH_WRITES)
    assert dearer.cycles(1) == first.cycles(1) + 3 * writes


def test_cycles_by_function_are_all_cycles(record):
    measured = json.loads(recording.replay(record, machines.load("pentium4-1400")).text)
    for region in measured["regions"]:
        spent = {one["symbol"]: one["cycles"] for one in region["functions"]}
        assert "user" in spent and any(name.endswith("_sysenter") for name in spent), spent
        assert region["cycles_total"] - len(spent) <= sum(spent.values()) <= region["cycles_total"]


def _live(machine, folder):
    """What the plugin measures on `machine`."""
    out = folder / "live.json"
    plugin = qemu.Plugin(
        paths.PLUGIN, (("machine", str(machine)), ("kernel", str(guests.PC.kernel)), ("out", str(out)))
    )
    what = Boot(guests.PC.kernel, (guests.program("sigma0"), guests.program("pingpong", PING_PONG)))
    assert qemu.run(what, timeout=guests.TIMEOUT_SECONDS, plugin=plugin).code == 0
    return out.read_text().rstrip("\n")
