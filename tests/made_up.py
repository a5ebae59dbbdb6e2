# SPDX-License-Identifier: GPL-2.0-or-later
"""Made-up measurements, for tests of what is done with measurements. The shapes are those of a plausible machine."""

import sys
from typing import Any

from cobnut import boards, experiments, machines
from cobnut.experiments import (
    Experiment,
    Lab,
    crowd,
    ipc_scale,
    linux_programs,
    pingpong,
    talking_groups,
    talking_linux,
    talking_spaces,
)
from cobnut.experiments.crowd import Counted, Crowd
from cobnut.experiments.linux_programs import Peer, Turns
from cobnut.experiments.pingpong import Measurement, PingPong, read
from cobnut.experiments.talking_spaces import Heard, Tag, Talk
from cobnut.machines import Machine, Parameter
from cobnut.progress import Silent

MACHINE = Machine(
    name="made-up",
    description="a machine for tests",
    path=boards.find("pc").kernel,
    sha256="0" * 64,
    parameters={
        "processor.clock_mhz": Parameter(100, "made up"),
        "processor.emulated_as": Parameter("pentium3", "made up"),
        "itlb.entries": Parameter(128, "made up", 64, 128),
        "itlb.lookup": Parameter("trace-build", "made up"),
        "trace_cache.decode_cycles": Parameter(3, "made up", 2, 4),
        "segments.reload_cycles": Parameter(253, "made up"),
        "segments.loads": Parameter(6, "made up", 4, 6),
        "address_space.cr3_cycles": Parameter(480, "made up"),
        "instructions.alu": Parameter(1, "made up", 0.5, 1.5),
        "instructions.load": Parameter(2, "made up", 1, 2),
        "instructions.store": Parameter(1, "made up"),
        "dtlb.miss_cycles": Parameter(9, "made up"),
        "address_space.invlpg_cycles": Parameter(25, "made up"),
    },
)

COUNTERS = {
    "instructions_kernel": 92,
    "instructions_stub": 10,
    "instructions_trampoline": 4,
    "instructions_user": 40,
    "cr3_writes": 0,
    "invlpg": 0,
    "segment_loads": 10,
    "entries_sysenter": 2,
    "entries_int": 0,
    "entries_fault": 0,
    "entries_irq": 0,
    "exits_iret": 0,
}
ALL = experiments.all_experiments()
MODULES = [module for name, module in sys.modules.items() if name.startswith(f"{experiments.__name__}.")]
MEASURING = [module for module in MODULES if getattr(module, "measure", None) in (pingpong.measure, crowd.measure)]
LISTENING = [module for module in MODULES if getattr(module, "listen", None) is talking_spaces.listen]
LISTENING.remove(talking_spaces)
ARM_ENTRIES = ("entries_prefetch", "entries_data", "entries_undefined", "entries_swi", "entries_irq")
ARM_MISSES = ("itlb_misses", "dtlb_misses", "icache_misses", "dcache_misses", "write_backs")
FOOTPRINT = {"code_lines": 12, "data_lines": 14, "code_pages": 6, "data_pages": 10}
SERVER_IN_1, SERVER_IN_2, SH, CAT = "1000+2000", "3000+2000", "1000+4000", "3000"
PROCESSES = {
    SERVER_IN_1: ["server"],
    SERVER_IN_2: ["server"],
    SH: ["init (1)", "sh (7)", "a-b (8)"],
    CAT: ["cat (9)"],
    "5000": ["gone (3)"],
}
CALLER, PARTNER = "00100000", "00200000"
CAPACITY = {"none": 1, "nops": 8000, "jumps": 128, "reads": 64, "walks": 0}
COST = {"none": 0, "nops": 0.25, "jumps": 30, "reads": 30, "walks": 0}
REFILL, ENTRY_MISSING, DIRECTORY_MISSING, STARTUP = 10, 14, 3, 50  # cycles of TLB refills; the last once for each case


def lab(experiment: Experiment, *, quick: bool = True, **settings: int) -> Lab:
    """A laboratory whose measurements are to be made up."""
    chosen = {
        name: setting.quick if quick else setting.value for name, setting in experiment.settings.items()
    } | settings
    return Lab(experiment.name, boards.find(experiment.boards[0]), MACHINE, "no emulator", quick, chosen, {}, Silent())


def output(spec: PingPong) -> Any:
    """What the plugin could have written for `spec`."""
    cases = list(enumerate(spec.cases))
    return {
        "regions": [region(spec, index, size) for index, size in cases],
        "ranges": [{"case": index, "per_iteration": parts(spec)} for index, _ in cases] if spec.parts else [],
        "switches": [
            {"from": CALLER, "to": PARTNER, "how": "cr3", "at": "f0100000"},
            {"from": PARTNER, "to": CALLER, "how": "cr3", "at": "f0100000"},
        ],
        "warnings": [],
    }


def parts(spec: PingPong) -> dict:
    """Parts of the kernel's code: two instructions and three cycles in each of them, each way; one instruction that all
    pass.
    """
    ways = 1 if spec.halves else 2
    counts = {name: (1, 1) if name == "passes" else (2, 3) for name, _, _ in spec.parts}
    return {
        name: {
            "instructions": [ways * instructions] * spec.iterations,
            "cycles": [ways * cycles] * spec.iterations,
        }
        for name, (instructions, cycles) in counts.items()
    }


def region(spec: PingPong, index: int, size: int) -> dict:
    large = spec.pair == "large_large" and spec.calls
    rebuild = float(dict(spec.overrides).get("trace_cache.decode_cycles", 3)) / 3
    capacity = CAPACITY[spec.gen] // (2 if spec.distance > 2 * 4096 else 1)  # of every other page
    flushed = large and not spec.without_flush
    refilled = size if flushed or size > capacity else 0
    walk = ENTRY_MISSING * size + DIRECTORY_MISSING + STARTUP / spec.iterations if spec.gen == "walks" else 0
    ledger = {
        "instructions": (200.0 if spec.calls else 20.0) + size // (1 if spec.distance == 4096 else 100),
        "kernel_entry_exit": 332.0 if spec.calls else 0.0,
        "segment_reload": 200.0 if spec.calls and not large else 0.0,
        "tlb_refill_data": walk or float(REFILL * refilled),
        "trace_rebuild": COST[spec.gen] * refilled * rebuild,
        "flush": 960.0 if large else 0.0,
    }
    total = sum(ledger.values())
    counters = COUNTERS | {
        "cr3_writes": 2 if large else 0,
        "cycles": total,
        "itlb_misses": refilled,
        "dtlb_misses": refilled,
        "trace_misses": refilled,
        "itlb_flushed_refills": 2 if large else 0,
        "dtlb_flushed_refills": 3 if large else 0,
    }
    return {
        "case": index,
        "iterations": spec.iterations,
        "per_iteration": {name: [value] * spec.iterations for name, value in counters.items()},
        "footprint": FOOTPRINT | {f"kernel_{name}": value // 2 for name, value in FOOTPRINT.items()},
        "ledger": {name: value * spec.iterations for name, value in ledger.items()},
        "space": CALLER,
        "spaces": [CALLER],
        "causes": causes(spec, ledger),
        "cycles_total": total * spec.iterations,
        "cycles_per_iteration": [total] * spec.iterations,
    }


def causes(spec: PingPong, ledger: dict[str, float]) -> list[dict]:
    """What refills were charged to: the call where it flushes, otherwise evictions after the reply."""
    flushed = spec.pair == "large_large" and not spec.without_flush
    which = {"kind": "flushed", "switch": 0} if flushed else {"kind": "evicted", "switch": 1}
    return [
        {"category": category, **which, "refills": spec.iterations, "cycles": ledger[category] * spec.iterations}
        for category in ("tlb_refill_data", "trace_rebuild")
        if ledger[category]
    ]


def console(spec: PingPong) -> str:
    """What the guest could have printed."""
    if not isinstance(spec, ipc_scale.Scale):
        return ""
    n = spec.threads
    spaces = max(2, n // 4)
    return (
        f"scale: pages spaces {2 * spaces} tables {2 * spaces} utcbs {spaces} threads {1 + n // 10}\n"
        f"scale: pages mappings 1\nscale: {spaces} spaces, {n} threads, {n - 1} answers\nscale: done\n"
    )


def crowd_output(spec: Crowd) -> Any:
    """What the plugin could have written for `spec`: a standard kernel that flushes at each switch, and one with 15
    domains and 32 TLB entries.
    """
    return {
        "regions": [crowd_region(spec, index, case) for index, case in enumerate(spec.cases)],
        "switches": [{"from": CALLER, "to": PARTNER, "how": "table_base", "at": "fff00100"}],
    }


def crowd_region(spec: Crowd, index: int, case: int) -> dict:
    flushing = (not spec.tags and spec.place != "within") or spec.place in ("slots", "collide")
    recycled = max(0, case - 14) / case if spec.pattern == "calls" and spec.tags else 0
    pages = case * (1 if spec.shared else spec.members) if spec.pattern == "reads" else 0
    misses = spec.members * case if pages > 24 else 0
    ways = 2 if spec.pattern == "calls" else spec.members
    ledger = {
        "instructions": 120.0 * ways + 5 * misses + 300 * recycled,
        "tlb_refill_data": 45.0 * misses + (400.0 if flushing else 10.0 * case if spec.pattern == "calls" else 0),
        "cache_refill": 20_000.0 if flushing else 5_000 * recycled,
        "flush": 4_000.0 if flushing else 100 * recycled,
    }
    total = sum(ledger.values())
    counters = dict.fromkeys((*crowd.SWITCH_WRITES, *crowd.FLUSHES, *ARM_ENTRIES, *ARM_MISSES), 0) | {
        "instructions_kernel": ways * 48 + 200 * recycled,
        "instructions_stub": ways,
        "instructions_user": ways * 10,
        "entries_call": ways,
        "domain_writes": 0 if flushing or spec.place == "within" else ways,
        "pid_writes": 0 if flushing or spec.place == "within" else ways,
        "table_base_writes": ways if flushing else 0,
        "tlb_flushes": ways if flushing else 0.4 * recycled,
        "dcache_flushes": ways if flushing else 0.1 * recycled,
        "dtlb_misses": misses + (9 if flushing else 0),
        "dcache_misses": 286 if flushing else 0,
        "cycles": total,
    }
    return {
        "case": index,
        "functions": [{"symbol": "caches::clean_and_invalidate_data", "cycles": ledger["cache_refill"] * spec.rounds}],
        "iterations": spec.rounds,
        "per_iteration": {name: [value] * spec.rounds for name, value in counters.items()},
        "ledger": {name: value * spec.rounds for name, value in ledger.items()},
        "space": CALLER,
        "spaces": [CALLER],
        "causes": [{"category": "tlb_refill_data", "kind": "evicted", "switch": 0, "refills": 1, "cycles": 0.0}],
        "cycles_total": total * spec.rounds,
        "cycles_per_iteration": [total] * spec.rounds,
    }


def measure(lab: Lab, specs) -> list[Measurement] | list[Counted]:
    """Stands in for `pingpong.measure` and `crowd.measure`."""
    if all(isinstance(spec, Crowd) for spec in specs):
        outputs = [(spec, crowd_output(spec)) for spec in specs]
        return [Counted(spec, crowd.read(spec, made), None, crowd.functions_of(spec, made)) for spec, made in outputs]
    return [Measurement(spec, read(spec, output(spec)), None, 0.1, console(spec)) for spec in specs]


def heard(talk: Talk) -> Heard:
    """A run in which the pattern's groups have four spaces and a host each; a space in none is in all hosts. All call
    the first of theirs.
    """
    alone = 2 if talk.pattern == "web" else 1
    groups = [-1 if space < alone else (space - alone) // 4 for space in range(talk.spaces)]
    first = {group: groups.index(group) for group in groups}
    tags = [
        Tag(
            space,
            group,
            16 * (space - first[group]) if group >= 0 else 480 + 16 * space,
            0 if group >= 0 and space == first[group] else 16,
            group >= 0 and space != first[group],
        )
        for space, group in enumerate(groups)
    ]
    names = [
        (
            f"{tag.group + 2:08x}"
            if not tag.size_mb
            else f"{max(tag.group, 0) + 2:08x}+{0xE0000000 + (tag.offset_mb << 20):08x}"
        )
        for tag in tags
    ]
    pairs = [(first[group] if group >= 0 else 0, space) for space, group in enumerate(groups)]
    pairs = [pair for a, b in pairs if a != b for pair in ((a, b), (b, a))] + [(0, alone), (alone, 0)]
    ledger = {"instructions": 1000.0 * talk.rounds, "flush": 20.0 * talk.rounds}
    measured: Any = {
        "switches": [{"from": names[a], "to": names[b], "how": "segments", "at": None} for a, b in pairs],
        "regions": [
            {
                "case": 0,
                "iterations": talk.rounds,
                "per_iteration": {name: [0.0] * talk.rounds for name in ("cr3_writes", "itlb_misses", "dtlb_misses")},
                "ledger": ledger,
                "cycles_total": sum(ledger.values()),
                "space": names[0],
                "spaces": [names[0]],
                "switches": [{"switch": index, "times": 100} for index in range(len(pairs))],
            },
            *({"case": 1 + space, "space": name} for space, name in enumerate(names)),
        ],
    }
    return Heard(talk, measured, 100 * len(pairs), 0, tuple(tags))


def talking() -> Peer:
    """A shell and another program in a bound space, one after the other, and a large one, with their server."""
    switches = [(SH, SERVER_IN_1, "segments"), (SERVER_IN_1, SH, "segments"), (SERVER_IN_2, CAT, "segments")]
    switches += [(SERVER_IN_1, SERVER_IN_2, "cr3"), (SH, "5000", "cr3"), (SH, SH, "invlpg"), (SH, "6000", "cr3")]
    region: Any = {
        "case": 0,
        "iterations": 1,
        "per_iteration": {"cr3_writes": [3]},
        "ledger": {"instructions": 1000.0},
        "cycles_total": 1000.0,
        "causes": [],
        "space": SH,
        "switches": [{"switch": index, "times": 10} for index in range(len(switches))],
    }
    made: Any = [{"from": a, "to": b, "how": how, "at": None} for a, b, how in switches]
    successions = [("sh (7)", "cat (9)", 0, 2), ("cat (9)", "a-b (8)", 0, 1), ("sh (7)", "gone (3)", 1, 5)]
    measured: Any = {
        "processes": PROCESSES,
        "successions": [{"from": a, "to": b, "case": case, "times": n} for a, b, case, n in successions],
    }
    return Peer("all", {"turn": Turns("all", "turn", region, {}, made)}, "", (), measured)


def install(patch, measurement=measure) -> None:
    """Lets all experiments measure by `measurement`, and listen to made-up spaces."""
    for module in MEASURING:
        patch.setattr(module, "measure", measurement)
    for module in LISTENING:
        patch.setattr(module, "listen", lambda lab, talks: [heard(talk) for talk in talks])
    patch.setattr(talking_linux, "listen", lambda lab, work: talking())
    patch.setattr(talking_groups, "listen", lambda lab, *groups: talking())
    patch.setattr(linux_programs, "versions", lambda: "Linux that is made up")
    patch.setattr(machines, "load", lambda name: MACHINE)
