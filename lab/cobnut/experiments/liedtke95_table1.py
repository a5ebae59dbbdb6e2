# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/table1`: the hardware behind a switch, recovered from the machine models by what programs meet on them.

L95's table 1, the rows of the i486 and the Pentium. Nothing is read from a machine file: the size of the TLBs is the
number of pages that a loop can touch without a miss, the cost of a miss is what loops pay that miss, with the
page-table entries in the cache and with the cache swept before, and the switch of segments is counted in the kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from cobnut import machines, published
from cobnut.checks import Check, KnownMiss, Rule, judge, named, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.address_spaces import Handling, boot, handling, ledger_row
from cobnut.experiments.liedtke95_table2 import THERE
from cobnut.experiments.pingpong import Measurement, Region, measure, raise_if_all_failed
from cobnut.missing import total
from cobnut.plots import Bars, Ledger, Plot, Table
from cobnut.published import PartlyKnown, Switching
from cobnut.results import LedgerRow, Result, Series

OWN_ROW, OTHER_ROW, OTHER_MACHINE = "Pentium", "i486", "i486"
# besides its working set, a loop without calls touches the page of its code and the page of its stack
LOOP_PAGES = 2
DATA_PAGES, CODE_PAGES = (1, 80, 1), (1, 48, 1)
# reads on pages whose numbers differ by the number of sets of a TLB, or by a multiple: few of them fill the set
SAME_SET_DISTANCE, SAME_SET_PAGES = 65536, (8, 16, 1)
SEGMENTS = (
    "The paper's is the update of one descriptor, of data, and the reload of four registers. This kernel updates two,"
    " code and data, and reaches them by segment overrides, which cost a cycle each."
)
KNOWN_MISSES = {
    f"{OWN_ROW}.segment_switch": KnownMiss(15, 25, SEGMENTS),
    f"{OTHER_ROW}.segment_switch": KnownMiss(39, 49, SEGMENTS),
}


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


def judge_row(row: str, found: Hardware) -> list[Check]:
    """The published row against the recovered one."""
    wanted = published.L95_TABLE1[row]
    both = (
        f"Here {_text(found.miss_one_entry)} where the page-table entry is not in the cache,"
        f" {_text(found.miss_both_entries)} where neither is."
    )
    seen = f" Here: {found.segments}." if found.segments else ""

    def one(
        what: str, measured: float | None, unit: str, rule: Callable[[float], Rule], limit: float, why: str
    ) -> Check:
        return judge(f"{row}.{what}", measured, unit, rule(limit), f"L95 table 1. {why}")

    pages = (
        f"Without a miss a loop reads {_text(found.data_pages)} pages, runs through {_text(found.code_pages)}, and"
        f" through {_text(found.code_besides)} when it reads as well, besides its own {LOOP_PAGES}."
    )
    return [
        one("tlb_entries", found.entries, "entries", _counted, wanted.entries, pages),
        one(
            "tlb_miss_least",
            found.miss_least,
            "modelled cycles",
            reproduces,
            wanted.miss[0],
            "The page-table entries are in the cache.",
        ),
        one(
            "tlb_miss_most",
            found.miss_one_entry,
            "modelled cycles",
            reproduces,
            wanted.miss[1],
            f"The page-table entry is not in the first-level cache, as the paper says of both processors. {both}",
        ),
        one(
            "page_table_switch_least",
            found.page_table_least,
            "modelled cycles",
            reproduces,
            wanted.page_table[0],
            f"As the paper has it: {published.L95_PAGES} pages are refilled.",
        ),
        one(
            "page_table_switch_most",
            found.page_table_most,
            "modelled cycles",
            reproduces,
            wanted.page_table[1],
            f"As the paper has it: all entries but {published.L95_PAGES} of the kernel's are refilled.",
        ),
        one(
            "segment_switch",
            found.segment_switch,
            "modelled cycles",
            no_more_than,
            wanted.segments,
            "Update of the descriptors and reload of the user's segment registers." + seen,
        ),
    ]


def _counted(value: float) -> Rule:
    return reproduces(value, within=(value, value), by="a count")


def _text(value: float | None) -> str:
    return "an unknown number of" if value is None else f"{value:g}"


def series_of(found: dict[str, Hardware]) -> list[Series]:
    """The table: every row that the paper has, and beside it what was recovered of those that are modelled."""
    names = [*published.L95_TABLE1, *published.L95_TABLE1_OTHERS]
    rows: list[Switching | PartlyKnown] = [*published.L95_TABLE1.values(), *published.L95_TABLE1_OTHERS.values()]
    hardware = {name: found.get(name) for name in names}

    def recovered(unit: str, what: str, value: Callable[[str, Hardware], float | None]) -> Series:
        return Series(what, unit, names, [value(name, one) if one else None for name, one in hardware.items()])

    def printed(unit: str, what: str, values: list[float | None]) -> Series:
        return Series(f"published.{what}", unit, names, values)

    cycles = "modelled cycles"
    return [
        printed("entries", "tlb_entries", [row.entries for row in rows]),
        recovered("entries", "tlb_entries", lambda _, one: one.entries),
        printed("cycles", "tlb_miss_least", [row.miss[0] for row in rows]),
        recovered(cycles, "tlb_miss_least", lambda _, one: one.miss_least),
        printed("cycles", "tlb_miss_most", [row.miss[1] for row in rows]),
        recovered(cycles, "tlb_miss_most", lambda _, one: one.miss_one_entry),
        printed("cycles", "page_table_switch_least", [row.page_table[0] for row in rows]),
        recovered(cycles, "page_table_switch_least", lambda _, one: one.page_table_least),
        printed("cycles", "page_table_switch_most", [row.page_table[1] for row in rows]),
        recovered(cycles, "page_table_switch_most", lambda _, one: one.page_table_most),
        printed("cycles", "segment_switch", [row.segments for row in rows]),
        recovered(cycles, "segment_switch", lambda _, one: one.segment_switch),
    ]


TABLES = {
    "TLBs": {"tlb_entries": "entries", "tlb_miss_least": "miss, least", "tlb_miss_most": "miss, most"},
    "What a switch of page tables or segments costs": {
        "page_table_switch_least": "page table, least",
        "page_table_switch_most": "page table, most",
        "segment_switch": "segments",
    },
}


def plots(result: Result) -> list[Plot]:
    modelled = {name: name for name in published.L95_TABLE1}
    rows = modelled | {name: f"{name} (not modelled)" for name in published.L95_TABLE1_OTHERS}
    tables = [
        Table(
            title,
            "processor",
            {
                series: head
                for name, text in heads.items()
                for series, head in ((f"published.{name}", f"L95: {text}"), (name, text))
            },
            rows=rows,
            wide=True,
            caption=(
                "Each of the paper's numbers is followed by the recovered one. A dash: the paper gives none, or there"
                " is no model."
            ),
        )
        for title, heads in TABLES.items()
    ]
    return [
        *tables,
        Bars(
            "Switch of segments",
            "processor",
            "modelled cycles",
            {"segment_switch": "update of the descriptors and reload of the registers"},
        ),
        Ledger(
            "Where the cycles of an IPC between small spaces go",
            "processor",
            "modelled cycles, one way",
            {f"{row}.segment_switch": row for row in (OTHER_ROW, OWN_ROW)},
        ),
    ]


EXPERIMENT = Experiment(
    name="liedtke95/table1",
    title="TLBs and the cost of switching page tables or segments",
    source="Liedtke 1995, table 1",
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings={
        "rounds": Setting(40, 20, pingpong.ROUNDS, "turns of each loop"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "turns before the measured ones"),
        "slot": Setting(16, 16, pingpong.SLOTS_MB, "size of a small space, MB"),
        "small": Setting(512, 512, pingpong.AREAS_MB, "size of the small-space area, MB"),
    },
    run=run,
    plots=plots,
    checks=(
        named((OWN_ROW, OTHER_ROW), ("tlb_entries", "tlb_miss_least", "tlb_miss_most", "segment_switch")),
        named((OWN_ROW, OTHER_ROW), ("page_table_switch_least", "page_table_switch_most")),
    ),
    known_misses=KNOWN_MISSES,
    story=(
        "How many translations does a processor keep, what does it pay for one that it lost, and what for new segments?"
        " The answers are in the machine files, but here they are found out as one would on the processor itself: by"
        " loops over more and more pages, with the page-table entries in the cache and without, and by an IPC between"
        " small spaces."
    ),
    cannot_say=(
        (
            "Cycles are modelled. The machine files take TLB sizes and miss costs from this very table: that they are"
            " recovered shows that the model does what its file says, not that the file is right."
        ),
        (
            "PowerPC 601, Alpha 21064 and MIPS R4000 are in the paper's table and are not modelled; their rows are"
            " listed without checks."
        ),
        (
            "The costs of a page-table switch are the paper's arithmetic on the recovered numbers, not a measured"
            " switch; liedtke95/table2 measures that."
        ),
        (
            "A walk reads two entries. The paper's most is that of one whose page-table entry is not in the cache; the"
            " directory's entry is then assumed to be there, on every machine."
        ),
    ),
)
