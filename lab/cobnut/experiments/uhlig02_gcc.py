# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/gcc`: a file that Debian's gcc compiles, with Linux as a server whose programs are in large or in small
spaces: small ones help nothing.
"""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets
from cobnut.checks import Check, reproduces
from cobnut.experiments import Experiment, Kind, Lab, compiling
from cobnut.experiments.linux_programs import ALL, NATIVE, SMALL, Peer
from cobnut.results import Result

SHEET = sheets.beside(__file__)

PEERS = (NATIVE, SMALL, ALL)
# what small spaces save of what large ones take, as published
RULES = {
    "cycles": reproduces(0, published.U02_GCC_TIME, "0.52 s in each configuration, told to 0.01 s"),
    "itlb_misses": reproduces(0, published.U02_GCC_MISSES, "reduced by no more than 3 %"),
    "dtlb_misses": reproduces(0, published.U02_GCC_MISSES, "reduced by no more than 3 %"),
}


def run(lab: Lab) -> Result:
    """Boots each kernel with the compiler."""
    return compiling.run(lab, PEERS, judge_savings)


def judge_savings(
    peers: Mapping[str, Peer], name: str = compiling.NAME, sheet: sheets.Sheet = SHEET
) -> Iterator[Check]:
    """What programs in small spaces save of what they take in large ones."""
    large, small = (peers[peer].loops[name] for peer in (SMALL, ALL))
    for counter, rule in RULES.items():
        before, after = large.count(counter), small.count(counter)
        yield sheet.judge(f"saved.{counter}", 1 - after / before, rule, before=before, after=after)


EXPERIMENT = Experiment(
    name="uhlig02/gcc",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={},
    run=run,
    plots=SHEET.all_plots,
    show=compiling.show,
)
