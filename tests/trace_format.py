# SPDX-License-Identifier: GPL-2.0-or-later
"""The Trace Event Format, as far as this project writes it, checked: what each phase needs, order, and that arrows meet
slices.
"""

NEEDED = {
    "M": {"args"},
    "X": {"dur", "cat", "args"},
    "i": {"s", "cat", "args"},
    "s": {"id", "cat"},
    "f": {"id", "cat", "bp"},
}
COMMON = {"name", "ph", "ts", "pid", "tid"}


def check(trace: dict) -> None:
    """Fails if `trace` (the JSON object) is not in the format."""
    assert {"traceEvents", "displayTimeUnit", "otherData"} <= set(trace)
    events = trace["traceEvents"]
    for event in events:
        assert COMMON | NEEDED[event["ph"]] <= set(event), event
        assert event["ts"] >= 0 and event.get("dur", 1) > 0, event
    times = [event["ts"] for event in events]
    assert times == sorted(times), "not in the order of time"
    tracks = {(event["pid"], event["tid"]) for event in events if event["ph"] != "M"}
    assert tracks <= {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}, (
        "a track has no name"
    )
    _check_slices(events)
    _check_arrows(events)


def _check_slices(events: list[dict]) -> None:
    """Slices of a track follow each other; only interrupts may come while another one is at work."""
    ends: dict[tuple, float] = {}
    for event in events:
        if event["ph"] == "X":
            track = (event["pid"], event["tid"])
            assert event["ts"] >= ends.get(track, 0) - 0.0015, f"slices overlap: {event}"
            ends[track] = event["ts"] + event["dur"]


def _check_arrows(events: list[dict]) -> None:
    slices: dict[tuple, list[tuple]] = {}
    for event in events:
        if event["ph"] == "X":
            slices.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
    starts = {event["id"] for event in events if event["ph"] == "s"}
    for event in events:
        if event["ph"] in "sf":
            assert event["id"] in starts, f"an arrow without a start: {event}"
            inside = slices.get((event["pid"], event["tid"]), [])
            assert any(start <= event["ts"] <= end + 0.0015 for start, end in inside), f"an arrow in no slice: {event}"
