# SPDX-License-Identifier: GPL-2.0-or-later
"""`ledger/counterfactual`: what is charged to the flushes of switches, against what a machine saves that keeps its
entries.

One ping-pong between large spaces is recorded and replayed twice: on the machine, and on the same machine with entries
that are told apart by address space, so that a switch flushes nothing (docs/lab.md, causes). The two differ in flushes
alone, so the difference of their totals confirms the sum of the charges, but for the room that kept entries take from
others.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cobnut import sheets, tables
from cobnut.checks import Check, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import PingPong, Region, WorkingSets, measure_all
from cobnut.plots import Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

LARGEST_SHARE = 0.01  # while entries have room: single sets fill up before the whole, and a line from memory costs 235
WRITE_BACK = "write_back"  # the one category that depends on what is displaced, and is not charged for it
STALL = "stall"
SLOT_MB = 256  # of small spaces, of which there are none here


PARTS = (
    WorkingSets("a", "nops", "Trace cache", "working set: bytes of nops", (0, 15_000, 1_000), (0, 15_000, 3_000)),
    WorkingSets("b", "jumps", "Instruction TLB", "working set: pages jumped to", (0, 200, 10), (0, 200, 20)),
    WorkingSets("c", "reads", "Data TLB", "working set: pages read", (0, 120, 12), (0, 120, 24)),
)
FITS = {"a": 4_000, "b": 20, "c": 40}  # up to which size both spaces' entries have room at once


@dataclass(frozen=True)
class Pair:
    """The same round trips with and without flushes. All sums are modelled cycles over all of them."""

    flushing: Region
    keeping: Region

    @property
    def charged(self) -> float:
        """To the flushes of switches."""
        return sum(charge.cycles for charge in self.flushing.causes if charge.by_switch)

    @property
    def saved(self) -> float:
        return _but_stalls(self.flushing) - _but_stalls(self.keeping)

    @property
    def second_order(self) -> float:
        """What kept entries cost: negative if they save more than was charged."""
        return self.charged - self.saved

    @property
    def unexplained(self) -> float:
        """What other charges and write-backs do not explain of the second order."""
        return self.second_order - (_otherwise(self.keeping) - _otherwise(self.flushing))

    @property
    def evicted(self) -> float:
        """What evictions cost where nothing is flushed: refills, and write-backs of modified lines."""
        charged = sum(charge.cycles for charge in self.keeping.causes if charge.kind == "evicted")
        return charged + self.keeping.ledger.get(WRITE_BACK, 0)


def _but_stalls(region: Region) -> float:
    """What a pipeline waits for is no refill: a trace line that is kept has to come, one that is built has not."""
    return region.cycles_total - region.ledger.get(STALL, 0)


def _otherwise(region: Region) -> float:
    """What is charged to anything but the flushes of switches, and write-backs that are charged to nothing."""
    charged = sum(charge.cycles for charge in region.causes if not charge.by_switch)
    written = sum(charge.cycles for charge in region.causes if charge.category == WRITE_BACK)
    return charged + region.ledger.get(WRITE_BACK, 0) - written


def run(lab: Lab) -> Result:
    """Records each part once, replays it twice, and compares the charges with the difference."""
    specs = {(part.letter, without): _spec(lab, part, without) for part in PARTS for without in (False, True)}
    lab.meter.total(len(specs))
    measured = measure_all(lab, specs)
    series: list[Series] = []
    checks: list[Check] = []
    ledger = []
    for part in PARTS:
        letter, flushing, keeping = part.letter, measured[part.letter, False], measured[part.letter, True]
        both = ((size, flushing.at(size), keeping.at(size)) for size in flushing.spec.cases)
        pairs = {size: Pair(flushed, kept) for size, flushed, kept in both if flushed and kept}
        series += series_of(part, flushing.spec.cases, pairs)
        checks += judge_part(part, pairs)
        ledger += [pair.flushing.row(f"{letter}.flushing", size) for size, pair in pairs.items()]
        ledger += [pair.keeping.row(f"{letter}.keeping", size) for size, pair in pairs.items()]
    return lab.result(series, checks, ledger)


def _spec(lab: Lab, part: WorkingSets, without_flush: bool) -> PingPong:
    sizes = part.quick if lab.quick else part.sizes
    return PingPong.of(lab, "large_large", slot=SLOT_MB, gen=part.gen, sizes=sizes, without_flush=without_flush)


def judge_part(part: WorkingSets, pairs: dict[int, Pair]) -> Iterator[Check]:
    """The checks of one part: over all sizes, and over those that fit."""
    fitting = [pair for size, pair in pairs.items() if size <= FITS[part.letter] and pair.charged]
    found = {
        "difference_while_it_fits": ([abs(one.second_order) / one.charged for one in fitting], at_most(LARGEST_SHARE)),
        "difference_beyond_evictions": ([abs(one.second_order) - one.evicted for one in pairs.values()], at_most(0)),
        "unexplained": ([abs(one.unexplained) for one in pairs.values()], exactly(0)),
    }
    for name, (values, rule) in found.items():
        yield SHEET.judge(f"{part.letter}.{name}", max(values, default=None), rule, fits=FITS[part.letter])


def series_of(part: WorkingSets, sizes: list[int], pairs: dict[int, Pair]) -> Iterator[Series]:
    """For one round trip."""
    sums: dict[str, Callable[[Pair], float]] = {
        "charged": lambda pair: pair.charged,
        "saved": lambda pair: pair.saved,
        "second_order": lambda pair: pair.second_order,
    }
    for name, amount in sums.items():
        each = {size: amount(pair) / pair.flushing.rounds for size, pair in pairs.items()}
        yield Series(f"{part.letter}.{name}", "modelled cycles", sizes, [each.get(size) for size in sizes])


def plots(result: Result) -> list[Plot]:
    """Charges against savings, and both ledgers by who took what."""
    return [plot for part in PARTS for plot in SHEET.drawn(letter=part.letter, title=part.title, x_title=part.x_title)]


EXPERIMENT = Experiment(
    name="ledger/counterfactual",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(50, 20, pingpong.ROUNDS, "round trips measured at each size"),
        "warmup": Setting(10, 4, pingpong.WARMUP, "round trips before the measured ones"),
    },
    run=run,
    plots=plots,
    has_curves=True,
    show=tables.show_causes,
)
