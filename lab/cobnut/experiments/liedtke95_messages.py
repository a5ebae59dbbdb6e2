# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/messages`: what a message with a string pays for reaching both spaces, and what a temporary mapping would
cost.

L95 4.2: L4 of that time mapped the receiver's buffer into the sender's space for the time of a copy, by two directory
entries, and needs none of that where one of the two spaces is small, since the other's directory has it. This kernel
copies through its window on physical memory (docs/string-transfer.md), for all pairs alike. So the absence of a
temporary mapping is measured, its price is put together from the machine's numbers, and what is paid here in its place
is measured, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cobnut import sheets
from cobnut.checks import Check, above, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, ipc_strings
from cobnut.experiments.ipc_strings import PLAIN, SIZES, STRING, Strings, case
from cobnut.experiments.pingpong import Measurement, measure_all
from cobnut.machines import Machine
from cobnut.missing import difference
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

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


def more(measured: Measurement, size: int, counter: str, than: int = SHORTEST) -> float | None:
    """What a message with this string has more of a counter than one with a shorter string."""
    long, short = (measured.median(case(each, STRING), counter) for each in (size, than))
    return difference(long, short)


def copied(measured: Measurement, size: int) -> float | None:
    """Modelled cycles that a message with this string takes more than one with the shortest."""
    return difference(measured.cycles(case(size, STRING)), measured.cycles(case(SHORTEST, STRING)))


def lookups(measured: Measurement) -> float | None:
    """The kernel's instructions for each further page: lookups of both sides, and all else that is done once a page."""
    further = more(measured, SHOWN[-1], "instructions_kernel", than=PAGE)
    return None if further is None else further / (pages(SHOWN[-1]) - 1)


def run(lab: Lab) -> Result:
    """Boots the program once for each pair of spaces."""
    measured = measure_all(lab, {pair: Messages.of(lab, pair) for pair in PAIRS})
    checks = [check for pair in PAIRS for size in SHOWN for check in judge_message(lab.machine, measured, pair, size)]
    regions = [(pair, size, measured[pair].at(case(size, STRING))) for pair in PAIRS for size in SHOWN]
    ledger = [region.row(f"{pair}.{size}", size) for pair, size, region in regions if region]
    return lab.result(series_of(lab.machine, measured), checks, ledger)


def judge_message(machine: Machine, measured: dict[str, Measurement], pair: str, size: int) -> Iterator[Check]:
    one, where = measured[pair], f"{pair}.{size}"
    refills, looked_up = more(one, size, "dtlb_misses"), lookups(one)
    here, large = (more(each, size, "instructions_kernel") for each in (one, measured["large_large"]))
    mapping = temporary_mapping(machine, pair, size)
    price = float(machine.parameters["dtlb.miss_cycles"].value)
    saved = None if refills is None else mapping - max(refills, 0) * price
    yield SHEET.judge(f"{where}.invlpg", one.median(case(size, STRING), "invlpg"), exactly(0))
    yield SHEET.judge(f"{where}.cr3_writes", more(one, size, "cr3_writes"), exactly(0))
    yield SHEET.judge(f"{where}.refills", refills, at_most(0))
    said = "unknown" if looked_up is None else f"{looked_up:.0f}"
    yield SHEET.judge(f"{where}.saving", saved, above(0), pages=pages(size), mapping=mapping, lookups=said)
    limit = None if large is None else at_most(large + TOLERANCE * abs(large))
    yield SHEET.judge(f"{where}.copy", here, limit)


def series_of(machine: Machine, measured: dict[str, Measurement]) -> Iterator[Series]:
    """Over the sizes: the whole message, the string's share, a temporary mapping; over the pairs: lookups."""
    cycles = "modelled cycles"
    for pair, one in measured.items():
        yield Series(f"{pair}.message", cycles, SHOWN, [one.cycles(case(size, STRING)) for size in SHOWN])
        yield Series(f"{pair}.string", cycles, SHOWN, [copied(one, size) for size in SHOWN])
        yield Series(f"{pair}.mapping", cycles, SHOWN, [temporary_mapping(machine, pair, size) for size in SHOWN])
    yield Series("lookups", "instructions a page", PAIRS, [lookups(measured[pair]) for pair in PAIRS])


EXPERIMENT = Experiment(
    name="liedtke95/messages",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    needs=PRICES,
    settings=ipc_strings.EXPERIMENT.settings,
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
