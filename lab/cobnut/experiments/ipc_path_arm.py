# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/path` on the boards with an ARM processor: what a null IPC consists of there, by where the two spaces lie.

Instructions, register writes and flushes are counted, not modelled: they are the same on every run. Only the cycles
come from the machine model.
"""

from cobnut import published, sheets
from cobnut.checks import Check, Rule, at_most, exactly, no_more_than
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import FLUSHES, SHARES, SWITCH_WRITES, Counted, Crowd, measure_all
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

# places of `crowd`, by what they make of the two spaces
PAIRS = {"different_address": "apart", "same_address": "alike", "intra": "within"}
PAPERS_MACHINE = "sa1100-200"
# Within one space the answer goes to a local id, which is read in the UTCB: nine instructions of 63.
INSTRUCTION_LIMITS = {"different_address": 54, "same_address": 54, "intra": 58.5}
STUB_LIMIT, ROUND_TRIP_LIMIT = 1, 400


def run(lab: Lab) -> Result:
    """Boots one server with one client for each pair and judges their path."""
    chosen = lab.settings
    specs = {
        pair: Crowd("calls", place, 1, chosen["rounds"], chosen["warmup"], tags=bool(chosen["tags"]))
        for pair, place in PAIRS.items()
    }
    counted = measure_all(lab, specs)
    checks = [check for pair, one in counted.items() for check in judge_path(pair, one)]
    if lab.machine.name == PAPERS_MACHINE:
        checks += [judge_cycles(pair, one) for pair, one in counted.items()]
    ledger = [region.row(pair) for pair, one in counted.items() for region in one.regions.values()]
    return lab.result(series_of(counted), checks, ledger)


def judge_path(pair: str, counted: Counted) -> list[Check]:
    """All checks of one pair."""
    other = int(pair != "intra")
    wanted: dict[str, tuple[Rule, tuple[str, ...]]] = {
        "instructions": (at_most(INSTRUCTION_LIMITS[pair]), tuple(f"instructions_{share}" for share in SHARES)),
        "stub": (exactly(STUB_LIMIT), ("instructions_stub",)),
        "entries": (exactly(1), ("entries_call",)),
        "other_entries": (exactly(0), ("entries_prefetch", "entries_data", "entries_undefined", "entries_swi")),
        "table_base_writes": (exactly(0), ("table_base_writes",)),
        "domain_writes": (exactly(other), ("domain_writes",)),
        "pid_writes": (at_most(other), ("pid_writes",)),
        "flushes": (exactly(0), FLUSHES),
    }
    peer = published.PISTACHIO_ARM_KERNEL
    return [
        SHEET.judge(f"one_way.{pair}.{name}", counted.one_way(1, *counters), rule, counted.failure, peer=peer)
        for name, (rule, counters) in wanted.items()
    ]


def judge_cycles(pair: str, counted: Counted) -> Check:
    """The modelled cycles on the paper's machine."""
    rule = no_more_than(ROUND_TRIP_LIMIT) if pair != "intra" else at_most(ROUND_TRIP_LIMIT)
    optimal, clock = published.W03_OPTIMAL_US, published.W03_CLOCK_MHZ
    cycles = counted.cycles(1)
    return SHEET.judge(f"round_trip.{pair}.cycles", cycles, rule, counted.failure, optimal=optimal, clock=clock)


def series_of(counted: dict[str, Counted]) -> list[Series]:
    """The counts as rows of bars over the pairs."""
    pairs = list(counted)

    def row(name: str, unit: str, counter: str) -> Series:
        return Series(name, unit, pairs, [one.one_way(1, counter) for one in counted.values()])

    return [
        *(row(f"one_way.{share}", "instructions", f"instructions_{share}") for share in (*SHARES, "user")),
        *(row(f"one_way.{name}", "a way", name) for name in (*SWITCH_WRITES, *FLUSHES)),
        Series("round_trip.cycles", "modelled cycles", pairs, [one.cycles(1) for one in counted.values()]),
    ]


EXPERIMENT = Experiment(
    name="ipc/path",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings={
        "rounds": Setting(100, 20, crowd.ROUNDS, "round trips measured"),
        "warmup": Setting(20, 20, crowd.ROUNDS, "round trips before the measured ones"),
        "tags": Setting(
            1, 1, range(2), "0: the standard kernel, which gives spaces no tags and flushes at every switch"
        ),
    },
    run=run,
    plots=SHEET.all_plots,
)
