# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers that others published or that were measured on other kernels, each with its source.

U02: Uhlig, Dannowski, Skoglund, Haeberlen, Heiser, "Performance of address-space multiplexing on the Pentium", 2002.
"""

from dataclasses import dataclass

# U02 section 3: "a round-trip IPC with small spaces" and its parts, cycles on a Pentium 4 at 1.4 GHz
U02_SMALL_ROUND_TRIP = 550
# and, stated one by one, what one way consists of: sysenter with sysexit, a set of segment registers, the kernel's path
U02_ENTRY_EXIT = 166
U02_SEGMENT_RELOAD = 253
U02_IPC_PATH = 100

# U02 section 4.1 and figure 4; the curves themselves are not in the text, these statements about them are
U02_NOPS_AT_CAPACITY = 8_000  # bytes of nops that fill the trace cache
U02_NOPS_RATIO_AT_CAPACITY = 2.0  # "a two-fold difference in execution time"
U02_NOPS_RATIO_EXHAUSTED = 1.0  # "once the trace cache is exhausted, large and small spaces perform identically"
U02_JUMPS_RATIO_AT_CAPACITY = 3.5  # about 3.5 times faster at the ITLB's capacity
U02_READS_RATIO_MOST = 2.0  # up to two times faster

# U02 figure 4: what the working sets are made of
U02_JUMP_DISTANCE = 4155
U02_READ_DISTANCE = 4160


@dataclass(frozen=True)
class PeerPath:
    """A one-way null IPC of another kernel, counted under QEMU as `ipc/path` counts ours.

    `instructions` are kernel, stub and trampoline together; `segment_loads` include the far return.
    """

    instructions: float
    segment_loads: float
    cr3_writes: float


# L4Ka::Pistachio, 2014 head, Pentium 4 configuration with small spaces, sysenter and its assembly fast path
PISTACHIO = {
    "small_small": PeerPath(instructions=100, segment_loads=8, cr3_writes=0),
    "large_small": PeerPath(instructions=100.5, segment_loads=8, cr3_writes=0.5),
    "large_large": PeerPath(instructions=90, segment_loads=5, cr3_writes=1),
    "intra": PeerPath(instructions=86, segment_loads=5, cr3_writes=0),
}
PISTACHIO_CODE_LINES = 17
PISTACHIO_DATA_LINES = 20

# seL4 16.0.0-dev on pc99, FPU contexts off: instructions of a null IPC in the kernel alone
SEL4_KERNEL_INSTRUCTIONS = 227
