# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/path` on the boards with an ARM processor: what a null IPC consists of there, by where the two spaces lie.

Instructions, register writes and flushes are counted, not modelled: they are the same on every run. Only the cycles
come from the machine model.
"""

from cobnut import published
from cobnut.checks import Check, Rule, at_most, exactly, judge, named, no_more_than
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import FLUSHES, SHARES, SWITCH_WRITES, Counted, Crowd, measure
from cobnut.experiments.pingpong import Region, raise_if_all_failed
from cobnut.missing import total
from cobnut.plots import Bars, Ledger, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

# places of `crowd`, by what they make of the two spaces
PAIRS = {"different_address": "apart", "same_address": "alike", "intra": "within"}
TITLES = {
    "different_address": "two spaces at different addresses",
    "same_address": "two spaces at the same address",
    "intra": "two threads of one space",
}
SHORT = {"different_address": "different addresses", "same_address": "the same address", "intra": "one space"}
PAPERS_MACHINE = "sa1100-200"
INSTRUCTION_LIMIT, STUB_LIMIT, ROUND_TRIP_LIMIT = 60, 1, 400
PEER = "the best peer (Pistachio with fast address-space switching and its assembly path)"


def run(lab: Lab) -> Result:
    """Boots one server with one client for each pair and judges their path."""
    chosen = lab.settings
    specs = {
        pair: Crowd("calls", place, 1, chosen["rounds"], chosen["warmup"], tags=bool(chosen["tags"]))
        for pair, place in PAIRS.items()
    }
    counted = dict(zip(specs, measure(lab, list(specs.values())), strict=True))
    raise_if_all_failed(list(counted.values()))
    checks = [check for pair, one in counted.items() for check in judge_path(pair, one)]
    if lab.machine.name == PAPERS_MACHINE:
        checks += [judge_cycles(pair, one) for pair, one in counted.items()]
    return lab.result(series_of(counted), checks, ledger_of(counted))


def judge_path(pair: str, counted: Counted) -> list[Check]:
    """All checks of one pair."""
    way, region, other = f"one_way.{pair}", counted.at(1), pair != "intra"
    failure = f" {counted.failure}" if counted.failure else ""

    def count(name: str, unit: str, names: tuple[str, ...], rule: Rule, why: str) -> Check:
        return judge(f"{way}.{name}", median_one_way(region, names), unit, rule, why + failure)

    both, stub = tuple(f"instructions_{share}" for share in SHARES), ("instructions_stub",)
    return [
        count(
            "instructions",
            "instructions",
            both,
            at_most(INSTRUCTION_LIMIT),
            f"Kernel and stub of one null IPC; {PEER} has {published.PISTACHIO_ARM_KERNEL:g} between spaces in its"
            " kernel alone.",
        ),
        count(
            "stub",
            "instructions",
            stub,
            exactly(STUB_LIMIT),
            "The system-call stub in the kernel interface page: a jump to where no user may execute.",
        ),
        count("entries", "entries", ("entries_call",), exactly(1), "One system call each way."),
        count(
            "other_entries",
            "entries",
            ("entries_prefetch", "entries_data", "entries_undefined", "entries_swi"),
            exactly(0),
            "No fault in a steady round trip.",
        ),
        count(
            "table_base_writes",
            "writes",
            ("table_base_writes",),
            exactly(0),
            "There is one page directory, which is never changed.",
        ),
        count(
            "domain_writes",
            "writes",
            ("domain_writes",),
            exactly(int(other)),
            "Which domains are open changes with the space.",
        ),
        count(
            "pid_writes",
            "writes",
            ("pid_writes",),
            at_most(int(other)),
            "And which slot its addresses below 32 MB are in.",
        ),
        count(
            "flushes",
            "operations",
            FLUSHES,
            exactly(0),
            "Nothing is flushed, neither TLBs nor caches nor a line of them.",
        ),
    ]


def judge_cycles(pair: str, counted: Counted) -> Check:
    """The modelled cycles on the paper's machine."""
    return judge(
        f"round_trip.{pair}.cycles",
        crowd.cycles(counted.at(1)),
        "modelled cycles",
        no_more_than(ROUND_TRIP_LIMIT) if pair != "intra" else at_most(ROUND_TRIP_LIMIT),
        "A whole round trip, user code included, with warm TLBs and caches: what W03 section 4.2 calls optimal is"
        f" about {published.W03_OPTIMAL_US:g} us at {published.W03_CLOCK_MHZ} MHz. {counted.failure or ''}".rstrip(),
    )


def median_one_way(region: Region | None, names: tuple[str, ...]) -> float | None:
    """Half of the sum of the counters' medians; interrupts are in few round trips."""
    values = [region.one_way(name) for name in names] if region else [None]
    return total(values)


def series_of(counted: dict[str, Counted]) -> list[Series]:
    """The counts as rows of bars over the pairs."""
    pairs, regions = list(counted), [one.at(1) for one in counted.values()]
    rows = [
        Series(
            f"one_way.{share}",
            "instructions",
            pairs,
            [median_one_way(region, (f"instructions_{share}",)) for region in regions],
        )
        for share in (*SHARES, "user")
    ]
    rows += [
        Series(f"one_way.{name}", "a way", pairs, [median_one_way(region, (name,)) for region in regions])
        for name in (*SWITCH_WRITES, *FLUSHES)
    ]
    return [*rows, Series("round_trip.cycles", "modelled cycles", pairs, [crowd.cycles(region) for region in regions])]


def ledger_of(counted: dict[str, Counted]) -> list[LedgerRow]:
    """Where the modelled cycles of each pair went."""
    return [region.row(pair) for pair, one in counted.items() for region in one.regions.values()]


def plots(result: Result) -> list[Plot]:
    peer = published.PISTACHIO_ARM_KERNEL
    return [
        Bars(
            "Instructions of a null IPC, one way",
            "the two partners",
            "instructions",
            {f"one_way.{share}": share for share in SHARES},
            rows=SHORT,
            caption=(
                "User code outside the system-call stub is left out. The dashed line is the best other kernel, between"
                " spaces at different addresses."
            ),
            marks=(Mark(f"best peer, its kernel alone: {peer:g}", y=peer),),
        ),
        Ledger(
            "Where the modelled cycles of a round trip go",
            "the two partners",
            "modelled cycles",
            SHORT,
            wide=True,
            marks=(Mark(f"W03: optimal, {ROUND_TRIP_LIMIT}", y=ROUND_TRIP_LIMIT),),
        ),
    ]


EXPERIMENT = Experiment(
    name="ipc/path",
    title="The path of a null IPC",
    source="Counts of this kernel, against another kernel counted the same way; W03 section 4.2 for the cycles",
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
    plots=plots,
    checks=(
        named("one_way", PAIRS, ("instructions", "stub", "entries", "other_entries")),
        named("one_way", PAIRS, ("table_base_writes", "domain_writes", "pid_writes", "flushes")),
        named("round_trip", PAIRS, "cycles"),
    ),
    story=(
        "A server sends an empty message to a client and waits for the empty answer. What one direction of that takes"
        f" is counted here, instruction by instruction, for {', '.join(TITLES.values())}. At different addresses each"
        " space has a megabyte of its own; the same address is below 32 MB, where the processor relocates by its PID"
        " register."
    ),
    cannot_say=(
        (
            "The counts are exact for this kernel on QEMU's instruction set; they are not a prediction of time on any"
            " processor."
        ),
        (
            "The modelled cycles charge each class of instruction a fixed cost, and TLBs and caches what the machine"
            " file says; the write buffer makes the processor wait when it is full or drained."
        ),
        (
            "The client and the server are a few instructions each, written in assembly. A program that does something"
            " between two calls has more in TLBs and caches."
        ),
    ),
)
