# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/flushes`: what makes the fast kernel flush, what the standard kernel's flushes cost, and where the cycles
go.

W03 section 5 names what alone makes the fast kernel flush: a mapping where a PID slot in use is, mappings that collide
in the shared area, and domains that run out (a shared area that is full is not met here: L4's is the user's to fill).
Each is a scene of its own, a server that calls clients at random, beside scenes without any of them.
"""

from dataclasses import dataclass

from cobnut import published
from cobnut.checks import Check, KnownMiss, above, at_most, below, between, exactly, judge, named, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import FLUSHES, Counted, Crowd, measure
from cobnut.experiments.pingpong import Region, raise_if_all_failed
from cobnut.machines import Machine
from cobnut.plots import Ledger, Plot, Table
from cobnut.results import LedgerRow, Result, Series

PAPERS_MACHINE = "sa1100-200"
LAST = published.W03_LAST_CLIENTS
WAYS = 2
STANDARD = "standard"
KNOWN_MISSES = {
    "standard.tlb_miss_cycles": KnownMiss(
        23,
        45,
        "The paper's is of a page, two reads. This kernel's own memory is mapped by sections, a read of 23 cycles, and"
        " after a flush nearly every second entry that it needs again is one: (45 + 23) / 2 is 34.",
    )
}


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
    Scene("domains_16", "apart", 16, "domains run out"),
    Scene("domains_20", "apart", 20, "domains run out"),
    Scene("domains_64", "apart", 64, "domains run out"),
    Scene(STANDARD, "apart", 1, tags=False),
)
COUNTERS = {
    "tlb_flushes": "TLB flushes",
    "dcache_flushes": "data-cache flushes",
    "icache_flushes": "instruction-cache flushes",
    "tlb_entry_flushes": "TLB entries",
    "line_operations": "cache lines",
}


def run(lab: Lab) -> Result:
    """One boot for each scene."""
    chosen = lab.settings
    specs = {
        scene: Crowd("calls", scene.place, scene.clients, chosen["rounds"], chosen["warmup"], tags=scene.tags)
        for scene in SCENES
    }
    counted = {scene.name: one for scene, one in zip(specs, measure(lab, list(specs.values())), strict=True)}
    raise_if_all_failed(list(counted.values()))
    checks = [check for scene in SCENES for check in judge_scene(scene, counted[scene.name])]
    checks += judge_clean(counted)
    if lab.machine.name == PAPERS_MACHINE:
        checks += [*judge_costs(counted[STANDARD]), judge_worst(lab.machine)]
    return lab.result(series_of(counted), checks, ledger_of(counted))


def region_of(counted: Counted) -> Region | None:
    return counted.at(counted.spec.members)


def judge_scene(scene: Scene, counted: Counted) -> list[Check]:
    """Flushes where a condition is met, and none where not."""
    if scene.name == STANDARD:
        return []
    count = crowd.each(region_of(counted), FLUSHES)
    text = (
        f"W03 section 5: {scene.condition}: only then something is flushed."
        if scene.condition
        else "W03 section 5: no condition is met, so nothing is flushed."
    )
    rule = above(0) if scene.condition else exactly(0)
    return [judge(f"{scene.name}.flushes", count, "flushes an IPC", rule, f"{text} {counted.failure or ''}".rstrip())]


def judge_clean(counted: dict[str, Counted]) -> list[Check]:
    """Where domains run out: clean ones are taken without a flush of the caches."""
    checks = []
    for name in ("domains_16", "domains_20", "domains_64"):
        region = region_of(counted[name])
        tlb, cache = crowd.each(region, ("tlb_flushes",)), crowd.each(region, ("dcache_flushes",))
        checks.append(
            judge(
                f"{name}.cache_over_tlb",
                cache / tlb if tlb and cache is not None else None,
                "cache flushes a TLB flush",
                below(1),
                "W03 section 3: a domain that is clean is revoked without a flush of the caches, and a flush makes"
                " every domain clean.",
            )
        )
    region = region_of(counted["domains_20"])
    for what, counter in (("tlb", "tlb_flushes"), ("cache", "dcache_flushes")):
        checks.append(
            judge(
                f"domains_20.{what}_flushes",
                crowd.each(region, (counter,)),
                "flushes an IPC",
                at_most(published.PISTACHIO_ARM_FLUSHES[what]),
                f"With 20 clients; the best peer has {published.PISTACHIO_ARM_FLUSHES[what]:g}.",
            )
        )
    return checks


def judge_costs(standard: Counted) -> list[Check]:
    """What W03 section 2 says that the standard kernel pays."""
    region = region_of(standard)
    direct = flush_cycles(standard)
    switch = region.mean_cycles / WAYS if region else None
    least, most = published.W03_FLUSH_CYCLES
    return [
        judge(
            "standard.flushes",
            crowd.each(region, ("dcache_flushes",)),
            "flushes an IPC",
            exactly(1),
            "The standard kernel flushes at each switch of spaces.",
        ),
        judge(
            "standard.direct_cycles",
            direct,
            "modelled cycles a switch",
            between(least, most),
            "In the kernel's functions that flush the caches; W03 section 2 has the same range, from nothing to be"
            " written back to all.",
        ),
        judge(
            "standard.switch_cycles",
            switch,
            "modelled cycles a switch",
            at_most(published.W03_WORST_SWITCH_CYCLES),
            "Half a round trip, flush and what follows from it; W03: up to around 75,000 cycles.",
        ),
        judge(
            "standard.line_cycles",
            _mean(region, ("cache_refill",), ("icache_misses", "dcache_misses")),
            "modelled cycles",
            reproduces(published.W03_LINE_CYCLES),
            "What a line costs that is read again, on average; W03: about 70 cycles.",
        ),
        judge(
            "standard.tlb_miss_cycles",
            _mean(region, ("tlb_refill_code", "tlb_refill_data"), ("itlb_misses", "dtlb_misses")),
            "modelled cycles",
            reproduces(published.W03_TLB_MISS_CYCLES),
            "What a TLB miss costs, on average over pages and sections, which take one read instead of two; W03: about"
            " 45 cycles.",
        ),
    ]


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
    return judge(
        "model.worst_switch",
        data * write + (data + code) * read + entries * miss,
        "modelled cycles a switch",
        reproduces(published.W03_WORST_SWITCH_CYCLES),
        f"Of the model, not of this kernel: {data:g} lines written back at {write:g}, {data + code:g} read again at"
        f" {read:g}, {entries:g} TLB entries at {miss:g}. W03 section 2: up to around 75,000 cycles, with 18,000 for"
        " the flush itself.",
    )


def flush_cycles(counted: Counted) -> float | None:
    """Of a switch, in the functions that flush caches, with the reads that displace what is in them."""
    costs = counted.functions.get(counted.spec.members)
    if not costs:
        return None
    return sum(cycles for symbol, cycles in costs.items() if symbol.startswith("caches::")) / WAYS


def _mean(region: Region | None, categories: tuple[str, ...], counters: tuple[str, ...]) -> float | None:
    misses = crowd.each(region, counters, 1)
    if region is None or not misses:
        return None
    return sum(region.ledger.get(category, 0) for category in categories) / region.rounds / misses


def series_of(counted: dict[str, Counted]) -> list[Series]:
    """Counts and cycles of an IPC one way, by scene; and the cycles by what they are charged to."""
    names, regions = list(counted), [region_of(one) for one in counted.values()]
    rows = [
        Series(counter, "an IPC", names, [crowd.each(region, (counter,)) for region in regions]) for counter in COUNTERS
    ]
    rows.append(
        Series(
            "cycles", "modelled cycles", names, [region.mean_cycles / WAYS if region else None for region in regions]
        )
    )
    rows.append(Series("flush_functions", "modelled cycles", names, [flush_cycles(one) for one in counted.values()]))
    hows = sorted(
        {
            charge.how
            for region in regions
            if region
            for charge in region.causes
            if charge.kind == "flushed" and charge.how
        }
    )
    return rows + [
        Series(f"refills.{how}", "modelled cycles", names, [refills(region, how) for region in regions]) for how in hows
    ]


def refills(region: Region | None, how: str) -> float | None:
    """Cycles of an IPC for refills of what operations of the kind `how` have flushed."""
    if region is None:
        return None
    return (
        sum(charge.cycles for charge in region.causes if charge.kind == "flushed" and charge.how == how)
        / region.rounds
        / WAYS
    )


def ledger_of(counted: dict[str, Counted]) -> list[LedgerRow]:
    """Where the modelled cycles of the round trips go."""
    return [region.row(name) for name, one in counted.items() if (region := region_of(one))]


def plots(result: Result) -> list[Plot]:
    columns = {counter: title for counter, title in COUNTERS.items()} | {
        "cycles": "modelled cycles",
        "flush_functions": "of them in flushing functions",
    }
    columns |= {
        one.name: f"refills after {one.name.removeprefix('refills.').replace('_', ' ')}"
        for one in result.series
        if one.name.startswith("refills.")
    }
    titles = {scene.name: scene.name.replace("_", " ") for scene in SCENES}
    return [
        Table(
            "An IPC, one way",
            "scene",
            columns,
            caption=(
                "; ".join(
                    f"{scene.name}: {scene.clients} client{'s' * (scene.clients > 1)},"
                    f" {scene.condition or 'no condition'}"
                    for scene in SCENES[:-1]
                )
                + "."
            ),
            rows=titles,
            wide=True,
        ),
        Ledger(
            "Where the modelled cycles of a round trip go, fast kernel",
            "scene",
            "modelled cycles",
            {scene.name: scene.name for scene in SCENES if scene.tags},
            wide=True,
        ),
        Ledger(
            "And with the standard kernel",
            "scene",
            "modelled cycles",
            {STANDARD: STANDARD},
            caption=(
                "On the SA-1100 the data cache is written back by reading as much as it holds: cache refills that serve"
                " nothing else."
            ),
        ),
    ]


EXPERIMENT = Experiment(
    name="wiggins03/flushes",
    title="What is flushed, why, and what that costs",
    source="Wiggins, Tuch, Uhlig, Heiser 2003, sections 2, 3 and 5",
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
    checks=(
        "SCENE.flushes",
        "SCENE.cache_over_tlb",
        named("domains_20", ("tlb_flushes", "cache_flushes")),
        named("standard", ("flushes", "direct_cycles", "switch_cycles", "line_cycles", "tlb_miss_cycles")),
        "model.worst_switch",
    ),
    story=(
        "A server calls clients at random, in scenes that meet one of the paper's conditions for a flush, or none:"
        " clients at different addresses and at the same one, with domains for all; clients where others' PID slots"
        " are; clients at the same address above 2 GB, where nothing is relocated; and more clients than domains. The"
        " last scene is the standard kernel, which flushes at every switch."
    ),
    cannot_say=(
        (
            "Counts are exact for this kernel on QEMU's instruction set; cycles are modelled from them by the machine"
            " file."
        ),
        "Unmapping, the end of spaces and aliases flush for reasons of their own, which do not occur here.",
        (
            "The paper's fourth condition, a shared area that is full, is its Linux' choice of addresses; in L4 users"
            " choose."
        ),
    ),
    known_misses=KNOWN_MISSES,
)
