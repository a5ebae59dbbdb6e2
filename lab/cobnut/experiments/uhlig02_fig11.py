# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig11`: three groups of programs and one space that is in all of them, under Linux as a server, and what the
kernel's rules about slots make of it, which see the server alone.
"""

from collections.abc import Iterator

from cobnut import sheets
from cobnut.checks import Check, at_least, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, talking_groups, talking_linux
from cobnut.experiments.linux_programs import Peer
from cobnut.experiments.talking_groups import Group
from cobnut.results import Result

SHEET = sheets.beside(__file__)
NAME = "groups"
LEAST_INSIDE, MOST_CR3 = 0.9, 0.05


def run(lab: Lab) -> Result:
    """All groups work at once."""
    web = talking_groups.web_servers(lab.settings["requests"])
    wanted = (*web, talking_groups.pipeline(lab.settings["kilobytes"]))
    return talking_groups.run(lab, NAME, wanted, judge)


def judge(wanted: tuple[Group, ...], peer: Peer) -> Iterator[Check]:
    """Of U02's picture: the groups, the space in all, and that switches between hosts are few."""
    graph = talking_linux.graph_of(peer)
    groups = talking_groups.real_groups(graph)
    theirs = talking_groups.found(wanted, groups)
    turn = next(iter(peer.loops.values()))
    yield SHEET.judge("real.groups", len(theirs), exactly(len(wanted)))
    yield SHEET.judge("real.inside", talking_groups.inside(graph, groups), at_least(LEAST_INSIDE))
    yield SHEET.judge("hosts.global", float(talking_groups.is_everywhere(graph)), exactly(1))
    yield SHEET.judge("hosts.groups", talking_groups.together(graph, theirs), exactly(len(wanted)))
    yield SHEET.judge("hosts.cr3_writes", turn.count("cr3_writes") / graph.total, at_most(MOST_CR3))


EXPERIMENT = Experiment(
    name="uhlig02/fig11",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "requests": Setting(100, 10, range(1, 10_001), "to each web server in a turn"),
        "kilobytes": Setting(8192, 1024, range(1, 1_000_001), "through the pipeline in a turn"),
    },
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
