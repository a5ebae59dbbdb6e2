# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers that others published or that were measured on other kernels, each with its source.

U02: Uhlig, Dannowski, Skoglund, Haeberlen, Heiser, "Performance of address-space multiplexing on the Pentium", 2002.
"""

from dataclasses import dataclass

# U02 section 3: "a round-trip IPC with small spaces" and its parts, cycles on a Pentium 4 at 1.4 GHz
U02_SMALL_ROUND_TRIP = 550

# U02 section 4.1 and figure 4; the curves themselves are not in the text, these statements about them are
U02_NOPS_AT_CAPACITY = 8_192  # bytes of nops that fill the trace cache
U02_NOPS_RATIO_AT_CAPACITY = 2.0  # "a two-fold difference in execution time"
U02_NOPS_RATIO_EXHAUSTED = 1.0  # "once the trace cache is exhausted, large and small spaces perform identically"
U02_JUMPS_RATIO_AT_CAPACITY = 3.5  # about 3.5 times faster at the ITLB's capacity
U02_READS_RATIO_MOST = 2.0  # up to two times faster

# U02 figure 4: what the working sets are made of
U02_JUMP_DISTANCE = 4155
U02_READ_DISTANCE = 4160


@dataclass(frozen=True)
class PeerPath:
    """A one-way null IPC of another kernel, counted under QEMU as ours is.

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

# L4Ka::Pistachio, 2007 (its last with ARM), SA-1100 configuration with fast address-space switching, one server and n
# clients at different addresses, random client called: instructions of a null IPC one way, user code included, by n
PISTACHIO_ARM = {14: 139, 15: 208, 16: 259, 18: 353, 20: 409}
PISTACHIO_ARM_KERNEL = 105.5  # up to 14 clients in its kernel alone
PISTACHIO_ARM_USER = PISTACHIO_ARM[14] - PISTACHIO_ARM_KERNEL
PISTACHIO_ARM_FLUSHES = {"tlb": 0.16, "cache": 0.02}  # an IPC, 20 clients

# W03: Wiggins, Tuch, Uhlig, Heiser, "Implementation of fast address-space switching and TLB sharing on the StrongARM
# processor", ACSAC 2003
W03_CLOCK_MHZ = 200
# section 2: costs on the SA-1100, in cycles
W03_FLUSH_CYCLES = (1_000, 18_000)  # flushing the caches, without what follows from it
W03_LINE_CYCLES = 70  # a cache miss
W03_TLB_MISS_CYCLES = 45
W03_WORST_SWITCH_CYCLES = 75_000
# section 4.2 and figure 5: a round trip of L4 IPC, one server and n clients, in us
W03_STANDARD_US = 135  # "quite independent of the number of processes"
W03_FAST_US = 10  # at the least
W03_FAST_14_US = 12  # with 14 clients
W03_FAST_GAIN, W03_FAST_14_GAIN = 13, 11  # "more than thirteen-fold", "more than eleven-fold"
W03_LAST_CLIENTS = 14  # the last number of clients for which there are domains enough
W03_OPTIMAL_US = 2  # "an optimised round-trip IPC should be around 2 us"
# table 1: lmbench on Linux, with the original kernel and with the fast one: us of a hot potato's round trip, MB/s of
# streams, us of a process
W03_TABLE_1 = {
    "fcntl": (39, 25),
    "fifo": (263, 15.6),
    "pipe": (257, 15.4),
    "unix": (511, 30.7),
    "pipe_stream": (8.77, 14.76),
    "unix_stream": (12.31, 12.94),
    "fork": (4061, 3650),
    "exec": (4321, 3980),
    "shell": (54533, 51726),
}
# section 4.2 and figure 2, on Linux: lat_ctx without data
W03_CTX_GAIN = {2: 57, 13: 4}  # times, by processes
W03_CTX_DOMAINS = 13  # processes that have one there
W03_CTX_SHARE = 0.6  # of the original kernel's, with more processes than that
W03_SHARING_MOST = 23
W03_SHARING_ADDS = (0, W03_SHARING_MOST)  # per cent, figure 3: "varying between zero and 23 %"
# section 4.2 and figure 4: "extreme", private against shared pages
W03_EXTREME_GAIN = {2: 9.0, 16: 3.7}  # up to so many times, by processes
W03_PRIVATE_PAGES, W03_SHARED_PAGES = 10, 20  # pages up to which execution does not slow down, about
W03_TLB_ENTRIES = 32  # pages at which both are the same

# L95: Liedtke, "Improved address-space switching on Pentium processors by transparently multiplexing user address
# spaces", GMD TR 933, November 1995


@dataclass(frozen=True)
class Switching:
    """A row of L95 table 1: TLB entries, cycles of a TLB miss, of a switch of page tables, of a switch of segments."""

    entries: int
    miss: tuple[int, int]
    page_table: tuple[int, int]
    segments: int


@dataclass(frozen=True)
class PartlyKnown:
    """The same of a processor that is not modelled; what the paper leaves open is None."""

    entries: int
    miss: tuple[int, int] | tuple[None, None]
    page_table: tuple[int, int] | tuple[None, None]
    segments: int | None


L95_TABLE1 = {
    "i486": Switching(32, (9, 13), (36, 364), 39),
    "Pentium": Switching(96, (9, 13), (36, 1196), 15),
}
L95_TABLE1_OTHERS = {
    "PowerPC 601": PartlyKnown(256, (None, None), (None, None), 29),
    "Alpha 21064": PartlyKnown(40, (20, 50), (80, 1800), None),
    "MIPS R4000": PartlyKnown(48, (20, 50), (0, 0), None),
}
# L95 section 1 on its table 1: the least is 4 pages, the most is all entries but the kernel's 4 pages
L95_PAGES = 4
# L95 section 4.1: "50 + 9n" for a switch with a flush, n the misses that the flush causes, 5 to 96 in table 2
L95_MISS = 9
L95_FLUSHING = 50
L95_MISSES = (5, 96)
# L95 table 2: the types of switch, cycles; L large, S small, P the previous large space; least and most where they
# depend on n
L95_TABLE2 = {"LL": (95, 914), "LP": (28, 28), "LS": (23, 23), "SS": (23, 23), "SP": (28, 28), "SL": (95, 914)}
# L95 table 3: remote procedure calls
L95_TABLE3 = {
    "LS+SP": (51, 51),
    "SS+SS": (46, 46),
    "SL+LS": (118, 937),
    "SP+LS": (51, 51),
    "LL+LL": (190, 1828),
    "LP+LP": (56, 56),
}
# L95 figure 4: pages of the application's working set; data pages of the server's; the paper's repetitions
L95_PAGES_FIRST, L95_PAGES_LAST, L95_SERVED = 2, 64, 2
L95_REPETITIONS = 100_000
# L95 section 1, note 1: "only about half of the TLB entries are used simultaneously" where working sets are not compact
L95_SPREAD_SHARE = 0.5

# U02 table 2: system calls, cycles on a Pentium 4 at 1.4 GHz: natively, with the server in a large space and in a small
# one
U02_TABLE2 = {
    "getpid": (1540, 3837, 2200),
    "gettimeofday": (1840, 4295, 2547),
    "read_4k": (4241, 7067, 5198),
    "write_4k": (5332, 8746, 6368),
}

# U02 table 5, "client-server pipe": "19-74 %" by programs in small spaces instead of large ones, as times; the table's
# percentages are what large spaces take more, as its 70 % of a getpid is 3837 to 2200
U02_PIPE_GAIN_LEAST, U02_PIPE_GAIN_MOST = 1.19, 1.74

# U02 section 4.4: 10 MB through chained cats to wc; what small spaces save of what large ones take
U02_CATWC_ITLB_SAVED, U02_CATWC_DTLB_SAVED, U02_CATWC_TIME_SAVED = 0.75, 0.86, 0.074

# U02 table 3: requests of x11perf with the X server in a large space and in a small one, the Linux server being in a
# small one: cycles of an object. Improvements are what the large space takes more; the paper prints 22 % for
# GetProperty, which its cycles do not give. Section 4.5: "a performance benefit below 1% for drawing functions".
U02_TABLE3 = {
    "dot": (202, 200),
    "pointer": (54_499, 48_144),
    "property": (58_911, 53_706),
    "image": (149_863, 145_258),
}
U02_DRAWING = (0.0, 0.01)

# U02 section 4.9: compiling a file of C++ takes 0.52 s with programs in large spaces as in small ones, and misses of
# both TLBs are reduced by no more than 3 %; as intervals of what small spaces save
U02_GCC_TIME, U02_GCC_MISSES = (-0.02, 0.02), (0.0, 0.03)

# U02 section 4.6: a FastCGI server in a small space instead of a large one, behind thttpd: "on average we gain about 5%
# to 6%" over its working sets; behind Apache "we did not see any performance improvement", with "about 290 DTLB and 250
# ITLB replacements" for a request
U02_WEB_GAIN, U02_WEB_GAIN_WITHIN = 0.055, (0.05, 0.06)
U02_APACHE_GAIN, U02_APACHE_GAIN_WITHIN = 0, (-0.01, 0.01)
U02_APACHE_MISSES = {"dtlb": 290, "itlb": 250}

# U02 section 4.7: MySQL and small spaces: "with very simple queries we gained about 3%", and more complex ones were
# "completely dominated by the execution time in the MySQL server"
U02_SELECT_GAIN, U02_SELECT_GAIN_WITHIN = 0.03, (0.025, 0.035)
U02_COMPLEX_GAIN, U02_COMPLEX_GAIN_WITHIN = 0, (-0.01, 0.01)

# U02 section 4.8 and figure 8: LxDoom replays a recorded session, without sound; the X server in a small space instead
# of a large one: frames a second that are gained, and what is saved of misses
U02_DOOM_GAIN, U02_DOOM_ITLB_SAVED, U02_DOOM_DTLB_SAVED = 0.06, 0.63, 0.02

# U02 table 5: "average execution time improvements of using small address spaces over large address spaces", least and
# most: of calls, a pipe, X and SawMill as their tables have them; it prints 7.6 % where section 4.4 has 7.4 %
U02_TABLE5 = {
    "linux": (0.40, 0.70),
    "pipe": (0.19, 0.74),
    "catwc": (0.076, 0.076),
    "x": (0.0, 0.13),
    "apache": (0.0, 0.0),
    "thttpd": (0.05, 0.06),
    "mysql": (0.0, 0.03),
    "doom": (0.06, 0.06),
    "gcc": (0.0, 0.0),
    "sawmill": (0.18, 0.18),
}

# U02 table 4: SawMill's driver and TCP/IP stack with one ping, "from when the interrupt arrived in the network driver
# until the ICMP reply packet was enqueued at the network card", on a Pentium 4 at 1.4 GHz; and section 4.10: "three
# full context switches" of the four switches
U02_PING_CYCLES = {"large": 38_950, "small": 31_800}
U02_PING_DTLB_MISSES = {"large": 46, "small": 5}
U02_PING_ITLB_MISSES = {"large": 44, "small": 0}
U02_PING_SAVED = 0.18
U02_PING_FULL_SWITCHES = {"large": 3, "small": 0}

# H97: Haertig, Hohmuth, Liedtke, Schoenberg, Wolter, "The performance of microkernel-based systems", 1997; getpid in
# cycles on a Pentium at 133 MHz: natively, and as a server, with a library of its own and with unmodified programs,
# whose calls are reflected
H97_GETPID_NATIVE = 223
H97_GETPID_LIBRARY = 526
H97_GETPID_TRAMPOLINE = 753
# of the 526: what a call consists of
H97_GETPID_PARTS = {"enter": 20, "send": 168, "server": 131, "reply": 188, "leave": 19}
# section 5.3: recompiling the Linux server takes 6 to 7 % more than natively
H97_COMPILE = 1.07
# section 5.3, the AIM multiuser benchmark suite VII: 8.3 % slower than native over all loads
H97_AIM = 1.083
# table 3 and figure 6, lmbench and hbench: "1.5-2.5x slowdown" against native Linux in the worst rows
H97_LMBENCH_WORST = 2.5
# section 6.1 and table 4, rows (2) to (4): a round trip with one byte (of a mapping: with one page), in us, and the
# bandwidth with blocks of 64 KB, in MB/s, least and most
H97_TABLE4_US = {"pipe": 22, "rpc": 5, "map": 12}
H97_TABLE4_MB_S = {"pipe": (48, 70), "rpc": (65, 105), "map": (2470, 2900)}
H97_BLOCK_BYTES = 64 << 10
# table 4, rows (1c) and (1d), and section 5's getpid, in cycles at 133 MHz: of MkLinux, whose server runs on Mach 3.0,
# as a user program and in Mach's kernel
H97_MKLINUX_PIPE_US = {"user": 722, "in_kernel": 316}
H97_MKLINUX_GETPID_US = {"user": 14710 / 133, "in_kernel": 2050 / 133}
