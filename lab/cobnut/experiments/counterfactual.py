# SPDX-License-Identifier: GPL-2.0-or-later
"""`ledger/counterfactual`: what the flushes of switches are charged with, against what a machine saves that keeps its
entries.

One ping-pong between large spaces is recorded and replayed twice: on the machine, and on the same machine with entries
that are told apart by address space, so that a switch flushes nothing (docs/lab.md, causes). The two differ in flushes
alone, so the difference of their totals confirms the sum of the charges, but for the room that kept entries take from
others.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from cobnut import tables
from cobnut.checks import Check, at_most, exactly, judge, named
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import PingPong, Region, WorkingSets, measure, raise_if_all_failed
from cobnut.plots import Causes, Lines, Plot
from cobnut.results import LedgerRow, Result, Series

LARGEST_SHARE = 0.01  # while entries have room: single sets fill up before the whole, and a line from memory costs 235
CONFLICTS = (
    "Which sets of the trace cache and of the second level the kernel's code shares with the working set depends on"
    " where the build has placed it; where that costs more, the next two checks say how much evictions cost, and that"
    " nothing else does."
)
WRITE_BACK = "write_back"  # the one category that depends on what is displaced, and is not charged for it
SLOT_MB, AREA_MB = 256, 512  # of small spaces, of which there are none here


@dataclass(frozen=True)
class Part(WorkingSets):
    """Working sets, and up to which size both spaces' entries have room at once."""

    fits: int


PARTS = (
    Part("a", "nops", "Trace cache", "working set: bytes of nops", (0, 15_000, 1_000), (0, 15_000, 3_000), 4_000),
    Part("b", "jumps", "Instruction TLB", "working set: pages jumped to", (0, 200, 10), (0, 200, 20), 20),
    Part("c", "reads", "Data TLB", "working set: pages read", (0, 120, 12), (0, 120, 24), 40),
)


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
        return self.flushing.cycles_total - self.keeping.cycles_total

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


def _otherwise(region: Region) -> float:
    """What is charged to anything but the flushes of switches, and write-backs that are charged to nothing."""
    charged = sum(charge.cycles for charge in region.causes if not charge.by_switch)
    written = sum(charge.cycles for charge in region.causes if charge.category == WRITE_BACK)
    return charged + region.ledger.get(WRITE_BACK, 0) - written


def run(lab: Lab) -> Result:
    """Records each part once, replays it twice, and compares the charges with the difference."""
    specs = [_spec(lab, part) for part in PARTS]
    lab.meter.total(2 * len(specs))
    measured = measure(lab, [replace(spec, without_flush=without) for spec in specs for without in (False, True)])
    raise_if_all_failed(measured)
    series, checks, ledger = [], [], []
    for part, flushing, keeping in zip(PARTS, measured[::2], measured[1::2], strict=True):
        both = ((size, flushing.at(size), keeping.at(size)) for size in flushing.spec.cases)
        pairs = {size: Pair(flushed, kept) for size, flushed, kept in both if flushed and kept}
        series += _series(part, flushing.spec.cases, pairs)
        checks += judge_part(part, pairs)
        ledger += _ledger(part, pairs)
    return lab.result(series, checks, ledger)


def _spec(lab: Lab, part: Part) -> PingPong:
    chosen = lab.settings
    sizes = part.quick if lab.quick else part.sizes
    return PingPong("large_large", chosen["rounds"], chosen["warmup"], SLOT_MB, AREA_MB, gen=part.gen, sizes=sizes)


def judge_part(part: Part, pairs: dict[int, Pair]) -> list[Check]:
    """The checks of one part: over all sizes, and over those that fit."""
    shares = [
        abs(pair.second_order) / pair.charged for size, pair in pairs.items() if size <= part.fits and pair.charged
    ]
    letter = part.letter
    return [
        judge(
            f"{letter}.difference_while_it_fits",
            max(shares, default=None),
            "of what is charged",
            at_most(LARGEST_SHARE),
            f"Up to size {part.fits} kept entries have room: what is charged to flushes is what a machine without them"
            " saves, but for what conflicts in single sets. The largest difference. " + CONFLICTS,
        ),
        judge(
            f"{letter}.difference_beyond_evictions",
            max((abs(pair.second_order) - pair.evicted for pair in pairs.values()), default=None),
            "modelled cycles",
            at_most(0),
            "A kept entry can save less than its refill only by being evicted, or by evicting another: the difference"
            " is no more than what evictions cost without flushes, and nothing where nothing is evicted.",
        ),
        judge(
            f"{letter}.unexplained",
            max((abs(pair.unexplained) for pair in pairs.values()), default=None),
            "modelled cycles",
            exactly(0),
            "Other charges and write-backs, with and without flushes, make up the difference to the last cycle: an"
            " identity of the two ledgers, which shows that neither lost anything, and no evidence that charges are"
            " right.",
        ),
    ]


def _series(part: Part, sizes: list[int], pairs: dict[int, Pair]) -> list[Series]:
    sums = {
        "charged": lambda pair: pair.charged,
        "saved": lambda pair: pair.saved,
        "second_order": lambda pair: pair.second_order,
    }
    return [
        Series(f"{part.letter}.{name}", "modelled cycles", sizes, [_each(pairs.get(size), amount) for size in sizes])
        for name, amount in sums.items()
    ]


def _each(pair: Pair | None, amount: Callable[[Pair], float]) -> float | None:
    """For one round trip."""
    return amount(pair) / pair.flushing.rounds if pair else None


def _ledger(part: Part, pairs: dict[int, Pair]) -> list[LedgerRow]:
    rows = [pair.flushing.row(f"{part.letter}.flushing", size) for size, pair in pairs.items()]
    return rows + [pair.keeping.row(f"{part.letter}.keeping", size) for size, pair in pairs.items()]


def plots(result: Result) -> list[Plot]:
    """Charges against savings, and both ledgers by who took what."""
    found: list[Plot] = []
    for part in PARTS:
        letter = part.letter
        found += [
            Lines(
                f"({letter}) {part.title}: charged to flushes, and saved without them",
                part.x_title,
                "modelled cycles of a round trip",
                {
                    f"{letter}.charged": "charged to the flushes of switches",
                    f"{letter}.saved": "saved without flushes",
                    f"{letter}.second_order": "difference: kept entries take room",
                },
                wide=True,
            ),
            Causes(
                f"({letter}) {part.title}: who took what had to be refilled",
                part.x_title,
                "modelled cycles",
                {f"{letter}.flushing": "F", f"{letter}.keeping": "K"},
                wide=True,
                caption=(
                    "For each working set the left bar (F) is the machine that flushes, the right bar (K) the one that"
                    " keeps."
                ),
            ),
        ]
    return found


EXPERIMENT = Experiment(
    name="ledger/counterfactual",
    title="What flushes are charged with, and what is saved without them",
    source="this laboratory: the ledger's causes, tested on the spaces of U02's figure 4",
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(50, 20, pingpong.ROUNDS, "round trips measured at each size"),
        "warmup": Setting(10, 4, pingpong.WARMUP, "round trips before the measured ones"),
    },
    run=run,
    plots=plots,
    checks=(named("PART", ("difference_while_it_fits", "difference_beyond_evictions", "unexplained")),),
    has_curves=True,
    show=tables.show_causes,
    story=(
        "The ledger charges a refill to the switch that flushed the entry. Whether that is right can be tried: one run"
        " between large spaces is recorded and replayed on a machine that keeps its entries over a switch, as one with"
        " address-space numbers would. What it saves has to be what the flushes were charged with, as long as the kept"
        " entries have room."
    ),
    cannot_say=(
        (
            "The machine that keeps its entries never existed: no kernel was changed for it, so one that relies on a"
            " switch to drop what it changed elsewhere would have to invalidate more."
        ),
        (
            "Where the entries of both spaces do not fit at once, a kept entry is evicted before it is used: then"
            " flushes are charged with what would have been lost anyway."
        ),
        (
            "Lines of the physically tagged caches are shared by all spaces; what displaces what there changes a"
            " little, too."
        ),
    ),
)
