# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/flushes`: what makes the fast kernel flush, what the standard kernel's flushes cost, and where the cycles
go.

W03 section 5 names what alone makes the fast kernel flush: a mapping where a PID slot in use is, mappings that collide
in the shared area, and domains that run out (a shared area that is full is not met here: L4's is the user's to fill).
Each is a scene of its own, a server that calls clients at random, beside scenes without any of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cobnut import published, sheets
from cobnut.causes import Charge
from cobnut.checks import Check, above, below, exactly, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import FLUSHES, WAYS, Counted, Crowd, measure_all
from cobnut.experiments.pingpong import Region
from cobnut.machines import Machine
from cobnut.missing import ratio
from cobnut.plots import Plot, Table
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PAPERS_MACHINE = "sa1100-200"
LAST = published.W03_LAST_CLIENTS
OUT_OF_DOMAINS = "domains run out"
STANDARD = "standard"


@dataclass(frozen=True)
class Scene:
    """A placement and number of clients, and the condition of W03's that it meets, if it does."""

    name: str
    place: str
    clients: int
    condition: str | None = None
    tags: bool = True


SCENES = (
    Scene("different_address", "apart", LAST),
    Scene("same_address", "alike", LAST),
    Scene("slot_in_use", "slots", 4, "something is mapped between 32 MB and 2 GB where a PID slot in use is"),
    Scene("collision", "collide", 4, "fixed mappings collide in the shared area"),
    Scene("domains_16", "apart", 16, OUT_OF_DOMAINS),
    Scene("domains_20", "apart", 20, OUT_OF_DOMAINS),
    Scene("domains_64", "apart", 64, OUT_OF_DOMAINS),
    Scene(STANDARD, "apart", 1, tags=False),
)
COUNTERS = ("tlb_flushes", "dcache_flushes", "icache_flushes", "tlb_entry_flushes", "line_operations")


def run(lab: Lab) -> Result:
    """One boot for each scene."""
    chosen = lab.settings
    specs = {
        scene.name: Crowd("calls", scene.place, scene.clients, chosen["rounds"], chosen["warmup"], tags=scene.tags)
        for scene in SCENES
    }
    counted = measure_all(lab, specs)
    checks = [*judge_scenes(counted), *judge_clean(counted)]
    if lab.machine.name == PAPERS_MACHINE:
        checks += [*judge_costs(counted[STANDARD]), judge_worst(lab.machine)]
    ledger = [region.row(name) for name, one in counted.items() if (region := region_of(one))]
    return lab.result(series_of(counted), checks, ledger)


def region_of(counted: Counted) -> Region | None:
    return counted.at(counted.spec.members)


def cycles_of(counted: Counted) -> float | None:
    """Of an IPC one way, flushes and what follows from them."""
    return ratio(counted.cycles(counted.spec.members), WAYS)


def judge_scenes(counted: dict[str, Counted]) -> Iterator[Check]:
    """Flushes where a condition is met, and none where not."""
    for scene in SCENES:
        one = counted[scene.name]
        if scene.condition:
            text, rule = f"{scene.condition}: only then something is flushed.", above(0)
        else:
            text, rule = "no condition is met, so nothing is flushed.", exactly(0)
        if scene.name != STANDARD:
            yield SHEET.judge(f"{scene.name}.flushes", one.each(*FLUSHES), rule, one.failure, text=text)


def judge_clean(counted: dict[str, Counted]) -> Iterator[Check]:
    """Where domains run out: clean ones are taken without a flush of the caches."""
    for scene in SCENES:
        if scene.condition == OUT_OF_DOMAINS:
            one = counted[scene.name]
            share = ratio(one.each("dcache_flushes"), one.each("tlb_flushes"))
            yield SHEET.judge(f"{scene.name}.cache_over_tlb", share, below(1))
    for what, counter in (("tlb", "tlb_flushes"), ("cache", "dcache_flushes")):
        peer = published.PISTACHIO_ARM_FLUSHES[what]
        flushes = counted["domains_20"].each(counter)
        yield SHEET.judge(f"domains_20.{what}_flushes", flushes, no_more_than(peer), peer=peer)


def judge_costs(standard: Counted) -> Iterator[Check]:
    """What W03 section 2 says that the standard kernel pays."""
    _, most = published.W03_FLUSH_CYCLES
    line = _mean(standard, ("cache_refill",), ("icache_misses", "dcache_misses"))
    miss = _mean(standard, ("tlb_refill_code", "tlb_refill_data"), ("itlb_misses", "dtlb_misses"))
    yield SHEET.judge("standard.flushes", standard.each("dcache_flushes"), exactly(1))
    yield SHEET.judge("standard.direct_cycles", flush_cycles(standard), no_more_than(most))
    yield SHEET.judge("standard.switch_cycles", cycles_of(standard), no_more_than(published.W03_WORST_SWITCH_CYCLES))
    yield SHEET.judge("standard.line_cycles", line, reproduces(published.W03_LINE_CYCLES))
    yield SHEET.judge("standard.tlb_miss_cycles", miss, reproduces(published.W03_TLB_MISS_CYCLES))


def judge_worst(machine: Machine) -> Check:
    """What W03 section 2 adds up, with the machine's numbers: every line of the data cache is written back, every line
    and every TLB entry is needed again. This kernel and these programs never need so much
    (`lab/model/tests/arm.rs`, t718, has the model do it).
    """
    data, code = (machine[f"{cache}.size_bytes"] / machine[f"{cache}.line_bytes"] for cache in ("l1d", "l1i"))
    entries = machine["itlb.entries"] + machine["dtlb.entries"]
    write, read, miss = (
        machine[name] for name in ("memory.line_write_cycles", "memory.line_read_cycles", "dtlb.miss_cycles")
    )
    parts = {"data": data, "write": write, "lines": data + code, "read": read, "entries": entries, "miss": miss}
    whole = data * write + (data + code) * read + entries * miss
    return SHEET.judge("model.worst_switch", whole, reproduces(published.W03_WORST_SWITCH_CYCLES), **parts)


def flush_cycles(counted: Counted) -> float | None:
    """Of a switch, in the functions that flush caches, with the reads that displace what is in them."""
    costs = counted.functions.get(counted.spec.members)
    if not costs:
        return None
    return sum(cycles for symbol, cycles in costs.items() if symbol.startswith("caches::")) / WAYS


def _mean(counted: Counted, categories: tuple[str, ...], counters: tuple[str, ...]) -> float | None:
    region, misses = region_of(counted), counted.each(*counters, ways=1)
    if region is None or not misses:
        return None
    return sum(region.ledger.get(category, 0) for category in categories) / region.rounds / misses


def series_of(counted: dict[str, Counted]) -> Iterator[Series]:
    """Counts and cycles of an IPC one way, by scene; and the cycles by what they are charged to."""
    names, found = list(counted), list(counted.values())
    for counter in COUNTERS:
        yield Series(counter, "an IPC", names, [one.each(counter) for one in found])
    yield Series("cycles", "modelled cycles", names, [cycles_of(one) for one in found])
    yield Series("flush_functions", "modelled cycles", names, [flush_cycles(one) for one in found])
    regions = [region_of(one) for one in found]
    for how in sorted({charge.how for region in regions if region for charge in _flushed(region) if charge.how}):
        yield Series(f"refills.{how}", "modelled cycles", names, [refills(region, how) for region in regions])


def refills(region: Region | None, how: str) -> float | None:
    """Cycles of an IPC for refills of what operations of the kind `how` have flushed."""
    if region is None:
        return None
    return sum(charge.cycles for charge in _flushed(region) if charge.how == how) / region.rounds / WAYS


def _flushed(region: Region) -> list[Charge]:
    return [charge for charge in region.causes if charge.kind == "flushed"]


def plots(result: Result) -> list[Plot]:
    """The sheet's, the first with a column for each kind of flush that refills were charged to."""
    table, *ledgers = SHEET.drawn()
    assert isinstance(table, Table)
    kinds = [one.name for one in result.series if one.name.startswith("refills.")]
    more = {name: f"refills after {name.removeprefix('refills.').replace('_', ' ')}" for name in kinds}
    return [replace(table, series=table.series | more), *ledgers]


EXPERIMENT = Experiment(
    name="wiggins03/flushes",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings={
        "rounds": Setting(4000, 1000, crowd.ROUNDS, "round trips measured in each scene"),
        "warmup": Setting(1000, 500, crowd.ROUNDS, "round trips before the measured ones"),
    },
    long_proof=True,
    run=run,
    plots=plots,
)
