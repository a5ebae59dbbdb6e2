# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/path`: what a null IPC consists of, for each pair of space kinds.

Instruction counts, segment loads and footprints are counted, not modelled: they are the same on every run. Only the
cycles come from the machine model.
"""

from dataclasses import dataclass

from cobnut import published
from cobnut.checks import Check, KnownMiss, Rule, at_most, below, exactly, judge, named, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, Region, measure, raise_if_all_failed
from cobnut.machines import Machine
from cobnut.missing import known, total
from cobnut.plots import Bars, Ledger, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

PAIRS = ("large_large", "small_small", "large_small", "intra")
SHARES = ("kernel", "stub", "trampoline")
COUNTED = (
    *("cr3_writes", "segment_loads", "entries_sysenter", "entries_int", "entries_fault", "exits_iret"),
    "cycles",
)
FOOTPRINTS = ("code_lines", "data_lines", "code_pages", "data_pages")

# a switch of page tables happens between large spaces and nowhere else
CR3_WRITES = {"large_large": 1, "small_small": 0, "large_small": 0, "intra": 0}
INSTRUCTION_LIMITS = {"large_large": 60, "small_small": 65}
SEGMENT_LOAD_LIMITS = {"small_small": 6}
CODE_LINE_LIMITS = {"small_small": 13}
DATA_LINE_LIMITS = {"small_small": 16}
PUBLISHED_PAIR = "small_small"  # the only one of which U02 states a round trip
ADDED_UP = published.U02_ENTRY_EXIT + published.U02_SEGMENT_RELOAD + published.U02_IPC_PATH
KNOWN_MISSES = {
    f"one_way.{PUBLISHED_PAIR}.published": KnownMiss(
        440,
        ADDED_UP,
        f"U02's {published.U02_SMALL_ROUND_TRIP} contradict the costs that it states one by one, of which the model is"
        f" made: {published.U02_ENTRY_EXIT} for entry and exit, {published.U02_SEGMENT_RELOAD} for segment registers"
        f" and about {published.U02_IPC_PATH} for the path are {ADDED_UP} each way and {2 * ADDED_UP:,} for a round"
        f" trip; without the segment registers they are {2 * (ADDED_UP - published.U02_SEGMENT_RELOAD)}.",
    )
}
PEER = "the best peer (Pistachio with small spaces)"


@dataclass(frozen=True)
class Path:
    """One pair's IPC: halves of the median round trip, and the footprint of a steady one."""

    pair: str
    region: Region | None
    sysenter: bool = True

    def count(self, counter: str) -> float | None:
        return self.region.one_way(counter) if self.region else None

    @property
    def instructions(self) -> float | None:
        shares = [self.count(f"instructions_{share}") for share in SHARES]
        return total(shares)

    @property
    def cycles_an_instruction(self) -> float | None:
        """The mean cost of this path's ordinary instructions, user code included."""
        if self.region is None:
            return None
        count = total(self.region.mean(f"instructions_{share}") for share in (*SHARES, "user"))
        return self.region.ledger["instructions"] / self.region.rounds / count if count else None

    def footprint(self, what: str) -> float | None:
        return self.region.footprint.get(what) if self.region else None


def run(lab: Lab) -> Result:
    """Boots one ping-pong for each pair and judges its path."""
    chosen = lab.settings
    specs = [
        PingPong(
            pair,
            chosen["rounds"],
            chosen["warmup"],
            chosen["slot"],
            chosen["small"],
            words=chosen["words"],
            sysenter=bool(chosen["sysenter"]),
        )
        for pair in PAIRS
    ]
    measurements = measure(lab, specs)
    raise_if_all_failed(measurements)
    paths = {m.spec.pair: Path(m.spec.pair, m.at(0), m.spec.sysenter) for m in measurements}
    checks = [check for path in paths.values() for check in judge_path(path, lab.machine)]
    return lab.result(series_of(paths), checks, ledger_of(measurements))


def judge_path(path: Path, machine: Machine) -> list[Check]:
    """All checks of one pair."""
    way, trip = f"one_way.{path.pair}", f"round_trip.{path.pair}"
    peer = published.PISTACHIO[path.pair]
    checks = [judge(f"{way}.instructions", path.instructions, "instructions", *_instruction_rule(path.pair))]
    for share in SHARES:
        checks.append(
            judge(f"{way}.{share}", path.count(f"instructions_{share}"), "instructions", *_share_rule(share, path))
        )
    checks += [
        judge(
            f"{way}.cr3_writes",
            path.count("cr3_writes"),
            "writes",
            exactly(CR3_WRITES[path.pair]),
            "Only a switch between large spaces changes the page directory.",
        ),
        judge(
            f"{way}.segment_loads",
            path.count("segment_loads"),
            "loads",
            at_most(SEGMENT_LOAD_LIMITS.get(path.pair, peer.segment_loads)),
            f"Loads of segment registers, a far return counting as one; {PEER} has {peer.segment_loads:g}.",
        ),
        judge(
            f"{way}.entries_sysenter",
            path.count("entries_sysenter"),
            "entries",
            exactly(1 if path.sysenter else 0),
            "One system call each way, by sysenter unless the processor lacks it.",
        ),
        judge(
            f"{way}.entries_int",
            path.count("entries_int"),
            "entries",
            exactly(0 if path.sysenter else 1),
            "No entry by a software interrupt where there is sysenter.",
        ),
        judge(
            f"{way}.entries_fault",
            path.count("entries_fault"),
            "entries",
            exactly(0),
            "No page fault in a steady round trip.",
        ),
        judge(
            f"{way}.exits_iret",
            path.count("exits_iret"),
            "exits",
            exactly(0 if path.sysenter else 1),
            "The way back is sysexit and the trampoline, or the gate's iret.",
        ),
        judge(
            f"{way}.cycles",
            path.count("cycles"),
            "modelled cycles",
            *_cycles_rule(path, machine),
        ),
    ]
    if path.pair == PUBLISHED_PAIR and path.sysenter:
        checks.append(
            judge(
                f"{way}.published",
                path.count("cycles"),
                "modelled cycles",
                reproduces(published.U02_SMALL_ROUND_TRIP / 2),
                _beside_the_published(path),
            )
        )
    limits = {"code_lines": CODE_LINE_LIMITS.get(path.pair), "data_lines": DATA_LINE_LIMITS.get(path.pair)}
    for what in FOOTPRINTS:
        checks.append(
            judge(
                f"{trip}.{what}",
                path.footprint(what),
                what.replace("_", " "),
                *_footprint_rule(what, path, limits.get(what)),
            )
        )
    return checks


def peer_cycles(path: Path, machine: Machine) -> float | None:
    """Modelled cycles, one way, of a path with the peer's counts, everything else being as in ours.

    The same kernel entry and exit, the same user code and the same warm caches are granted to it. It differs by its
    instructions, each at the mean cost of ours, and by its segment loads and CR3 writes at the machine file's costs;
    for what a CR3 write flushes it pays nothing.
    """
    ours, each = path.count("cycles"), path.cycles_an_instruction
    counts = known((path.instructions, path.count("segment_loads"), path.count("cr3_writes")))
    if ours is None or each is None or counts is None:
        return None
    peer = published.PISTACHIO[path.pair]
    costs = (each, machine["segments.reload_cycles"] / machine["segments.loads"], machine["address_space.cr3_cycles"])
    differences = (peer.instructions - counts[0], peer.segment_loads - counts[1], peer.cr3_writes - counts[2])
    return ours + sum(cost * difference for cost, difference in zip(costs, differences, strict=True))


def series_of(paths: dict[str, Path]) -> list[Series]:
    """The counts as rows of bars over the pairs, with the peer's beside ours."""
    pairs = list(paths)
    rows = [
        Series(
            f"one_way.{share}", "instructions", pairs, [path.count(f"instructions_{share}") for path in paths.values()]
        )
        for share in SHARES
    ]
    rows.append(
        Series("one_way.peer", "instructions", pairs, [published.PISTACHIO[pair].instructions for pair in pairs])
    )
    rows.append(
        Series("one_way.segment_loads", "loads", pairs, [path.count("segment_loads") for path in paths.values()])
    )
    rows += [
        Series(f"round_trip.{what}", what.replace("_", " "), pairs, [path.footprint(what) for path in paths.values()])
        for what in FOOTPRINTS
    ]
    return rows


def ledger_of(measurements: list[Measurement]) -> list[LedgerRow]:
    """Where the modelled cycles of each pair went."""
    return [
        region.row(measurement.spec.pair) for measurement in measurements for region in measurement.regions.values()
    ]


def plots(result: Result) -> list[Plot]:
    shares = {f"one_way.{share}": share for share in SHARES}
    best = published.PISTACHIO["small_small"].instructions
    return [
        Bars(
            "Instructions of a null IPC, one way",
            "pair of spaces",
            "instructions",
            shares,
            caption=(
                "User code outside the system-call stub is left out. The dashed line is the best other kernel with"
                " small spaces."
            ),
            marks=(Mark(f"best peer, small to small: {best:g}", y=best),),
        ),
        Bars(
            "64-byte code lines of a round trip",
            "pair of spaces",
            "lines",
            {"round_trip.code_lines": "code lines"},
            marks=(
                Mark(f"best peer, small to small: {published.PISTACHIO_CODE_LINES}", y=published.PISTACHIO_CODE_LINES),
            ),
        ),
        Bars(
            "64-byte data lines of a round trip",
            "pair of spaces",
            "lines",
            {"round_trip.data_lines": "data lines"},
            marks=(
                Mark(f"best peer, small to small: {published.PISTACHIO_DATA_LINES}", y=published.PISTACHIO_DATA_LINES),
            ),
        ),
        Ledger(
            "Where the modelled cycles of a round trip go",
            "pair of spaces",
            "modelled cycles",
            {pair: pair for pair in PAIRS},
            wide=True,
            marks=(Mark("U02: small spaces, 550", y=published.U02_SMALL_ROUND_TRIP),),
        ),
    ]


def _instruction_rule(pair: str) -> tuple[Rule, str]:
    peer = published.PISTACHIO[pair].instructions
    if pair in INSTRUCTION_LIMITS:
        return (
            at_most(INSTRUCTION_LIMITS[pair]),
            (
                f"Kernel, stub and trampoline of one null IPC; {PEER} has {peer:g}, seL4"
                f" {published.SEL4_KERNEL_INSTRUCTIONS} in its kernel alone."
            ),
        )
    return below(peer), f"Kernel, stub and trampoline of one null IPC, against {PEER} with {peer:g}."


def _share_rule(share: str, path: Path) -> tuple[Rule, str]:
    if share == "stub":
        return at_most(8), "The system-call stub in the kernel interface page; the peer's has 8 instructions."
    if share == "trampoline":
        return at_most(5), "User-mode code of the kernel that returns after sysexit; the peer's has 5 instructions."
    peer = published.PISTACHIO[path.pair].instructions - 8
    return below(peer), f"The kernel's part; {PEER} needs {peer:g} outside its stub."


def _cycles_rule(path: Path, machine: Machine) -> tuple[Rule | None, str]:
    limit = peer_cycles(path, machine)
    peer = published.PISTACHIO[path.pair]
    if limit is None:
        return None, "The peer's cost needs our counts as well."
    return below(limit), (
        f"{limit:.1f} is the modelled cost of a path with Pistachio's {peer.instructions:g} instructions,"
        f" {peer.segment_loads:g} segment loads and {peer.cr3_writes:g} CR3 writes at the costs of {machine.name}, with"
        " our entry, exit, user code and warm caches."
    )


def _beside_the_published(path: Path) -> str:
    """What the modelled cycles of a path between small spaces consist of."""
    modelled = [
        path.region.ledger.get(name, 0) / path.region.rounds / 2 if path.region else 0
        for name in ("kernel_entry_exit", "segment_reload", "instructions")
    ]
    return (
        f"Half of U02's {published.U02_SMALL_ROUND_TRIP} for a round trip. Modelled, one way: {modelled[0]:.0f} for"
        f" entry and exit, {modelled[1]:.0f} for segment registers and {modelled[2]:.0f} for instructions, user code"
        " included."
    )


def _footprint_rule(what: str, path: Path, limit: float | None) -> tuple[Rule, str]:
    whole = "Distinct physical lines of 64 bytes" if "lines" in what else "Distinct physical pages of 4 KB"
    if limit is not None:
        peer = published.PISTACHIO_CODE_LINES if what == "code_lines" else published.PISTACHIO_DATA_LINES
        return at_most(limit), f"{whole} touched in one steady round trip, user code included; {PEER} touches {peer}."
    kernel = path.footprint(f"kernel_{what}")
    at_least = Rule(
        f"no fewer than the kernel's own {kernel}", lambda value: kernel is not None and value >= max(kernel, 1)
    )
    return at_least, f"{whole} touched in one steady round trip, user code included. Recorded; no target is set for it."


EXPERIMENT = Experiment(
    name="ipc/path",
    title="The path of a null IPC",
    source="Counts of this kernel, against other kernels counted the same way",
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    needs=("segments.reload_cycles", "segments.loads"),
    settings={
        "rounds": Setting(100, 20, pingpong.ROUNDS, "round trips measured"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "round trips before the measured ones"),
        "slot": Setting(16, 16, pingpong.SLOTS_MB, "size of a small space, MB"),
        "small": Setting(512, 512, pingpong.AREAS_MB, "size of the small-space area, MB"),
        "words": Setting(0, 0, pingpong.WORDS, "untyped words in a message"),
        "sysenter": Setting(1, 1, range(2), "0: system calls by int, as on processors without sysenter"),
    },
    run=run,
    plots=plots,
    checks=(
        named("one_way", PAIRS, ("instructions", *SHARES, *COUNTED)),
        f"one_way.{PUBLISHED_PAIR}.published",
        named("round_trip", PAIRS, FOOTPRINTS),
    ),
    known_misses=KNOWN_MISSES,
    story=(
        "A client sends an empty message to a server and waits for the empty answer. What one direction of that takes"
        " is counted here, instruction by instruction, for four pairs of address spaces: two large ones, two small"
        " ones, a large client with a small server, and two threads in one space."
    ),
    cannot_say=(
        (
            "The counts are exact for this kernel on QEMU's instruction set; they are not a prediction of time on any"
            " processor."
        ),
        (
            "The modelled cycles charge each class of instruction a fixed cost: overlap between instructions, branch"
            " prediction and store forwarding of a real Pentium 4 are not in them."
        ),
        (
            "The peers' counts were taken with their own benchmark loops and message stubs; the loops are left out on"
            " both sides."
        ),
    ),
)
