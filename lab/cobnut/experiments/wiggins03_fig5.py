# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig5`: a server calls clients at random, each in a space of its own, with the standard and with the fast
kernel.

W03's figure 5. The server and up to 14 clients have a domain each; beyond that domains are taken away and given again.
The clients lie at different addresses, or all at the same one below 32 MB, where the processor relocates them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cobnut import published, sheets
from cobnut.checks import (
    Check,
    Rule,
    at_most,
    between,
    exactly,
    no_less_than,
    no_more_than,
    reproduces,
)
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import FLUSHES, SWITCH_WRITES, Counted, Crowd, measure_all
from cobnut.missing import difference, ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

CLIENTS = (1, 2, 4, 6, 8, 10, 12, 14, 15, 16, 18, 20, 32, 48, 64)
QUICK = (1, 14, 20, 32, 64)
LAST = published.W03_LAST_CLIENTS
KERNELS = {"standard": False, "fast": True}
PLACES = {"different": "apart", "same": "alike"}
MISSES = ("itlb_misses", "dtlb_misses", "icache_misses", "dcache_misses", "write_backs")
PAPERS_MACHINE = "sa1100-200"

WARM_LIMIT, TWENTY, TWENTY_LIMIT = 60, 20, 160  # instructions one way: up to LAST clients, with 20
CROWDED, CROWDED_SHARE = (32, 48, 64), 0.4  # of the standard kernel's modelled cycles: a goal of ours
SAME_OVER_DIFFERENT = 0.1
ROUND_TRIP_LIMIT = published.W03_OPTIMAL_US * published.W03_CLOCK_MHZ


@dataclass(frozen=True)
class Curve:
    """One kernel and one placement: what was counted for each number of clients."""

    kernel: str
    place: str
    counted: Mapping[int, Counted]
    clock_mhz: float

    @property
    def sizes(self) -> list[int]:
        return list(self.counted)

    def cycles(self, n: int) -> float | None:
        """Of a round trip."""
        return self.counted[n].cycles(n)

    def us(self, n: int) -> float | None:
        return ratio(self.cycles(n), self.clock_mhz)

    def slope(self, first: int, last: int) -> float | None:
        """Microseconds more with each client."""
        return ratio(difference(self.us(last), self.us(first)), last - first)

    def judge(self, name: str, measured: float | None, rule: Rule, n: int, **values: Any) -> Check:
        """A check about `n` clients."""
        clients = f"{n} client{'s' * (n > 1)}"
        return SHEET.judge(f"{name}.{n}", measured, rule, self.counted[n].failure, clients=clients, **values)


Curves = Mapping[tuple[str, str], Curve]  # by kernel and placement


def run(lab: Lab) -> Result:
    """Both kernels, both placements, every number of clients."""
    chosen, sizes = lab.settings, QUICK if lab.quick else CLIENTS
    specs = {
        (kernel, place, n): Crowd("calls", where, n, chosen["rounds"], chosen["warmup"], tags=tags)
        for kernel, tags in KERNELS.items()
        for place, where in PLACES.items()
        for n in sizes
    }
    counted = measure_all(lab, specs)
    clock = lab.machine["processor.clock_mhz"]
    curves = {
        (kernel, place): Curve(kernel, place, {n: counted[kernel, place, n] for n in sizes}, clock)
        for kernel in KERNELS
        for place in PLACES
    }
    checks = [*judge_counts(curves), *judge_cycles(curves)]
    if lab.machine.name == PAPERS_MACHINE:
        checks += judge_paper(curves)
    series = [series for curve in curves.values() for series in series_of(curve)]
    ledger = [row for (kernel, place, _), one in counted.items() for row in one.rows(f"{kernel}.{place}")]
    return lab.result([*series, peers(sizes)], checks, ledger)


def judge_counts(curves: Curves) -> Iterator[Check]:
    """Instructions and flushes of an IPC: counted, not modelled."""
    for place in PLACES:
        fast = curves["fast", place]
        for n, counted in fast.counted.items():
            if n <= LAST or n == TWENTY:
                rule = at_most(WARM_LIMIT if n <= LAST else TWENTY_LIMIT)
                yield fast.judge(f"fast.{place}.instructions", counted.instructions, rule, n, peer=_peer(n))
            if n <= LAST:
                yield fast.judge(f"fast.{place}.flushes", counted.each(*FLUSHES), exactly(0), n)


def judge_cycles(curves: Curves) -> Iterator[Check]:
    """Modelled cycles against those of the other kernel and of the other placement."""
    standard, fast, same = curves["standard", "different"], curves["fast", "different"], curves["fast", "same"]
    for n in fast.sizes:
        if n <= LAST:
            rule = between(1 - SAME_OVER_DIFFERENT, 1 + SAME_OVER_DIFFERENT)
            yield same.judge("same_over_different", ratio(same.cycles(n), fast.cycles(n)), rule, n)
        if n in CROWDED:
            share = ratio(fast.cycles(n), standard.cycles(n))
            yield fast.judge("fast_over_standard", share, at_most(CROWDED_SHARE), n)


def judge_paper(curves: Curves) -> Iterator[Check]:
    """What W03 section 4.2 says about the figure; the machine is the paper's."""
    standard, fast = curves["standard", "different"], curves["fast", "different"]
    first, last = fast.sizes[0], fast.sizes[-1]
    optimal = {"optimal": published.W03_OPTIMAL_US}
    yield fast.judge("fast.cycles", fast.cycles(first), no_more_than(ROUND_TRIP_LIMIT), first, **optimal)
    yield fast.judge("fast.us", fast.us(first), no_more_than(published.W03_FAST_US), first)
    yield fast.judge("fast.us", fast.us(LAST), no_more_than(published.W03_FAST_14_US), LAST)
    growth = reproduces(published.W03_FAST_14_US - published.W03_FAST_US)
    yield SHEET.judge(f"fast.growth.{LAST}", difference(fast.us(LAST), fast.us(first)), growth, first=first)
    for n in (first, last):
        yield standard.judge("standard.us", standard.us(n), reproduces(published.W03_STANDARD_US), n)
    yield SHEET.judge("standard.flatness", ratio(standard.us(last), standard.us(first)), reproduces(1), last=last)
    for n, gain in ((first, published.W03_FAST_GAIN), (LAST, published.W03_FAST_14_GAIN)):
        yield SHEET.judge(f"gain.{n}", ratio(standard.us(n), fast.us(n)), no_less_than(gain))
    yield from judge_beyond(fast)


def judge_beyond(fast: Curve) -> Iterator[Check]:
    """How it goes on where domains run out: faster, and then slower again."""
    before, end = [n for n in fast.sizes if n > LAST][-2:]
    early, middle, late = fast.slope(fast.sizes[0], LAST), fast.slope(LAST, TWENTY), fast.slope(before, end)
    faster = Rule(
        f"above {early or 0:.3g}, what it is up to {LAST} clients", lambda value: early is not None and value > early
    )
    slower = Rule(
        f"below {middle or 0:.3g}, what it is up to {TWENTY} clients",
        lambda value: middle is not None and value < middle,
    )
    yield SHEET.judge("growth.beyond_domains", middle, faster)
    yield SHEET.judge("growth.late", late, slower, before=before, end=end)


def _peer(n: int) -> float | None:
    """What was counted of another kernel, without its user code; only for some numbers of clients."""
    return difference(published.PISTACHIO_ARM.get(max(n, LAST)), published.PISTACHIO_ARM_USER)


def series_of(curve: Curve) -> Iterator[Series]:
    """A kernel and placement over the number of clients; counts are for an IPC one way."""
    name, sizes, found = f"{curve.kernel}.{curve.place}", curve.sizes, list(curve.counted.values())
    yield Series(f"{name}.us", "modelled us", sizes, [curve.us(n) for n in sizes])
    yield Series(f"{name}.cycles", "modelled cycles", sizes, [curve.cycles(n) for n in sizes])
    yield Series(f"{name}.instructions", "instructions", sizes, [one.instructions for one in found])
    for counter in (*SWITCH_WRITES, *FLUSHES, *MISSES):
        yield Series(f"{name}.{counter}", "an IPC", sizes, [one.each(counter) for one in found])


def peers(sizes: Sequence[int]) -> Series:
    return Series("peer.instructions", "instructions", sizes, [_peer(n) for n in sizes])


EXPERIMENT = Experiment(
    name="wiggins03/fig5",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings={
        "rounds": Setting(4000, 1000, crowd.ROUNDS, "round trips measured"),
        "warmup": Setting(1000, 500, crowd.ROUNDS, "round trips before the measured ones"),
    },
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
