# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig11`: three groups of programs and one space that is in all of them, under Linux as a server, and what the
kernel's rules about slots make of it, which see the server alone.
"""

from collections.abc import Iterator

from cobnut import sheets
from cobnut.checks import Check, at_least, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, talking_groups, talking_linux
from cobnut.experiments.talking_groups import LEAST_INSIDE, Seen
from cobnut.experiments.talking_linux import MOST_CR3
from cobnut.results import Result

SHEET = sheets.beside(__file__)
NAME = "groups"


def run(lab: Lab) -> Result:
    """All groups work at once."""
    web = talking_groups.web_servers(lab.settings["requests"])
    wanted = (*web, talking_groups.pipeline(lab.settings["kilobytes"]))
    return talking_groups.run(lab, NAME, wanted, judge)


def judge(seen: Seen) -> Iterator[Check]:
    """Of U02's picture: the groups, the space in all, and that switches between hosts are few."""
    together = talking_groups.together(seen.graph, seen.found)
    yield SHEET.judge("real.groups", len(seen.found), exactly(len(seen.wanted)))
    yield SHEET.judge("real.inside", seen.inside, at_least(LEAST_INSIDE))
    yield SHEET.judge("hosts.global", float(seen.graph.is_server_everywhere), exactly(1))
    yield SHEET.judge("hosts.groups", together, exactly(len(seen.wanted)))
    yield SHEET.judge("hosts.cr3_writes", talking_linux.cr3_writes(seen.peer, seen.graph), at_most(MOST_CR3))


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
