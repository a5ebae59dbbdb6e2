# SPDX-License-Identifier: GPL-2.0-or-later
"""`haertig97/table4`: what it takes to pass bytes from one program to another, in three ways: a pipe at user level, a
synchronous call with the bytes, and a synchronous call that maps their pages. H97's table 4, its rows (2) to (4).

A latency is a round trip with one byte, or of a page that is mapped and taken back; a bandwidth is of blocks of 64 KB.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from cobnut import published, sheets, tables
from cobnut.checks import Check, at_least, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, pingpong
from cobnut.experiments.pingpong import Measurement, PingPong, measure_all
from cobnut.missing import ratio
from cobnut.published import H97_BLOCK_BYTES
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

SPACES = {"large": "large_large", "small": "small_small"}
PIPE, RPC, MAP = "pipe", "rpc", "map"
WAYS = (PIPE, RPC, MAP)  # by the guest's numbers of cases
LATENCY, BANDWIDTH = "latency", "bandwidth"
MEGABYTE = 1 << 20  # lmbench's
MOST_BLOCKS = 800  # 50 MB
CAPACITIES = (4, 8, 16, 32, 64, 128, 256)
MAP_OVER_RPC, PIPE_OVER_RPC = 20, 4
# of a store that no buffer hides: in a long copy each comes directly behind another. PDM1: a bus cycle of the least
# length is two clocks of the bus, each of which is two of the processor's
STORE = "memory.store_cycles"
STORE_CYCLES = "4"


@dataclass(frozen=True)
class Exchange(PingPong):
    """One boot of the program `exchange`, whose cases are the ways. `rounds` are blocks if `what` is BANDWIDTH."""

    program: ClassVar[str] = "exchange"

    what: str = LATENCY
    capacity: int = 64  # KB of a pipe's buffer

    @property
    def arguments(self) -> str:
        return (
            f"pair={self.pair} what={self.what} rounds={self.rounds} warmup={self.warmup} capacity={self.capacity}"
            f" slot={self.slot}"
        )

    @property
    def cases(self) -> list[int]:
        return list(range(len(WAYS)))


@dataclass(frozen=True)
class Way:
    """What was measured of one way between spaces of one kind."""

    number: int
    latency: Measurement
    bandwidth: Measurement
    clock_mhz: float

    @property
    def us(self) -> float | None:
        """Of a round trip: the median, since a timer interrupt is in few."""
        return ratio(self.latency.median(self.number, "cycles"), self.clock_mhz)

    @property
    def mb_s(self) -> float | None:
        """Of all blocks, interrupts included."""
        us = ratio(self.bandwidth.cycles(self.number), self.clock_mhz)
        return ratio(H97_BLOCK_BYTES * 1e6 / MEGABYTE, us)

    @property
    def failure(self) -> str:
        return " ".join(one.failure for one in (self.latency, self.bandwidth) if one.failure)


Ways = Mapping[str, Mapping[str, Way]]  # by kind of space and way


def run(lab: Lab) -> Result:
    """Boots twice for each kind of space: for the latencies, and for the bandwidths."""
    chosen = lab.settings
    long_copies = ((STORE, STORE_CYCLES),) if STORE in lab.machine.parameters and STORE not in lab.overrides else ()
    specs = {
        (space, what): Exchange.of(
            lab, pair, what=what, rounds=rounds, capacity=chosen["capacity"], overrides=overrides
        )
        for space, pair in SPACES.items()
        for what, rounds, overrides in (
            (LATENCY, chosen["rounds"], ()),
            (BANDWIDTH, chosen["blocks"], long_copies),
        )
    }
    measured = measure_all(lab, specs)
    clock = float(lab.machine.parameters["processor.clock_mhz"].value)
    ways = {
        space: {
            name: Way(number, measured[space, LATENCY], measured[space, BANDWIDTH], clock)
            for number, name in enumerate(WAYS)
        }
        for space in SPACES
    }
    regions = [
        region.row(f"{space}.{what}.{WAYS[number]}")
        for (space, what), one in measured.items()
        for number, region in one.regions.items()
    ]
    return lab.result(series_of(ways), [check for space in ways for check in judge(space, ways[space])], regions)


def judge(space: str, ways: Mapping[str, Way]) -> Iterator[Check]:
    """The table's numbers, and how the ways compare."""
    for name, way in ways.items():
        least, most = published.H97_TABLE4_MB_S[name]
        rule = reproduces(least, (least, most), f"table 4: {least}-{most}")
        yield SHEET.judge(f"{space}.{name}.us", way.us, reproduces(published.H97_TABLE4_US[name]), way.failure)
        yield SHEET.judge(f"{space}.{name}.mb_s", way.mb_s, rule, way.failure)
    faster, slower = ways[RPC], ways[PIPE]
    yield SHEET.judge(f"{space}.map_over_rpc", ratio(ways[MAP].mb_s, faster.mb_s), at_least(MAP_OVER_RPC))
    yield SHEET.judge(f"{space}.pipe_over_rpc", ratio(slower.us, faster.us), at_least(PIPE_OVER_RPC))


def series_of(ways: Ways) -> Iterator[Series]:
    """Each number over the ways, beside the paper's; and what a round trip and a block consist of."""
    for space, found in ways.items():
        yield Series(f"{space}.us", "us, modelled", list(WAYS), [way.us for way in found.values()])
        yield Series(f"{space}.mb_s", "MB/s, modelled", list(WAYS), [way.mb_s for way in found.values()])
        for what in (LATENCY, BANDWIDTH):
            for share in (*pingpong.SHARES, "user"):
                counts = [getattr(way, what).median(way.number, f"instructions_{share}") for way in found.values()]
                yield Series(f"{space}.{what}.{share}", "instructions", list(WAYS), counts)
    yield Series("published.us", "us", list(WAYS), [published.H97_TABLE4_US[name] for name in WAYS])
    for place, name in enumerate(("least", "most")):
        bounds = [published.H97_TABLE4_MB_S[way][place] for way in WAYS]
        yield Series(f"published.mb_s.{name}", "MB/s", list(WAYS), bounds)


def show(result: Result) -> None:
    tables.show_rows(result, "latency", ["large.us", "small.us", "published.us"])
    tables.show_rows(result, "bandwidth", ["large.mb_s", "small.mb_s", "published.mb_s.least", "published.mb_s.most"])


EXPERIMENT = Experiment(
    name="haertig97/table4",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={
        "rounds": Setting(100, 20, pingpong.ROUNDS, "round trips measured"),
        "warmup": Setting(10, 10, pingpong.WARMUP, "round trips, or blocks, before the measured ones"),
        "blocks": Setting(32, 8, range(4, MOST_BLOCKS + 1), "blocks of 64 KB measured; 800 are the paper's 50 MB"),
        "capacity": Setting(64, 64, CAPACITIES, "KB of a pipe's buffer"),
        "slot": pingpong.SPACES["slot"],
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
