# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/strings`: what it takes to send a string, a byte, beside a plain `rep movs` loop over the same memory in the
same run.

The guest's instructions are counted, with one more for each repetition of a `rep movs`, which the plugin counts once:
both sides move words of four bytes, so that is a quarter of the size. A string's *copy* is what a message with it takes
more than one with the shortest string; the *whole* is a call with the string and an empty answer.
"""

from dataclasses import dataclass
from typing import ClassVar

from cobnut.checks import Check, at_most, judge, named
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, Region, measure, raise_if_all_failed
from cobnut.missing import difference, total
from cobnut.plots import Lines, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

PAIRS = ("large_large", "small_small", "large_small", "small_large", "intra")
SIZES = tuple(4 << 2 * n for n in range(11))  # 4 bytes to 4 MB, as the guest has them
PLAIN, STRING = 0, 1
SHARES = ("kernel", "stub", "trampoline", "user")
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


def instructions(measurement: Measurement, size: int, kind: int) -> float | None:
    """All instructions of the median iteration, each repetition counted: most have no timer interrupt, but the longest
    all do.
    """
    region = measurement.at(case(size, kind))
    shares = [region.median(f"instructions_{share}") for share in SHARES] if region else [None]
    return total([*shares, size / WORD_BYTES])


def whole(measurement: Measurement, size: int) -> float | None:
    """The whole message over the plain copy."""
    return _ratio(instructions(measurement, size, STRING), instructions(measurement, size, PLAIN))


def copy(measurement: Measurement, size: int) -> float | None:
    """The string's copy over the plain copy."""
    sent, shortest = (instructions(measurement, bytes_, STRING) for bytes_ in (size, SIZES[0]))
    return _ratio(difference(sent, shortest), instructions(measurement, size, PLAIN))


def _ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def run(lab: Lab) -> Result:
    """Boots the program once for each pair."""
    chosen = lab.settings
    specs = [Strings(pair, chosen["rounds"], chosen["warmup"], chosen["slot"], chosen["small"]) for pair in PAIRS]
    measurements = measure(lab, specs)
    raise_if_all_failed(measurements)
    checks = [check for one in measurements for check in judge_pair(one)]
    series = [line for one in measurements for line in series_of(one)]
    return lab.result(series, checks, ledger_of(measurements))


def judge_pair(measurement: Measurement) -> list[Check]:
    """The copy at every size that is large enough for a bandwidth to be spoken of."""
    return [
        judge(
            f"{measurement.spec.pair}.{size}",
            copy(measurement, size),
            "times the plain copy",
            at_most(LIMIT),
            _why(measurement, size),
        )
        for size in SIZES
        if size >= CHECKED_FROM
    ]


def _why(measurement: Measurement, size: int) -> str:
    text = (
        "Instructions a byte of the string's copy over those of a plain `rep movs` loop, each repetition counted: what"
        " a message with this string takes more than one with 4 bytes."
    )
    all_of_it, fixed = whole(measurement, size), instructions(measurement, SIZES[0], STRING)
    if all_of_it is None or fixed is None:
        return text
    return (
        f"{text} The whole call, answer included, is {all_of_it:.2f} times the plain copy; with 4 bytes it takes"
        f" {fixed:,.0f} instructions."
    )


def series_of(measurement: Measurement) -> list[Series]:
    """Instructions a byte, their ratios and modelled cycles a byte, over the sizes."""
    pair, sizes = measurement.spec.pair, list(SIZES)

    def per_byte(name: str, kind: int) -> Series:
        values = [_ratio(instructions(measurement, size, kind), size) for size in sizes]
        return Series(f"{pair}.{name}", "instructions a byte", sizes, values)

    def cycles(name: str, kind: int) -> Series:
        regions = [measurement.at(case(size, kind)) for size in sizes]
        values = [region.mean_cycles / size if region else None for region, size in zip(regions, sizes, strict=True)]
        return Series(f"{pair}.cycles.{name}", "modelled cycles a byte", sizes, values)

    return [
        per_byte("plain", PLAIN),
        per_byte("string", STRING),
        Series(f"{pair}.copy", "times the plain copy", sizes, [copy(measurement, size) for size in sizes]),
        Series(f"{pair}.whole", "times the plain copy", sizes, [whole(measurement, size) for size in sizes]),
        cycles("plain", PLAIN),
        cycles("string", STRING),
    ]


def ledger_of(measurements: list[Measurement]) -> list[LedgerRow]:
    """Where the modelled cycles of each message go."""

    def row(measurement: Measurement, size: int, region: Region) -> LedgerRow:
        return LedgerRow(measurement.spec.pair, size, region.rounds, "cycles", region.ledger, region.cycles_total)

    found = [(one, size, one.at(case(size, STRING))) for one in measurements for size in SIZES]
    return [row(one, size, region) for one, size, region in found if region]


def plots(result: Result) -> list[Plot]:
    strings = {f"{pair}.string": pair.replace("_", " to ") for pair in PAIRS}
    return [
        Lines(
            "A message with one string",
            "bytes of the string",
            "instructions a byte",
            {"large_large.plain": "plain rep movs", **strings},
            caption=(
                "A call with the string and an empty answer, each repetition of a rep movs counted as an instruction."
            ),
        ),
        Lines(
            "A string's copy",
            "bytes of the string",
            "times the plain copy",
            {f"{pair}.copy": pair.replace("_", " to ") for pair in PAIRS},
            marks=(Mark(f"limit from 4 KB up: {LIMIT:g}", y=LIMIT),),
        ),
    ]


EXPERIMENT = Experiment(
    name="ipc/strings",
    title="Strings by message",
    source="Counts of this kernel, against a plain copy in the same run",
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(8, 3, pingpong.ROUNDS, "messages measured, for each size"),
        "warmup": Setting(2, 1, pingpong.WARMUP, "messages before the measured ones"),
        "slot": Setting(16, 16, pingpong.SLOTS_MB, "size of a small space, MB"),
        "small": Setting(512, 512, pingpong.AREAS_MB, "size of the small-space area, MB"),
    },
    run=run,
    plots=plots,
    checks=(named(PAIRS, "BYTES"),),
    story=(
        "A client calls a server with a string of 4 bytes to 4 MB, from spaces of either kind, and gets an empty"
        " answer. Strings of less than 64 KB go through a block of 64 KB one after the other. Beside it the client"
        " copies the same bytes with a plain loop."
    ),
    cannot_say=(
        (
            "A repetition of a string instruction counts as one instruction here, and costs nothing but its data"
            " accesses in the machine model: modelled cycles of a copy that stays in the caches are too few, on both"
            " sides."
        ),
        (
            "The checks are about the copy. A message also has its own instructions, some 2,000 with its answer, which"
            " is twice what a plain copy of 4 KB takes: the whole call comes near the limit only from megabytes up, as"
            " the series `PAIR.whole` show."
        ),
        "The plain copy is made inside one space by the client; the string is read by nobody afterwards.",
    ),
    has_curves=True,
)
