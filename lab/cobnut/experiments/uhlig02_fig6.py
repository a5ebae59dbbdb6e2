# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig6`: two processes of Linux that send a byte to and fro through pipes, over the working set of the first:
natively, and with Linux as a server in a small space and programs in large and in small ones.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cobnut import published, sheets, tables
from cobnut.checks import Check, exactly, no_more_than, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, COUNTED, NATIVE, SHARES, SMALL, Loop, Peer, Work
from cobnut.plots import Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PROGRAM = "rounds"
PEERS = (NATIVE, SMALL, ALL)
# the processes' spaces are switched by page tables, or by segments where all spaces are small
CR3_WRITES = {NATIVE: 2, SMALL: 2, ALL: 0}
COUNTERS = dict(COUNTED)


@dataclass(frozen=True)
class Part:
    """One kind of working set: what the program calls it, its sizes, those of a quick run, and the largest of which is
    said that it fits.
    """

    name: str
    title: str
    x_title: str
    sizes: tuple[int, ...]
    quick: tuple[int, ...]
    fits: int

    def loop(self, size: int) -> str:
        return f"{self.name}_{size}"


PARTS = (
    Part(
        "nops",
        "Trace cache",
        "working set: bytes of nops",
        (0, 2048, 4096, 6144, 8192, 12_288, 15_000),
        (0, 4096, 12_288),
        4096,
    ),
    Part(
        "jumps",
        "Instruction TLB",
        f"working set: pages, a jump of {published.U02_JUMP_DISTANCE} bytes each",
        (8, 16, 32, 48, 64, 96, 128, 200),
        (16, 64, 128),
        16,
    ),
    Part(
        "reads",
        "Data TLB",
        f"working set: pages, a read every {published.U02_READ_DISTANCE} bytes",
        (8, 16, 32, 48, 64, 96, 120),
        (16, 64, 120),
        16,
    ),
)


def run(lab: Lab) -> Result:
    """Boots each kernel with the program, which has a loop for each working set."""
    warmup, turns = lab.settings["warmup"], lab.settings["rounds"]
    points = [(part, size) for part in PARTS for size in sizes_of(part, lab)]
    loops = tuple(Loop(part.loop(size), f"turn_{n}", f"turn_{n}_done") for n, (part, size) in enumerate(points))
    words = " ".join(f"{part.name} {size}" for part, size in points)
    command = f"./{PROGRAM} {lab.settings['before']} {warmup + turns} {words}"
    peers = linux_programs.measure(lab, Work(PROGRAM, command, loops, warmup), PEERS)
    checks = list(judge_gains(lab, peers))
    for peer in peers.values():
        checks += linux_programs.judge_peer(peer, turns)
        writes = peer.loops[PARTS[0].loop(0)].count("cr3_writes")
        checks.append(SHEET.judge(f"{peer.name}.cr3_writes", writes, exactly(CR3_WRITES[peer.name])))
    return linux_programs.result(lab, peers, series_of(lab, peers), checks)


def sizes_of(part: Part, lab: Lab) -> tuple[int, ...]:
    return part.quick if lab.quick else part.sizes


def cycles_of(lab: Lab, part: Part, peer: Peer) -> dict[int, float]:
    """Modelled cycles of a round, by size."""
    return {size: peer.loops[part.loop(size)].cycles for size in sizes_of(part, lab)}


def judge_gains(lab: Lab, peers: Mapping[str, Peer]) -> Iterator[Check]:
    """Small spaces against large ones, and against Debian's kernel while the working set fits."""
    gains = [gain for part in PARTS for gain in gains_of(lab, part, peers).values()]
    yield SHEET.judge("gain.least", min(gains), reproduces(published.U02_PIPE_GAIN_LEAST))
    yield SHEET.judge("gain.most", max(gains), reproduces(published.U02_PIPE_GAIN_MOST))
    for part in PARTS:
        native, small = (cycles_of(lab, part, peers[name]) for name in (NATIVE, ALL))
        for size in (size for size in native if size <= part.fits):
            values = {"ours": small[size], "native": native[size]}
            times = small[size] / native[size]
            yield SHEET.judge(f"{part.name}.{size}", times, no_more_than(1), **values)


def gains_of(lab: Lab, part: Part, peers: Mapping[str, Peer]) -> dict[int, float]:
    """Large programs over small ones, by size."""
    large, small = (cycles_of(lab, part, peers[name]) for name in (SMALL, ALL))
    return {size: large[size] / small[size] for size in large}


def series_of(lab: Lab, peers: Mapping[str, Peer]) -> list[Series]:
    """The curves, what small spaces gain, and what is behind both; of each a row over the sizes."""
    found = []
    for part in PARTS:
        sizes = list(sizes_of(part, lab))
        for name, peer in peers.items():
            turns = [peer.loops[part.loop(size)] for size in sizes]
            found.append(Series(f"{part.name}.{name}", "modelled cycles", sizes, [one.cycles for one in turns]))
            for counter, unit in COUNTED[1:]:
                row = [one.count(counter) for one in turns]
                found.append(Series(f"{part.name}.{name}.{counter}", unit, sizes, row))
            for share in SHARES:
                row = [one.shares[share] for one in turns]
                found.append(Series(f"{part.name}.{name}.{share}", "instructions", sizes, row))
        gains = gains_of(lab, part, peers)
        found.append(Series(f"{part.name}.gain", "large over small", sizes, [gains[size] for size in sizes]))
    return found


def show(result: Result) -> None:
    for part in PARTS:
        rows = [f"{part.name}.{name}" for name in PEERS]
        behind = [f"{part.name}.{name}.{what}" for name in PEERS for what in (*list(COUNTERS)[1:], *SHARES)]
        tables.show_rows(result, f"{part.title}, {part.x_title}", [*rows, f"{part.name}.gain", *behind])


def plots(result: Result) -> list[Plot]:
    return [plot for part in PARTS for plot in SHEET.drawn(part=part.name, title=part.title, x_title=part.x_title)]


EXPERIMENT = Experiment(
    name="uhlig02/fig6",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(100, 20, range(10, 1_001), "rounds measured with each working set"),
        "warmup": Setting(10, 6, range(1_001), "rounds with each working set before the measured ones"),
        "before": Setting(1_000, 500, range(1, 10_001), "rounds before all others, in which spaces get slots"),
    },
    run=run,
    plots=plots,
    show=show,
)
