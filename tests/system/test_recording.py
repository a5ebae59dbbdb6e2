# SPDX-License-Identifier: GPL-2.0-or-later
"""A run is recorded once; what a replay measures on a machine is what the plugin measures in the run itself."""

import json
import statistics
from dataclasses import replace

import pytest

import guests
import made_up
from cobnut import boards, machines, paths, recording, sampled
from cobnut.emulators import Boot, qemu
from cobnut.experiments import crowd, ipc_path_arm
from cobnut.windows import Wish
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


def test_windows_say_how_far_they_are_off(record, tmp_path):
    """A run that is all windows is measured as a whole, so its figures are known."""
    out, kept = tmp_path / "windows.json", tmp_path / "x.pieces"
    machine = "pentium-133"
    whole = sampled.read(recording.replay(record, machines.load(machine), windows=Wish("200/1:warm=0")).text)["run"]
    command = ("replay", str(record), "--machine", machine, "--json", str(out))
    done = run_cobnut(*command, "--windows", "200/2:warm=200:seed=9", "--pieces", str(kept))
    assert done.returncode == 0, done.stderr
    assert "seed 9" in done.stdout and "+- " in done.stdout
    [replay] = json.loads(out.read_text())["replays"]
    run = replay["measured"]["run"]
    assert 10 < run["windows"] < run["units"] * 0.6
    assert run["counted"] == whole["counted"], "these are not estimated"
    for name, estimate in run["estimated"].items():
        assert whole["estimated"][name]["error"] == 0, name
        assert abs(estimate["value"] - whole["estimated"][name]["value"]) <= 3 * estimate["error"] + 1, name
    spent = {one["symbol"]: one["value"] for one in run["functions"]}
    assert sum(spent.values()) == pytest.approx(run["estimated"]["cycles"]["value"], rel=1e-3)
    assert "user" in spent and any(name.endswith("_sysenter") for name in spent), spent
    switches = replay["measured"]["switches"]
    took = {switches[one["switch"]]["how"] for one in run["causes"] if one["switch"] is not None}
    assert "cr3" in took, "refills are charged to switches"
    assert "dearest functions" in done.stdout and "refills are charged to" in done.stdout
    first = out.read_bytes()
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(lines[: len(lines) // 2]))
    assert run_cobnut(*command, "--windows", "200/2:warm=200:seed=9", "--pieces", str(kept)).returncode == 0
    assert out.read_bytes() == first and kept.read_text().splitlines(keepends=True) == lines
    other = run_cobnut(*command, "--windows", "200/2:seed=8", "--pieces", str(kept))
    assert_refused(other, "is of another run, machine or --windows")


def test_misses_between_windows_are_counted(record):
    machine = machines.load("pentium4-1400")
    found = sampled.read(recording.replay(record, machine, windows=Wish("2000/9:misses=on")).text)
    whole = recording.replay(record, machine).measured["totals"]
    counted = found["run"]["counted"]
    for name in ("trace_misses", "itlb_misses", "dtlb_misses"):
        # the record goes on behind the last marker, where the totals end
        assert 0 < whole[name] <= counted[name] <= whole[name] * 1.05, name


def test_a_replay_without_flush_on_arm(tmp_path):
    """The standard kernel flushes at every switch: a machine that needs no flush pays nothing for it."""
    record, out = tmp_path / "x.record", tmp_path / "x.json"
    crowd = "crowd pattern=calls place=alike members=4 rounds=20 warmup=20"
    done = run_cobnut("record", "--out", str(record), "--board", "collie", "--set", "tags=off", "--root", crowd)
    assert done.returncode == 0, done.stderr
    measured = []
    for without in ([], ["--without", "flush"]):
        done = run_cobnut("replay", str(record), "--machine", "sa1100-200", "--json", str(out), *without)
        assert done.returncode == 0, done.stderr
        assert ("without flush" in done.stdout) == bool(without)
        measured.append(json.loads(out.read_text())["replays"][0]["measured"])
    flushing, flushless = (one["regions"][-1] for one in measured)
    assert (measured[0]["without"], measured[1]["without"]) == (None, "flush")
    assert flushing["per_iteration"]["dcache_flushes"] == flushless["per_iteration"]["dcache_flushes"] != []
    assert sum(flushless["per_iteration"]["dcache_flushes"]) > 0, "the kernel flushes all the same"
    for refills in ("tlb_refill_code", "tlb_refill_data", "cache_refill"):
        assert flushless["ledger"].get(refills, 0) < 0.05 * flushing["cycles_total"], refills
    assert flushing["ledger"]["cache_refill"] > 0.5 * flushing["cycles_total"]
    assert flushless["ledger"]["instructions"] == flushing["ledger"]["instructions"]


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
    all_of_it = Wish("500/1:warm=0")
    found = sampled.read(recording.replay(record, machines.load(machine), windows=all_of_it).text)
    assert found["run"]["windows"] == found["run"]["units"] > 10
    [case] = [region for region in json.loads(live.read_text())["regions"] if region["iterations"] == 10]
    [estimated] = [scope["estimated"]["cycles"] for scope in found["cases"] if scope["iterations"] == 10]
    assert estimated["value"] == pytest.approx(case["cycles_total"], rel=0.02)


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
