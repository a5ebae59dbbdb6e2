# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/table1`: the hardware behind a switch, recovered from the machine models by what programs meet on them.

L95's table 1, the rows of the i486 and the Pentium. Nothing is read from a machine file: the size of the TLBs is the
number of pages that a loop can touch without a miss, the cost of a miss is what loops pay that miss, with the
page-table entries in the cache and with the cache swept before, and the switch of segments is counted in the kernel.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cobnut import machines, published, sheets
from cobnut.checks import Check, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.address_spaces import Handling, boot, handling, ledger_row
from cobnut.experiments.liedtke95_table2 import THERE
from cobnut.experiments.pingpong import Measurement, Region, measure, raise_if_all_failed
from cobnut.missing import total
from cobnut.published import PartlyKnown, Switching
from cobnut.results import LedgerRow, Result, Series

SHEET = sheets.beside(__file__)

OWN_ROW, OTHER_ROW, OTHER_MACHINE = "Pentium", "i486", "i486"
CYCLES = "modelled cycles"
# besides its working set, a loop without calls touches the page of its code and the page of its stack
LOOP_PAGES = 2
DATA_PAGES, CODE_PAGES = (1, 80, 1), (1, 48, 1)
# reads on pages whose numbers differ by the number of sets of a TLB, or by a multiple: few of them fill the set
SAME_SET_DISTANCE, SAME_SET_PAGES = 65536, (8, 16, 1)


@dataclass(frozen=True)
class Hardware:
    """What was recovered of one machine; None where it was not."""

    data_pages: int | None  # that a loop reads without a miss, its stack's left out
    code_pages: int | None  # that a loop runs through without a miss, its own left out
    code_besides: (
        int | None
    )  # that it runs through besides reading as much as it can; 0 where code and data share a TLB
    miss_least: float | None
    miss_one_entry: float | None  # cycles where the page-table entry is not in the cache
    miss_both_entries: float | None  # and neither is the directory's
    segments: Handling | None

    @property
    def entries(self) -> int | None:
        if self.data_pages is None or self.code_pages is None or self.code_besides is None:
            return None
        return max(self.data_pages + self.code_besides, self.code_pages) + LOOP_PAGES

    @property
    def page_table_least(self) -> float | None:
        return None if self.miss_least is None else published.L95_PAGES * self.miss_least

    @property
    def page_table_most(self) -> float | None:
        most = self.miss_one_entry
        return None if most is None or self.entries is None else (self.entries - published.L95_PAGES) * most

    @property
    def segment_switch(self) -> float | None:
        return self.segments.parts["segments"] if self.segments else None


Theirs = Callable[[Switching | PartlyKnown], float | None]
Ours = Callable[[Hardware], float | None]


def run(lab: Lab) -> Result:
    """Recovers both machines: the run's own, and the i486."""
    labs = {OTHER_ROW: replace(lab, model=machines.load(OTHER_MACHINE), overrides={}), OWN_ROW: lab}
    lab.meter.total(7 * len(labs))
    found: dict[str, Hardware] = {}
    checks: list[Check] = []
    ledger: list[LedgerRow] = []
    for row, one in labs.items():
        found[row], rows = recover(one, row)
        checks += judge_row(row, found[row])
        ledger += rows
    name = f"{labs[OTHER_ROW].machine_name} and {lab.machine_name}"
    return lab.result(series_of(found), checks, ledger, machine=name)


def recover(lab: Lab, row: str) -> tuple[Hardware, list[LedgerRow]]:
    """Runs the loops on one machine. How much code one can touch besides its data needs to know how much data that is.

    Where code and data share a pseudo-LRU TLB, reads alone do not fill it: between two of them the loop's own page is
    used, and what stands beside that in its set is never replaced. Code that runs through its pages uses each in turn.
    """
    reads = replace(boot(lab, "large_large"), calls=False, gen="reads", sizes=DATA_PAGES, parts=())
    same_set = replace(reads, sizes=SAME_SET_PAGES, distance=SAME_SET_DISTANCE)
    walks = replace(same_set, gen="walks")
    more_walks = replace(walks, rounds=2 * walks.rounds)
    switch = boot(lab, "small_small", halves=True)
    jumps = replace(reads, gen="jumps", sizes=CODE_PAGES)
    boots = [reads, same_set, walks, more_walks, switch, jumps]
    found = measure(lab, boots)
    raise_if_all_failed(found)
    read, competed, swept, more_swept, switched, ran = found
    data_pages = _fits(read)
    both = measure(lab, [replace(jumps, reads=data_pages or 0)])[0]
    one_entry, directory = _walk_costs(swept, more_swept)
    hardware = Hardware(
        data_pages,
        _fits(ran),
        None if both.failure else _fits(both) or 0,
        _least([*read.regions.values(), *competed.regions.values()]),
        one_entry,
        None if one_entry is None or directory is None else one_entry + directory,
        handling(switched.at(0), THERE),
    )
    rows = [
        *ledger_row(f"{row}.segment_switch", switched.at(0)),
        *ledger_row(f"{row}.walks", swept.at(SAME_SET_PAGES[0])),
    ]
    return hardware, rows


def _misses(region: Region) -> float | None:
    """TLB misses of a turn of the loop, of code and data: the median, for interrupts bring their own."""
    return total(region.median(f"{tlb}_misses") for tlb in ("itlb", "dtlb"))


def _fits(measurement: Measurement) -> int | None:
    """The largest working set that a loop touches without a miss."""
    return max((size for size, region in measurement.regions.items() if _misses(region) == 0), default=None)


def _refills(region: Region | None) -> tuple[float, float] | None:
    """Data TLB misses and the cycles of their refills, over all turns of a loop; None if an interrupt came in
    between.
    """
    if region is None or any(region.counters.get("entries_irq", [1])):
        return None
    misses = sum(region.counters.get("dtlb_misses", []))
    cycles = region.ledger.get("tlb_refill_data")
    return (misses, cycles) if misses and cycles is not None else None


def _least(regions: list[Region]) -> float | None:
    """The least that a refill costs on average in one of the loops."""
    found = [refills for region in regions if (refills := _refills(region))]
    return min((cycles / misses for misses, cycles in found), default=None)


def _walk_costs(walks: Measurement, more_walks: Measurement) -> tuple[float | None, float | None]:
    """What a refill costs whose page-table entry is not in the cache, and what the first of a turn pays on top.

    Before each turn the cache is swept. The first walk then brings the directory's entry back, which all share; each
    has a page-table entry of its own. More walks in a turn therefore cost the former each. What the first turns find
    displaced by other code cancels out between the two boots, one of which makes more turns.
    """
    turns = more_walks.spec.rounds - walks.spec.rounds
    by_turn = []
    for size in walks.spec.cases:
        some, more = _refills(walks.at(size)), _refills(more_walks.at(size))
        if some and more:
            by_turn.append(((more[0] - some[0]) / turns, (more[1] - some[1]) / turns))
    if len(by_turn) < 2 or by_turn[-1][0] <= by_turn[0][0]:
        return None, None
    (few, few_cycles), (many, many_cycles) = by_turn[0], by_turn[-1]
    each = (many_cycles - few_cycles) / (many - few)
    return each, few_cycles - few * each


def judge_row(row: str, found: Hardware) -> Iterator[Check]:
    """The published row against the recovered one."""
    wanted = published.L95_TABLE1[row]
    counted = reproduces(wanted.entries, within=(wanted.entries, wanted.entries), by="a count")
    loops = {"data": found.data_pages, "code": found.code_pages, "both": found.code_besides}
    misses = {"one": found.miss_one_entry, "two": found.miss_both_entries}
    said = {name: _text(value) for name, value in (loops | misses).items()}
    seen = f"Here: {found.segments}." if found.segments else None
    yield SHEET.judge(f"{row}.tlb_entries", found.entries, counted, **said, own=LOOP_PAGES)
    yield SHEET.judge(f"{row}.tlb_miss_least", found.miss_least, reproduces(wanted.miss[0]))
    yield SHEET.judge(f"{row}.tlb_miss_most", found.miss_one_entry, reproduces(wanted.miss[1]), **said)
    for end, cycles, theirs in zip(
        ("least", "most"), (found.page_table_least, found.page_table_most), wanted.page_table, strict=True
    ):
        pages = published.L95_PAGES
        yield SHEET.judge(f"{row}.page_table_switch_{end}", cycles, reproduces(theirs), pages=pages)
    yield SHEET.judge(f"{row}.segment_switch", found.segment_switch, no_more_than(wanted.segments), seen)


def _text(value: float | None) -> str:
    return "an unknown number of" if value is None else f"{value:g}"


def series_of(found: dict[str, Hardware]) -> Iterator[Series]:
    """The table: every row that the paper has, and beside it what was recovered of those that are modelled."""
    rows: dict[str, Switching | PartlyKnown] = {**published.L95_TABLE1, **published.L95_TABLE1_OTHERS}
    columns: dict[str, tuple[str, Theirs, Ours]] = {
        "tlb_entries": ("entries", lambda row: row.entries, lambda one: one.entries),
        "tlb_miss_least": (CYCLES, lambda row: row.miss[0], lambda one: one.miss_least),
        "tlb_miss_most": (CYCLES, lambda row: row.miss[1], lambda one: one.miss_one_entry),
        "page_table_switch_least": (CYCLES, lambda row: row.page_table[0], lambda one: one.page_table_least),
        "page_table_switch_most": (CYCLES, lambda row: row.page_table[1], lambda one: one.page_table_most),
        "segment_switch": (CYCLES, lambda row: row.segments, lambda one: one.segment_switch),
    }
    for what, (unit, theirs, ours) in columns.items():
        printed = [theirs(row) for row in rows.values()]
        yield Series(f"published.{what}", unit.removeprefix("modelled "), list(rows), printed)
        yield Series(what, unit, list(rows), [ours(found[name]) if name in found else None for name in rows])


EXPERIMENT = Experiment(
    name="liedtke95/table1",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings={
        "rounds": Setting(40, 20, pingpong.ROUNDS, "turns of each loop"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "turns before the measured ones"),
        **pingpong.SPACES,
    },
    run=run,
    plots=SHEET.all_plots,
)
