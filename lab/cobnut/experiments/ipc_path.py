# SPDX-License-Identifier: GPL-2.0-or-later
"""`ipc/path`: what a null IPC consists of, for each pair of space kinds.

Instruction counts, segment loads and footprints are counted, not modelled: they are the same on every run. Only the
cycles come from the machine model.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cobnut import published, sheets
from cobnut.checks import Check, Rule, at_most, below, exactly, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import SHARES, Measurement, PingPong, measure_all
from cobnut.machines import Machine
from cobnut.missing import known, ratio
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PAIRS = ("large_large", "small_small", "large_small", "intra")
FOOTPRINTS = ("code_lines", "data_lines", "code_pages", "data_pages")

# a switch of page tables happens between large spaces and nowhere else
CR3_WRITES = {"large_large": 1, "small_small": 0, "large_small": 0, "intra": 0}
INSTRUCTION_LIMITS = {"large_large": 57, "small_small": 58}
SHARE_LIMITS = {"stub": 8, "trampoline": 5}
SEGMENT_LOAD_LIMITS = {"small_small": 6}
FOOTPRINT_LIMITS = {("small_small", "code_lines"): 13, ("small_small", "data_lines"): 16}
PUBLISHED_PAIR = "small_small"  # the only one of which U02 states a round trip
STUB_OF_PEER = 8


@dataclass(frozen=True)
class Path:
    """One pair's IPC: halves of the median round trip, and the footprint of a steady one."""

    pair: str
    measured: Measurement

    def count(self, *counters: str) -> float | None:
        return self.measured.one_way(0, *counters)

    @property
    def instructions(self) -> float | None:
        return self.count(*(f"instructions_{share}" for share in SHARES))

    @property
    def cycles_an_instruction(self) -> float | None:
        """The mean cost of this path's ordinary instructions, user code included."""
        return ratio(
            self.spent("instructions"), self.measured.mean(0, *(f"instructions_{one}" for one in (*SHARES, "user")))
        )

    def spent(self, category: str) -> float:
        """Modelled cycles of a round trip."""
        region = self.measured.at(0)
        return region.ledger.get(category, 0) / region.rounds if region else 0

    def footprint(self, what: str) -> float | None:
        region = self.measured.at(0)
        return region.footprint.get(what) if region else None


def run(lab: Lab) -> Result:
    """Boots one ping-pong for each pair and judges its path."""
    more = {"words": lab.settings["words"], "sysenter": bool(lab.settings["sysenter"])}
    measured = measure_all(lab, {pair: PingPong.of(lab, pair, **more) for pair in PAIRS})
    paths = {pair: Path(pair, one) for pair, one in measured.items()}
    checks = [check for path in paths.values() for check in judge_path(path, lab.machine)]
    ledger = [region.row(pair) for pair, one in measured.items() for region in one.regions.values()]
    return lab.result(series_of(paths), checks, ledger)


def judge_path(path: Path, machine: Machine) -> Iterator[Check]:
    """All checks of one pair."""
    pair, way, peer = path.pair, f"one_way.{path.pair}", published.PISTACHIO[path.pair]
    sysenter, limit = int(path.measured.spec.sysenter), INSTRUCTION_LIMITS.get(path.pair)
    yield SHEET.judge(
        f"{way}.instructions",
        path.instructions,
        at_most(limit) if limit else below(peer.instructions),
        peer=peer.instructions,
        sel4=published.SEL4_KERNEL_INSTRUCTIONS,
    )
    for share in SHARES:
        outside = peer.instructions - STUB_OF_PEER
        rule = at_most(SHARE_LIMITS[share]) if share in SHARE_LIMITS else below(outside)
        yield SHEET.judge(f"{way}.{share}", path.count(f"instructions_{share}"), rule, peer=outside)
    rules = {
        "cr3_writes": exactly(CR3_WRITES[pair]),
        "segment_loads": at_most(SEGMENT_LOAD_LIMITS.get(pair, peer.segment_loads)),
        "entries_sysenter": exactly(sysenter),
        "entries_int": exactly(1 - sysenter),
        "entries_fault": exactly(0),
        "exits_iret": exactly(1 - sysenter),
    }
    for counter, rule in rules.items():
        yield SHEET.judge(f"{way}.{counter}", path.count(counter), rule, peer=peer.segment_loads)
    yield judge_cycles(path, machine)
    if pair == PUBLISHED_PAIR and sysenter:
        parts = {name: path.spent(name) / 2 for name in ("kernel_entry_exit", "segment_reload", "instructions")}
        whole = published.U02_SMALL_ROUND_TRIP
        yield SHEET.judge(f"{way}.published", path.count("cycles"), reproduces(whole / 2), whole=whole, **parts)
    for what in FOOTPRINTS:
        yield judge_footprint(path, what)


def judge_cycles(path: Path, machine: Machine) -> Check:
    """Against the peer on this machine."""
    limit, peer = peer_cycles(path, machine), published.PISTACHIO[path.pair]
    name, cycles = f"one_way.{path.pair}.cycles", path.count("cycles")
    if limit is None:
        return SHEET.judge(name, cycles, None, told="The peer's cost needs our counts as well.")
    told = SHEET.texts["peer_cycles"].format(limit=limit, peer=peer, machine=machine.name)
    return SHEET.judge(name, cycles, below(limit), told=told)


def judge_footprint(path: Path, what: str) -> Check:
    """Against the peer's where it is known, otherwise only recorded."""
    limit, kernel = FOOTPRINT_LIMITS.get((path.pair, what)), path.footprint(f"kernel_{what}")
    whole = "lines of 64 bytes" if "lines" in what else "pages of 4 KB"
    if limit is not None:
        peer = published.PISTACHIO_CODE_LINES if what == "code_lines" else published.PISTACHIO_DATA_LINES
        rule, told = at_most(limit), SHEET.texts["peer_footprint"].format(peer=peer)
    else:
        rule = Rule(
            f"no fewer than the kernel's own {kernel}", lambda value: kernel is not None and value >= max(kernel, 1)
        )
        told = SHEET.texts["recorded"]
    return SHEET.judge(f"round_trip.{path.pair}.{what}", path.footprint(what), rule, whole=whole, told=told)


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

    def row(name: str, unit: str, values: Iterable[float | None]) -> Series:
        return Series(name, unit, list(paths), list(values))

    found = list(paths.values())
    return [
        *(
            row(f"one_way.{one}", "instructions", (path.count(f"instructions_{one}") for path in found))
            for one in SHARES
        ),
        row("one_way.peer", "instructions", (published.PISTACHIO[path.pair].instructions for path in found)),
        row("one_way.segment_loads", "loads", (path.count("segment_loads") for path in found)),
        *(
            row(f"round_trip.{one}", one.replace("_", " "), (path.footprint(one) for path in found))
            for one in FOOTPRINTS
        ),
    ]


EXPERIMENT = Experiment(
    name="ipc/path",
    sheet=SHEET,
    kind=Kind.REPRODUCTION,
    machine="pentium4-1400",
    needs=("segments.reload_cycles", "segments.loads"),
    settings={
        "rounds": Setting(100, 20, pingpong.ROUNDS, "round trips measured"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "round trips before the measured ones"),
        **pingpong.SPACES,
        "words": Setting(0, 0, pingpong.WORDS, "untyped words in a message"),
        "sysenter": Setting(1, 1, range(2), "0: system calls by int, as on processors without sysenter"),
    },
    run=run,
    plots=SHEET.all_plots,
)
