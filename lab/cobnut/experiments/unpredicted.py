# SPDX-License-Identifier: GPL-2.0-or-later
"""Published latencies and counts of the modelled processors that no experiment predicts yet, and why.

`lab/validation` shows them beside those that are predicted, so that a list of what fits is not taken for all there is.
What lmbench's own distribution lists (doc/*.tbl) is not among them: its rows name a Pentium as "i586" and say no clock;
and of an SA-1110 or a Pentium 4 below 2 GHz no table of lmbench's results was found that can be named.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Unpredicted:
    """A published value. `name` begins with where it stands."""

    name: str
    machine: str
    published: float
    unit: str
    why: str


PIPELINE = "uhlig02/catwc measures it on Linux of today, beside these values"
OTHER_LINUX = "wiggins03/table1 measures Linux on an SA-1110, of another version, beside these values"
UNIX_PIPES = "the guest `pipe` is run to find lost rights, and not timed"
OTHER_SYSTEMS = "a system that is not built here"
OTHER_STACK = "code of Linux 2.2.5's: uhlig02/table4 has it beside this system's driver and stack"
GUI = "no X server is among the guests"


def _values(
    source: str, machine: str, unit: str, why: str, values: Iterable[tuple[str, float]]
) -> tuple[Unpredicted, ...]:
    return tuple(Unpredicted(f"{source}, {name}", machine, value, unit, why) for name, value in values)


UNPREDICTED: tuple[Unpredicted, ...] = (
    *_values(
        "H97 table 4",
        "pentium-133",
        "us",
        UNIX_PIPES,
        (
            ("Linux pipe", 29),
            ("pipe of Linux as a server", 46),
            ("the same with trampoline", 56),
            ("L4 pipe", 22),
            ("L4 synchronous RPC", 5),
            ("L4 mapping RPC", 12),
        ),
    ),
    *_values(
        "H97 table 4",
        "pentium-133",
        "us",
        OTHER_SYSTEMS,
        (("MkLinux pipe, in the kernel", 316), ("MkLinux pipe, as a user", 722)),
    ),
    *_values(
        "H97 getpid",
        "pentium-133",
        "cycles",
        OTHER_SYSTEMS,
        (("MkLinux, in the kernel", 2050), ("MkLinux, as a user", 14_710)),
    ),
    *_values(
        "W03 table 1, lmbench",
        "sa1100-200",
        "us",
        OTHER_LINUX,
        (
            ("hot potato by fcntl", 39),
            ("hot potato by fcntl, fast", 25),
            ("hot potato by fifo", 263),
            ("hot potato by fifo, fast", 15.6),
            ("hot potato by pipe", 257),
            ("hot potato by pipe, fast", 15.4),
            ("hot potato by socket", 511),
            ("hot potato by socket, fast", 30.7),
            ("fork", 4061),
            ("fork, fast", 3650),
            ("exec", 4321),
            ("exec, fast", 3980),
            ("shell", 54533),
            ("shell, fast", 51726),
        ),
    ),
    *_values(
        "W03 table 1, lmbench",
        "sa1100-200",
        "MB/s",
        OTHER_LINUX,
        (("pipe", 8.77), ("pipe, fast", 14.76), ("socket", 12.31), ("socket, fast", 12.94)),
    ),
    *_values(
        "U02 table 3, x11perf",
        "pentium4-1400",
        "cycles",
        GUI,
        (
            ("Dot, large", 202),
            ("Dot, small", 200),
            ("QueryPointer, large", 54_499),
            ("QueryPointer, small", 48_144),
            ("GetProperty, large", 58_911),
            ("GetProperty, small", 53_706),
            ("GetImage, large", 149_863),
            ("GetImage, small", 145_258),
        ),
    ),
    *_values(
        "U02 table 4, SawMill's ping",
        "pentium4-1400",
        "cycles",
        OTHER_STACK,
        (("large", 38_950), ("small", 31_800)),
    ),
    *_values(
        "U02 table 4, SawMill's ping",
        "pentium4-1400",
        "misses",
        OTHER_STACK,
        (("data TLB, large", 46), ("data TLB, small", 5), ("ITLB, large", 44)),
    ),
    *_values(
        "U02 section 4, cat | wc",
        "pentium4-1400",
        "% less",
        PIPELINE,
        (("ITLB misses", 75), ("DTLB misses", 86), ("time", 7.4)),
    ),
)
