# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/catwc`: a text through chained cats to wc, natively and with Linux as a server whose programs are in large
or in small spaces.
"""

import random
from collections.abc import Iterator, Mapping

from cobnut import published, sheets, tables
from cobnut.checks import Check, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, NATIVE, SMALL, WARMUP, Peer, Work
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PEERS = (NATIVE, SMALL, ALL)
NAME, FILE = "catwc", "text"
PIPES = "/proc/sys/fs/pipe-user-pages-soft"  # a user who has more pages in pipes gets new ones of two pages only
MB = 1_000_000
SEED = 1
COUNTED = {
    "cycles": "modelled cycles",
    "itlb_misses": "misses",
    "dtlb_misses": "misses",
    "trace_misses": "misses",
    "cr3_writes": "writes",
    "limit_faults": "faults",
}
# what small spaces save, as published
SAVED = {
    "itlb_misses": published.U02_CATWC_ITLB_SAVED,
    "dtlb_misses": published.U02_CATWC_DTLB_SAVED,
    "cycles": published.U02_CATWC_TIME_SAVED,
}


def run(lab: Lab) -> Result:
    """Boots each kernel with the pipeline, twice: the second time it is measured."""
    pipeline = " | ".join([f"cat {FILE}", *["cat"] * (lab.settings["cats"] - 1), "wc"])
    turns, loops = linux_programs.in_turns(NAME, pipeline)
    command = f"echo 1 > {PIPES}; su user -c '{turns}'"
    size = lab.settings["kilobytes"] * 1000
    work = Work(None, command, loops, WARMUP, files={FILE: text(size)})
    peers = linux_programs.measure(lab, work, PEERS)
    checks = list(judge_savings(peers))
    checks += linux_programs.judge_peers(peers, 1)
    return linux_programs.result(lab, peers, series_of(peers), checks)


def text(size: int) -> bytes:
    """Lines of words, the same each time."""
    chance = random.Random(SEED)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(1, 9))) for _ in range(1000)]
    made: list[str] = []
    have = 0
    while have < size:
        made.append(" ".join(chance.choices(words, k=chance.randint(4, 12))) + "\n")
        have += len(made[-1])
    return "".join(made).encode()[:size]


def judge_savings(peers: Mapping[str, Peer]) -> Iterator[Check]:
    """What programs in small spaces save of what they take in large ones."""
    large, small = (peers[name].loops[NAME] for name in (SMALL, ALL))
    for counter, share in SAVED.items():
        before, after = large.count(counter), small.count(counter)
        yield SHEET.judge(f"saved.{counter}", 1 - after / before, reproduces(share), before=before, after=after)


def series_of(peers: Mapping[str, Peer]) -> list[Series]:
    names = list(peers)
    turns = [peer.loops[NAME] for peer in peers.values()]
    return [Series(what, unit, names, [one.count(what) for one in turns]) for what, unit in COUNTED.items()]


def show(result: Result) -> None:
    tables.show_rows(result, "a pipeline", list(COUNTED))


EXPERIMENT = Experiment(
    name="uhlig02/catwc",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "kilobytes": Setting(10_000, 500, range(1, 50_001), "of text"),
        "cats": Setting(3, 3, range(1, 20), "before wc"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
