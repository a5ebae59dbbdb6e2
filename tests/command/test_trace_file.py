# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's trace: the ring decoded, and what is written for Perfetto, without an emulator."""

import re

import pytest

import trace_format
from cobnut import chrome_trace, kernel_trace
from cobnut.chrome_trace import FIRST_PAYLOAD, SIGMA0, Program
from cobnut.errors import CobnutError
from cobnut.kernel_trace import EVENTS, KERNEL_BASE, RECORD, RING, ROLES, Record, Trace
from conftest import ROOT

START = KERNEL_BASE + 0x400000
CAPACITY = 8
SPACE_A, SPACE_B = 0xF0500000, 0xF0501000
A, B, IRQ_4 = 48 << 14 | 1, 51 << 14 | 2, 4 << 14 | 1


def enumerators(header: str, name: str) -> list[str]:
    """The names in an enumeration of a header of the kernel's."""
    text = (ROOT / "kernel" / "core" / header).read_text()
    body = re.search(rf"enum class {name} : [\w:]+ {{(.*?)}};", text, re.DOTALL)
    assert body, f"{header} has no {name}"
    return re.findall(r"^\s*(\w+),", body.group(1), re.MULTILINE)


def ring_of(count: int, ticks_per_ms: int = 1_000_000) -> tuple[bytes, bytes]:
    """A ring after `count` events, the n-th at tick 100 + n with the word n."""
    records = [bytes(RECORD.size)] * CAPACITY
    for n in range(count):
        records[n % CAPACITY] = RECORD.pack(100 + n, EVENTS.index("interrupt"), A, n, 0, 0, 0)
    at = START + count % CAPACITY * RECORD.size
    return RING.pack(START, START + CAPACITY * RECORD.size, at, count // CAPACITY, ticks_per_ms), b"".join(records)


def test_events_and_roles_are_the_kernels():
    assert list(EVENTS) == enumerators("trace.hpp", "Event")
    assert list(ROLES) == enumerators("thread.hpp", "Role")


@pytest.mark.parametrize(("count", "lost"), [(0, 0), (3, 0), (7, 0), (8, 0), (9, 1), (16, 8), (21, 13)])
def test_the_ring_is_read_oldest_first(count, lost):
    trace = kernel_trace.decode(*ring_of(count))
    assert [record.words[0] for record in trace.records] == list(range(lost, count))
    assert trace.lost == lost


def test_times_count_from_the_first_record_in_microseconds():
    trace = kernel_trace.decode(*ring_of(3, ticks_per_ms=500_000))
    assert [record.microseconds for record in trace.records] == [0, 0.002, 0.004]


def test_events_of_one_tick_stay_apart():
    trace = kernel_trace.decode(*ring_of(3, ticks_per_ms=1_000_000_000))
    assert [record.microseconds for record in trace.records] == pytest.approx([0, 0.001, 0.002])


@pytest.mark.parametrize(
    "change",
    [
        lambda ring, records: (ring, records[:-1]),
        lambda ring, records: (RING.pack(START, START + len(records), START - 32, 0, 1), records),
        lambda ring, records: (RING.pack(START, START + len(records), START + 5, 0, 1), records),
        lambda ring, records: (RING.pack(START, START + len(records), START, 0, 0), records),
        lambda ring, records: (RING.pack(START, START + len(records), START, 1, 1), b"\xff" * len(records)),
    ],
    ids=["short", "before its start", "between records", "no clock", "unknown events"],
)
def test_what_is_no_ring_is_refused(change):
    with pytest.raises(CobnutError, match="trace"):
        kernel_trace.decode(*change(*ring_of(3)))


def events(*them: tuple) -> Trace:
    """A trace of (microseconds, event, thread, words...)."""
    records = [Record(at, event, thread, (*words, 0, 0, 0, 0)[:4]) for at, event, thread, *words in them]
    return Trace(records, 0, 48)


CALL = (
    (0.0, "thread_created", A, SPACE_A),
    (0.0, "thread_created", B, SPACE_B),
    (1.0, "switched", A, SPACE_A, 0, 0x400010, SPACE_A),
    (1.4, "entry_copied", A, SPACE_B, 0x300000, SPACE_A),
    (1.5, "fault", A, ROLES.index("page_fault"), 0x7000, 0x400012, 0),
    (2.0, "message", A, B, 0x00420003, 0, 0),
    (2.1, "switched", B, SPACE_B, 0xD0000000, 0x300000, SPACE_A),
    (3.0, "interrupt", B, 4),
    (3.1, "message", IRQ_4, A, 0xFFF00000, ROLES.index("interrupt"), 0),
    (3.2, "ipc_failed", B, 1 << 1 | 1, 0),
    (3.5, "idle", 0),
    (5.0, "switched", A, SPACE_A, 0, 0x400014, SPACE_A),
    (6.0, "promoted", A, SPACE_B),
    (6.1, "slot_released", A, SPACE_B, 0xD0000000, 16 << 20),
)


def written(trace: Trace) -> list[dict]:
    programs = [Program("x", lambda address: "main" if address == 0x400010 else None)]
    result = chrome_trace.convert(trace, programs)
    trace_format.check(result)
    return result["traceEvents"]


def named(found: list[dict], name: str) -> dict:
    (one,) = [event for event in found if event["name"] == name]
    return one


def test_spaces_are_processes_and_threads_are_named():
    found = written(events(*CALL))
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in found if e["name"] == "thread_name"}
    processes = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    assert processes == {1: "kernel", 2: "sigma0", 3: "space 3"}
    assert names[2, 48] == "thread 48.1" and names[3, 51] == "thread 51.2" and names[1, 6] == "interrupt 4"


def test_programs_at_one_address_are_told_apart_by_the_first_threads_of_their_spaces():
    first = 51 << 14 | 1  # root's first payload
    trace = events(
        (0.0, "thread_created", A, SPACE_A),
        (0.0, "thread_created", first, SPACE_B),
        (1.0, "switched", A, SPACE_A, 0, 0x400010, SPACE_A),
        (2.0, "switched", first, SPACE_B, 0, 0x400010, SPACE_B),
        (2.5, "fault", first, ROLES.index("page_fault"), 0x7000, 0x400012, 0),
        (3.0, "idle", 0),
    )
    programs = [
        Program(f"program{place}", lambda address, place=place: f"main{place}", place)
        for place in (SIGMA0, FIRST_PAYLOAD)
    ]
    found = chrome_trace.convert(trace, programs)["traceEvents"]
    assert [e["args"]["name"] for e in found if e["name"] == "process_name"] == ["kernel", "sigma0", "program3"]
    assert [e["name"] for e in found if e["ph"] == "X" and e["cat"] == "run" and e["pid"] > 1] == ["main0", "main3"]
    assert named(found, "page fault")["args"]["function"] == "main3"
    later = chrome_trace.convert(events(*CALL), programs)["traceEvents"]  # B is another version: not root's
    assert [e["args"]["name"] for e in later if e["name"] == "process_name"] == ["kernel", "sigma0", "space 3"]


def test_a_space_of_another_root_server_runs_the_program_that_has_code_wherever_it_was():
    places = {"one": (0x400010, 0x400020), "two": (0x400010, 0x400030), "three": (0x400010,)}
    programs = [
        Program(name, lambda at, name=name, own=own: f"{name}_{at:x}" if at in own else None)
        for name, own in places.items()
    ]
    first, second = 60 << 14 | 1, 61 << 14 | 1

    def ran(thread, space, *ips, start=1.0):
        return [(start + index, "switched", thread, space, 0, ip, space) for index, ip in enumerate(ips)]

    def shown(*given):
        made = [(0.0, "thread_created", thread, space) for thread, space in ((first, SPACE_A), (second, SPACE_B))]
        found = chrome_trace.convert(events(*made, *given, (9.0, "idle", 0)), programs)["traceEvents"]
        processes = [e["args"]["name"] for e in found if e["name"] == "process_name"][1:]
        return processes, [e["name"] for e in found if e["ph"] == "X" and e["cat"] == "run" and e["pid"] > 1]

    interface_page = 0xBFF00000
    ran_first = ran(first, SPACE_A, 0x400010, interface_page, 0x400030)
    processes, slices = shown(*ran_first, *ran(second, SPACE_B, 0x400010, start=5.0))
    assert processes == ["two, space 2", "space 3"], "all three have code where the second was"
    assert slices == ["two_400010", "running", "two_400030", "running"]
    both = ran(first, SPACE_A, 0x400020, 0x400030)
    assert shown(*both) == (["space 2", "space 3"], ["one_400020", "two_400030"]), "neither fits: as the places say"
    again = [(5.0, "space_deleted", 0, SPACE_A), (6.0, "thread_created", first, SPACE_A)]
    later = [(7.0, "switched", first, SPACE_A, 0, 0x400020, SPACE_A)]
    processes, slices = shown(*ran(first, SPACE_A, 0x400030), *again, *later)
    assert processes == ["two, space 2", "space 3", "one, space 4"], "one place, two spaces after each other"
    assert slices == ["two_400030", "one_400020"]


def test_a_thread_is_a_slice_where_it_runs():
    runs = [e for e in written(events(*CALL)) if e["ph"] == "X" and e["cat"] == "run" and e["pid"] > 1]
    assert [(e["name"], e["ts"], e["dur"]) for e in runs] == [
        ("main", 1, 1.1),
        ("running", 2.1, 1.4),
        ("running", 5, 1.1),
    ]
    assert runs[1]["args"]["space"] == "small at 0xd0000000, host sigma0"


def test_messages_are_arrows_from_slice_to_slice():
    found = written(events(*CALL))
    arrows = {(e["id"], e["ph"]): (e["pid"], e["tid"], e["ts"]) for e in found if e["ph"] in "sf"}
    assert arrows[1, "s"] == (2, 48, 2) and arrows[1, "f"] == (3, 51, 2.1)
    assert arrows[2, "s"][:2] == (1, 6) and arrows[2, "f"] == (2, 48, 5), "from the interrupt to its handler"
    message = named(found, "message to 51.2")
    assert message["args"]["label"] == "0x0042" and message["args"]["untyped"] == 3


def test_a_queued_message_starts_where_its_sender_stopped():
    late = events(
        *CALL[:3], (2.0, "switched", B, SPACE_B, 0, 0, SPACE_B), (4.0, "message", A, B, 0, 0, 0), (5.0, "idle", 0)
    )
    (start,) = [e for e in written(late) if e["ph"] == "s"]
    assert (start["tid"], start["ts"]) == (48, 1.999)


def test_what_happens_is_an_instant():
    found = written(events(*CALL))
    assert named(found, "page fault")["args"] == {"ip": "0x00400012", "function": None, "address": "0x00007000"}
    assert named(found, "directory entry copied")["args"]["host"] == "sigma0"
    assert named(found, "host changes")["args"]["host"] == "sigma0", "once: a small space runs on it"
    assert named(found, "slot released")["args"]["mb"] == 16
    failed = named(found, "IPC failed: timeout")
    assert (failed["tid"], failed["args"]["phase"]) == (51, "receive")


def test_a_place_is_another_space_after_its_deletion():
    trace = events(*CALL[:2], (1.0, "space_deleted", 0, SPACE_B), (2.0, "thread_created", B, SPACE_B))
    assert [e["args"]["name"] for e in written(trace) if e["name"] == "process_name"][-1] == "space 4"


def test_an_empty_trace_is_a_file_too():
    assert written(Trace([], 0))
