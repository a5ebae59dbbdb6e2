# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/messages`: what a message with a string pays for reaching both spaces, and what a temporary mapping would
cost.

L95 4.2: L4 of that time mapped the receiver's buffer into the sender's space for the time of a copy, by two directory
entries, and needs none of that where one of the two spaces is small, since the other's directory has it. This kernel
copies through its window on physical memory (docs/string-transfer.md), for all pairs alike. So the absence of a
temporary mapping is measured, its price is put together from the machine's numbers, and what is paid here in its place
is measured, too.
"""

from dataclasses import dataclass

from cobnut.checks import Check, above, at_most, exactly, judge, named
from cobnut.experiments import Experiment, Kind, Lab, ipc_strings
from cobnut.experiments.ipc_strings import PLAIN, SIZES, STRING, Strings, case
from cobnut.experiments.pingpong import Measurement, Region, measure, raise_if_all_failed
from cobnut.machines import Machine
from cobnut.plots import Bars, Lines, Plot
from cobnut.results import LedgerRow, Result, Series

PAIRS = ("large_large", "small_small", "large_small", "small_large")
BOOTED = SIZES[:8]  # to 64 KB: the program goes through a block of it
SHORTEST, SHOWN = SIZES[0], (1024, 4096, 16384)
PAGE = 4096
DIRECTORY_ENTRIES = 2
TOLERANCE = 0.05
PRICES = ("instructions.load", "instructions.store", "dtlb.miss_cycles", "address_space.invlpg_cycles")


@dataclass(frozen=True)
class Messages(Strings):
    """One boot of the program `strings`, with its shorter strings only."""

    @property
    def arguments(self) -> str:
        return f"{super().arguments} sizes={len(BOOTED)}"

    @property
    def cases(self) -> list[int]:
        return [case(size, kind) for size in BOOTED for kind in (PLAIN, STRING)]


def pages(size: int) -> int:
    """Of an aligned string."""
    return -(-size // PAGE)


def temporary_mapping(machine: Machine, pair: str, size: int) -> float:
    """Modelled cycles of a temporary mapping for one string: entries copied, the window's pages walked for, and
    invalidated.

    From one large space to another the write of CR3 that follows invalidates the window; otherwise an invlpg for each
    page does.
    """
    cost = {name: float(machine.parameters[name].value) for name in PRICES}
    copied = DIRECTORY_ENTRIES * (cost["instructions.load"] + cost["instructions.store"])
    walked = pages(size) * cost["dtlb.miss_cycles"]
    invalidated = 0 if pair == "large_large" else pages(size) * cost["address_space.invlpg_cycles"]
    return copied + walked + invalidated


def more(measurement: Measurement, size: int, counter: str) -> float | None:
    """What a message with this string has more of a counter than one with the shortest string."""
    long, short = (region_of(measurement, each) for each in (size, SHORTEST))
    if not long or not short:
        return None
    a, b = long.median(counter), short.median(counter)
    return None if a is None or b is None else a - b


def copied(measurement: Measurement, size: int) -> float | None:
    """Modelled cycles that a message with this string takes more than one with the shortest."""
    long, short = (region_of(measurement, each) for each in (size, SHORTEST))
    return long.mean_cycles - short.mean_cycles if long and short else None


def lookups(measurement: Measurement) -> float | None:
    """The kernel's instructions for each further page: lookups of both sides, and all else that is done once a page."""
    first, last = (region_of(measurement, size) for size in (PAGE, SHOWN[-1]))
    if not first or not last:
        return None
    a, b = (region.median("instructions_kernel") for region in (first, last))
    return None if a is None or b is None else (b - a) / (pages(SHOWN[-1]) - 1)


def region_of(measurement: Measurement, size: int) -> Region | None:
    return measurement.at(case(size, STRING))


def run(lab: Lab) -> Result:
    """Boots the program once for each pair of spaces."""
    chosen = lab.settings
    specs = [Messages(pair, chosen["rounds"], chosen["warmup"], chosen["slot"], chosen["small"]) for pair in PAIRS]
    measured = dict(zip(PAIRS, measure(lab, specs), strict=True))
    raise_if_all_failed(list(measured.values()))
    checks = [check for pair in PAIRS for size in SHOWN for check in judge_message(lab.machine, measured, pair, size)]
    return lab.result(series_of(lab.machine, measured), checks, ledger_of(measured))


def judge_message(machine: Machine, measured: dict[str, Measurement], pair: str, size: int) -> list[Check]:
    one, where = measured[pair], f"{pair}.{size}"
    region = region_of(one, size)
    refills, text = (
        more(one, size, "dtlb_misses"),
        (
            "What the string adds to the kernel's work is the same for all pairs of spaces, but for a test of the slot"
            " in each lookup."
        ),
    )
    here, large = (more(each, size, "instructions_kernel") for each in (one, measured["large_large"]))
    mapping = temporary_mapping(machine, pair, size)
    price = float(machine.parameters["dtlb.miss_cycles"].value)
    saved = None if refills is None else mapping - max(refills, 0) * price
    return [
        judge(
            f"{where}.invlpg",
            region.median("invlpg") if region else None,
            "times",
            exactly(0),
            "No page of a window is invalidated.",
        ),
        judge(
            f"{where}.cr3_writes",
            more(one, size, "cr3_writes"),
            "times",
            exactly(0),
            "No write of CR3 but those that a message with 4 bytes has, too.",
        ),
        judge(
            f"{where}.refills",
            refills,
            "TLB misses",
            at_most(0),
            "No TLB entry of data is refilled that a message with 4 bytes does not need: there is no window that had to"
            " be mapped.",
        ),
        judge(
            f"{where}.saving",
            saved,
            "modelled cycles",
            above(0),
            f"A temporary mapping of {pages(size)} pages would cost {mapping:g}: modelled from the machine's numbers,"
            f" not run. In its place this kernel looks pages up by software: {_say(lookups(one))} instructions for each"
            " further page.",
        ),
        judge(
            f"{where}.copy",
            here,
            "instructions",
            None if large is None else at_most(large + TOLERANCE * abs(large)),
            text,
        ),
    ]


def _say(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0f}"


def series_of(machine: Machine, measured: dict[str, Measurement]) -> list[Series]:
    """Over the sizes: the whole message, the string's share, a temporary mapping; over the pairs: lookups."""
    sizes = list(SHOWN)
    lines = []
    for pair, one in measured.items():
        regions = [region_of(one, size) for size in sizes]
        lines += [
            Series(
                f"{pair}.message",
                "modelled cycles",
                sizes,
                [region.mean_cycles if region else None for region in regions],
            ),
            Series(f"{pair}.string", "modelled cycles", sizes, [copied(one, size) for size in sizes]),
            Series(
                f"{pair}.mapping", "modelled cycles", sizes, [temporary_mapping(machine, pair, size) for size in sizes]
            ),
        ]
    return [*lines, Series("lookups", "instructions a page", list(PAIRS), [lookups(measured[pair]) for pair in PAIRS])]


def ledger_of(measured: dict[str, Measurement]) -> list[LedgerRow]:
    found = [(pair, size, region_of(one, size)) for pair, one in measured.items() for size in SHOWN]
    return [region.row(f"{pair}.{size}", size) for pair, size, region in found if region]


def plots(result: Result) -> list[Plot]:
    def lines(kind: str) -> dict[str, str]:
        return {f"{pair}.{kind}": pair.replace("_", " to ") for pair in PAIRS}

    return [
        Lines(
            "A message with a string and its empty answer",
            "bytes of the string",
            "modelled cycles",
            lines("message"),
            caption="Pairs differ by the switches of address space, not by the copy.",
        ),
        Lines(
            "What a temporary mapping would cost",
            "bytes of the string",
            "modelled cycles",
            lines("mapping"),
            caption=(
                "Put together from the machine's numbers: two directory entries, a walk for each page and, where no"
                " write of CR3 follows, its invalidation."
            ),
        ),
        Bars(
            "Paid in its place: instructions for each further page",
            "client and server",
            "instructions",
            {"lookups": "kernel"},
        ),
    ]


EXPERIMENT = Experiment(
    name="liedtke95/messages",
    title="Strings into and out of small spaces need no temporary mapping",
    source="L95 section 4.2",
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    needs=PRICES,
    settings=ipc_strings.EXPERIMENT.settings,
    run=run,
    plots=plots,
    checks=(named(PAIRS, "BYTES", ("invlpg", "cr3_writes", "refills", "saving", "copy")),),
    story=(
        "A client calls a server with a string of 1, 4 or 16 KB, from spaces of either kind. L4 of 1995 maps the"
        " receiver's buffer for the copy unless one of the two spaces is small. This kernel never does: it copies"
        " between frames that it sees in a window of its own."
    ),
    cannot_say=(
        (
            "The saving is that of a mechanism which this kernel does not have: two directory entries, walks and"
            " invalidations at the machine's prices. It is not measured."
        ),
        (
            "Looking pages up by software takes more than a temporary mapping saves: the window is there for its"
            " simplicity, and for being the same everywhere. A kernel that let the processor look up both sides between"
            " small spaces would pay neither."
        ),
        "A repetition of a string instruction costs nothing in the machine model but its data accesses.",
    ),
    has_curves=True,
)
