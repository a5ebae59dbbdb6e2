# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest had its disk write and flush, in order, by QEMU's blklogwrites; and what may be on the medium if the
power fails somewhere in it.
"""

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cobnut.emulators import qemu

FLUSH, AT_ONCE, DISCARD = 1, 2, 4  # flags of an entry: all before it, itself, and what has no data
# What a disk writes wholly or not at all, as one with physical blocks of this size does. ext4 counts on it where it
# rewrites its superblock, whose checksum is in another block of 512 bytes than its counters.
WHOLE = 4096


@dataclass(frozen=True)
class Write:
    """`data` at the byte `place`. `at_once`: it was on the medium when it had been done, flushed or not."""

    place: int
    data: bytes
    at_once: bool = False


Event = Write | None  # None is a flush


def logged(image: Path, log: Path) -> tuple[str, ...]:
    """The words of QEMU's for a first drive with the contents `image`, of whose writes and flushes `log` is a list."""
    with open(log, "wb") as file:
        file.truncate(1 << 20)  # an empty one is refused; it grows
    names = (qemu.escaped(image), qemu.escaped(log))
    drive = f"driver=blklogwrites,file.driver=file,file.filename={names[0]},log.driver=file,log.filename={names[1]}"
    return ("-drive", f"{drive},if=ide,index=0")


def events(log: Path) -> list[Event]:
    """What QEMU has written down."""
    data = log.read_bytes()
    _, _, count, sector = struct.unpack_from("<QQQI", data)
    at, found = sector, list[Event]()
    for _ in range(count):
        place, blocks, flags, _ = struct.unpack_from("<QQQQ", data, at)
        at += sector
        if flags & FLUSH:  # before the data of the same entry
            found.append(None)
        if blocks and not flags & DISCARD:
            found.append(Write(place * sector, data[at : at + blocks * sector], bool(flags & AT_ONCE)))
            at += blocks * sector
    return found


def whole(given: Iterable[Event]) -> list[Event]:
    """The same with writes joined that go on in the same WHOLE bytes: the driver gives a drive 512 at a time."""
    found = list[Event]()
    for event in given:
        last = found[-1] if found else None
        if event and last and _goes_on(last, event):
            found[-1] = Write(last.place, last.data + event.data, event.at_once)
        else:
            found.append(event)
    return found


def _goes_on(last: Write, event: Write) -> bool:
    return (
        event.place == last.place + len(last.data)
        and event.place // WHOLE == last.place // WHOLE
        and event.at_once == last.at_once
    )


def unflushed(given: Sequence[Event], point: int) -> list[int]:
    """The writes before `point` that no flush had followed by then."""
    flushed = max((n for n in range(point) if given[n] is None), default=-1)
    return [n for n, event in enumerate(given[:point]) if n > flushed and event and not event.at_once]


def write_medium(target: Path, size: int, given: Sequence[Event], point: int, kept: Callable[[int], bool]) -> None:
    """The medium after the power has failed at `point`: all that was flushed is there, and of the other writes those
    that are `kept`. Whatever a disk does first, it never has an older write over a newer one to the same place, so
    that this is all that can come of another order.
    """
    medium = bytearray(size)
    lost = {n for n in unflushed(given, point) if not kept(n)}
    for n, event in enumerate(given[:point]):
        if event and n not in lost:
            medium[event.place : event.place + len(event.data)] = event.data
    target.write_bytes(medium)
