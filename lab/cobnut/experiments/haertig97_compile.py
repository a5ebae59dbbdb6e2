# SPDX-License-Identifier: GPL-2.0-or-later
"""`haertig97/compile`: a file that Debian's gcc compiles on a Pentium, natively and with Linux as a server."""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets
from cobnut.checks import Check, above, at_most, no_more_than
from cobnut.experiments import Experiment, Kind, Lab, Setting, compiling, linux_programs
from cobnut.experiments.linux_programs import LARGE, NATIVE, SMALL, UML, Peer
from cobnut.results import Result

SHEET = sheets.beside(__file__)

PEERS = (NATIVE, LARGE, SMALL)
FAULTS = "limit_fault"  # of the ledger: this glibc makes them, the paper's had no thread-local storage
GOAL = 1.08  # times native without them


def run(lab: Lab) -> Result:
    """Boots each kernel with the compiler: so often that where pages lie does not decide, but for User-Mode Linux."""
    boots = lab.settings["boots"]
    peers = compiling.measure(lab, PEERS, boots)
    checks = linux_programs.judge_peers(peers, boots)
    if lab.settings[UML]:
        peers |= compiling.measure(lab, [UML])
        checks += linux_programs.judge_peer(peers[UML], 1)
    return compiling.result(lab, peers, [*judge_times(peers), *checks])


def judge_times(peers: Mapping[str, Peer]) -> Iterator[Check]:
    """The server against Debian's kernel, with the faults past segments' limits and without."""
    native = peers[NATIVE].loops[compiling.NAME].cycles
    for name in (SMALL, LARGE):
        turns = peers[name].loops[compiling.NAME]
        ours, faults = turns.cycles, turns.booked(FAULTS)
        yield SHEET.judge(f"{name}.times", ours / native, no_more_than(published.H97_COMPILE), ours=ours, native=native)
        yield SHEET.judge(f"{name}.without_faults", (ours - faults) / native, at_most(GOAL), faults=faults)
    if UML in peers:
        traced = peers[UML].loops[compiling.NAME].cycles
        small = peers[SMALL].loops[compiling.NAME].cycles
        yield SHEET.judge("uml.times_small", traced / small, above(1), traced=traced)


EXPERIMENT = Experiment(
    name="haertig97/compile",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium-133",
    settings={
        "boots": linux_programs.BOOTS,
        UML: Setting(1, 0, range(2), "0: without User-Mode Linux on Debian's kernel"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=compiling.show,
)
