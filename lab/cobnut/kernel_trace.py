# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's trace (kernel/core/trace.hpp), read out of a guest's memory."""

import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cobnut.errors import CobnutError
from cobnut.symbols import Symbols

KERNEL_BASE = 0xF0000000  # kernel/ia32/layout.hpp: the window on physical memory
RING = struct.Struct("<5I")
RECORD = struct.Struct("<QII4I")
THREAD_INFO = 0xC4  # in the kernel interface page (manual 1.3): the first user thread's number from bit 20 on
VERSION_BITS = 14
LEAST_US = 0.001

# in the order of kernel/core/trace.hpp and kernel/core/thread.hpp
EVENTS = (
    "none",
    "switched",
    "idle",
    "message",
    "ipc_failed",
    "fault",
    "interrupt",
    "thread_created",
    "thread_deleted",
    "space_deleted",
    "entry_copied",
    "slot_taken",
    "slot_released",
    "promoted",
)
ROLES = ("user", "page_fault", "port_fault", "exception", "preemption", "quantum", "startup", "interrupt")


@dataclass(frozen=True)
class Record:
    """One event. `microseconds` count from the first record that is there; `thread` is a global id, 0 for none.

    Where the clock did not move between two events, they stand LEAST_US apart, in their order.
    """

    microseconds: float
    event: str
    thread: int
    words: tuple[int, int, int, int]


@dataclass(frozen=True)
class Trace:
    """What the ring holds, oldest first; `lost` events had been overwritten."""

    records: list[Record]
    lost: int
    first_user_thread: int = 0

    def say(self) -> str:
        """How much there is of what, in one line."""
        counts = Counter(record.event for record in self.records)
        span = self.records[-1].microseconds if self.records else 0
        kinds = ", ".join(f"{many:,} {event}" for event, many in counts.most_common())
        return f"{len(self.records):,} events in {span / 1000:,.3f} ms, {self.lost:,} lost" + (
            f": {kinds}" if kinds else ""
        )


def read(memory: Path, kernel: Symbols) -> Trace:
    """The trace of a run of the file `kernel`, from a file with the guest's physical memory."""
    with open(memory, "rb") as file:

        def at(address: int, size: int) -> bytes:
            file.seek(address - KERNEL_BASE)
            data = file.read(size) if address >= KERNEL_BASE else b""
            if len(data) != size:
                raise CobnutError("the trace in the guest's memory is damaged")
            return data

        ring = at(kernel.address("trace_ring"), RING.size)
        start, end, *_ = RING.unpack(ring)
        if not start:
            raise CobnutError("the kernel wrote no trace: it did not come that far")
        (thread_info,) = struct.unpack("<I", at(kernel.address("kip") + THREAD_INFO, 4))
        return decode(ring, at(start, end - start), thread_info >> 20)


def decode(ring: bytes, records: bytes, first_user_thread: int = 0) -> Trace:
    """The trace that `ring` (the kernel's Ring) and its `records` hold."""
    start, end, following, wraps, ticks_per_ms = RING.unpack(ring)
    if (
        end - start != len(records)
        or not start <= following < end
        or (following - start) % RECORD.size
        or not ticks_per_ms
    ):
        raise CobnutError("the trace in the guest's memory is damaged")
    split = following - start
    raw = list(RECORD.iter_unpack((records[split:] if wraps else b"") + records[:split]))
    known = [
        (ticks, EVENTS[event], thread, tuple(words)) for ticks, event, thread, *words in raw if event < len(EVENTS)
    ]
    if len(known) != len(raw):
        raise CobnutError("the trace holds events that are not known: another kernel's?")
    origin = known[0][0] if known else 0
    lost = max(wraps - 1, 0) * (len(records) // RECORD.size) + (split // RECORD.size if wraps else 0)
    found: list[Record] = []
    for ticks, *rest in known:
        at = (ticks - origin) * 1000 / ticks_per_ms
        found.append(Record(max(at, found[-1].microseconds + LEAST_US) if found else at, *rest))
    return Trace(found, lost, first_user_thread)


def number(thread: int) -> int:
    """The thread number in a global id."""
    return thread >> VERSION_BITS


def user_thread(number: int) -> int:
    """The global id that the kernel and our root server give a thread of this number."""
    return number << VERSION_BITS | 1


def interrupt_thread(line: int) -> int:
    """The global id of an interrupt line's thread (manual 7.2, sheet 6.4)."""
    return line << VERSION_BITS | 1


def thread_name(thread: int) -> str:
    """A global id as people write it: NUMBER.VERSION."""
    return f"{number(thread)}.{thread & (1 << VERSION_BITS) - 1}"
