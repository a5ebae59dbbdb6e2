# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/strings`: what it takes to send a string, a byte, beside a plain `rep movs` loop over the same memory in the
same run.

The guest's instructions are counted, with one more for each repetition of a `rep movs`, which the plugin counts once:
both sides move words of four bytes, so that is a quarter of the size. A string's *copy* is what a message with it takes
more than one with the shortest string; the *whole* is a call with the string and an empty answer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from cobnut import sheets
from cobnut.checks import Check, at_most
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import SHARES, Measurement, PingPong, measure_all
from cobnut.missing import difference, ratio, total
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

PAIRS = ("large_large", "small_small", "large_small", "small_large", "intra")
SIZES = tuple(4 << 2 * n for n in range(11))  # 4 bytes to 4 MB, as the guest has them
PLAIN, STRING = 0, 1
ALL = (*SHARES, "user")
WORD_BYTES = 4
CHECKED_FROM = 4096
LIMIT = 1.15


@dataclass(frozen=True)
class Strings(PingPong):
    """One boot of the program `strings`. Its cases are pairs: the plain copy of a size, then its string."""

    program: ClassVar[str] = "strings"

    @property
    def arguments(self) -> str:
        return f"pair={self.pair} rounds={self.rounds} warmup={self.warmup} slot={self.slot}"

    @property
    def cases(self) -> list[int]:
        return [case(size, kind) for size in SIZES for kind in (PLAIN, STRING)]


def case(size: int, kind: int) -> int:
    """What stands for the size of a region: size and kind in one number."""
    return 2 * size + kind


def instructions(measured: Measurement, size: int, kind: int) -> float | None:
    """All instructions of the median iteration, each repetition counted: most have no timer interrupt, but the longest
    all do.
    """
    return total([measured.median(case(size, kind), *(f"instructions_{share}" for share in ALL)), size / WORD_BYTES])


def whole(measured: Measurement, size: int) -> float | None:
    """The whole message over the plain copy."""
    return ratio(instructions(measured, size, STRING), instructions(measured, size, PLAIN))


def copy(measured: Measurement, size: int) -> float | None:
    """The string's copy over the plain copy."""
    sent, shortest = (instructions(measured, bytes_, STRING) for bytes_ in (size, SIZES[0]))
    return ratio(difference(sent, shortest), instructions(measured, size, PLAIN))


def run(lab: Lab) -> Result:
    """Boots the program once for each pair."""
    measured = measure_all(lab, {pair: Strings.of(lab, pair) for pair in PAIRS})
    shown = [(pair, one, size) for pair, one in measured.items() for size in SIZES]
    checks = [check for one in measured.values() for check in judge_pair(one)]
    series = [line for pair, one in measured.items() for line in series_of(pair, one)]
    regions = [(pair, size, one.at(case(size, STRING))) for pair, one, size in shown]
    ledger = [
        LedgerRow(pair, size, region.rounds, "cycles", region.ledger, region.cycles_total)
        for pair, size, region in regions
        if region
    ]
    return lab.result(series, checks, ledger)


def judge_pair(measured: Measurement) -> Iterator[Check]:
    """The copy at every size that is large enough for a bandwidth to be spoken of."""
    fixed = instructions(measured, SIZES[0], STRING)
    for size in SIZES:
        if size >= CHECKED_FROM:
            all_of_it, told = whole(measured, size), None
            if all_of_it is not None and fixed is not None:
                told = SHEET.texts["whole"].format(all_of_it=all_of_it, fixed=fixed)
            yield SHEET.judge(f"{measured.spec.pair}.{size}", copy(measured, size), at_most(LIMIT), told)


def series_of(pair: str, measured: Measurement) -> list[Series]:
    """Instructions a byte, their ratios and modelled cycles a byte, over the sizes."""

    def line(name: str, unit: str, value: Callable[[int], float | None]) -> Series:
        return Series(f"{pair}.{name}", unit, list(SIZES), [value(size) for size in SIZES])

    def per_byte(name: str, kind: int) -> Series:
        return line(name, "instructions a byte", lambda size: ratio(instructions(measured, size, kind), size))

    def cycles(name: str, kind: int) -> Series:
        return line(name, "modelled cycles a byte", lambda size: ratio(measured.cycles(case(size, kind)), size))

    return [
        per_byte("plain", PLAIN),
        per_byte("string", STRING),
        line("copy", "times the plain copy", lambda size: copy(measured, size)),
        line("whole", "times the plain copy", lambda size: whole(measured, size)),
        cycles("cycles.plain", PLAIN),
        cycles("cycles.string", STRING),
    ]


EXPERIMENT = Experiment(
    name="ipc/strings",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(8, 3, pingpong.ROUNDS, "messages measured, for each size"),
        "warmup": Setting(2, 1, pingpong.WARMUP, "messages before the measured ones"),
        **pingpong.SPACES,
    },
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
