# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut trace`: what the kernel records of a run, and that it costs nothing where it is not asked for."""

import json
from collections import Counter

import pytest

import guests
import trace_format
from conftest import run_cobnut

PING_PONG = "pingpong pair=small_small rounds=20"


def traced(folder, *arguments):
    """The JSON that a traced run leaves, and what the command says."""
    out = folder / "trace.json"
    done = run_cobnut("trace", "--output", str(out), *arguments)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    trace_format.check(result)
    return result, done.stdout


def named(result, name):
    return [event for event in result["traceEvents"] if event["name"] == name]


@pytest.mark.parametrize("cpu", ["486", "pentium", "pentium3"])
def test_a_ping_pong_is_all_there(tmp_path, cpu):
    result, said = traced(tmp_path, "--cpu", cpu, "--root", PING_PONG)
    assert "pingpong: done" in said and "0 lost" in said
    assert result["otherData"]["lost"] == 0
    processes = [event["args"]["name"] for event in named(result, "process_name")]
    assert processes[:3] == ["kernel", "sigma0", "root server"]
    messages = [event for event in result["traceEvents"] if event["name"].startswith("message to ")]
    pairs = Counter((event["tid"], int(event["args"]["to"].split(".")[0])) for event in messages)
    (client, server), calls = pairs.most_common(1)[0]
    assert calls >= 20 and pairs[server, client] >= 20, "each round trip is a call and a reply"
    assert len(named(result, "slot taken")) == 2
    changes = [event["ts"] for event in named(result, "host changes")]
    calls_seen = [event["ts"] for event in messages if event["tid"] == client]
    assert not [at for at in changes if calls_seen[-20] < at < calls_seen[-1]], (
        "small spaces call each other on one host"
    )
    copied = named(result, "directory entry copied")
    assert copied and all(event["args"]["space"].startswith("pingpong, space ") for event in copied)
    functions = {one["name"] for one in result["traceEvents"] if one.get("cat") == "run" and one["tid"] == server}
    assert "server_loop" in functions, "root and sigma0 have code at some of these places"
    assert any(event["args"]["function"] for event in named(result, "page fault"))


def test_programs_at_one_address_have_their_own_names(tmp_path):
    result, _ = traced(tmp_path, "hello name=first", "hello")
    spaces = {event["args"]["name"]: event["pid"] for event in named(result, "process_name")}
    assert list(spaces) == ["kernel", "sigma0", "root server", "first", "hello"]
    functions = {event["pid"]: set() for event in result["traceEvents"]}
    for event in result["traceEvents"]:
        if event.get("cat") == "run":
            functions[event["pid"]].add(event["name"])
    for name in ("first", "hello"):
        assert "image_start" in functions[spaces[name]] and "running" not in functions[spaces[name]]


def test_what_ends_is_there_as_well(tmp_path):
    result, _ = traced(tmp_path, "hello")
    assert len(named(result, "deletes a space")) == 1
    assert named(result, "interrupt 0") and named(result, "idle"), "hello sleeps"
    assert named(result, "IPC failed: timeout"), "which is a receive phase that ends in time"


def test_each_time_the_same(tmp_path):
    runs = []
    for _ in range(2):
        events = traced(tmp_path, "--root", PING_PONG)[0]["traceEvents"]
        # for how long a guest goes on after it has asked for its end is not its own
        last_message = max(event["ts"] for event in events if event["ph"] == "s")
        runs.append([event for event in events if event["ts"] < last_message])
    assert len(runs[0]) > 100 and runs[0] == runs[1]


def test_a_small_ring_keeps_the_latest_and_counts_the_lost(tmp_path):
    whole, _ = traced(tmp_path, "--root", PING_PONG)
    result, said = traced(tmp_path, "--ring", "4", "--root", PING_PONG)
    assert result["otherData"]["events"] == 4096 // 32
    lost = result["otherData"]["lost"]
    assert lost > 0 and f"{lost} lost" in said
    assert lost + 128 == pytest.approx(whole["otherData"]["events"], abs=5), "a tick more or less"


def test_it_can_be_ended(tmp_path):
    result, _ = traced(tmp_path, "--seconds", "2", "--ring", "64", "--root", "root", "hello")
    assert result["otherData"]["events"] == 64 * 1024 // 32, "it went on until then"


def test_more_than_there_is_is_said():
    outcome = guests.boot(guests.program("root", "off=1"), guests.program("hello"), options="trace=100000")
    assert outcome.code == 1 and "too little kernel memory for the trace" in outcome.kernel_message
