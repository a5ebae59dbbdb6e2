# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig10`: two web servers on Linux as a server: who their processes seem to talk to, and to whom they do."""

from collections.abc import Iterator

from cobnut import sheets
from cobnut.checks import Check, at_least, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, talking_groups, talking_linux
from cobnut.experiments.linux_programs import Peer
from cobnut.experiments.talking_groups import Group
from cobnut.results import Result

SHEET = sheets.beside(__file__)
NAME = "web"
LEAST_WITH_SERVER, LEAST_KNOWN, LEAST_INSIDE = 0.95, 0.999, 0.9


def run(lab: Lab) -> Result:
    """Both servers are asked at once."""
    wanted = talking_groups.web_servers(lab.settings["requests"])
    return talking_groups.run(lab, NAME, wanted, judge)


def judge(wanted: tuple[Group, ...], peer: Peer) -> Iterator[Check]:
    """What U02's picture shows: on its left side one partner for all, on its right small groups."""
    graph = talking_linux.graph_of(peer)
    groups = talking_groups.real_groups(graph)
    yield SHEET.judge("apparent.known", graph.known, at_least(LEAST_KNOWN))
    yield SHEET.judge("apparent.with_server", graph.with_server, at_least(LEAST_WITH_SERVER))
    yield SHEET.judge("apparent.partners", talking_groups.most_partners(graph), exactly(1))
    yield SHEET.judge("real.groups", len(talking_groups.found(wanted, groups)), exactly(len(wanted)))
    yield SHEET.judge("real.inside", talking_groups.inside(graph, groups), at_least(LEAST_INSIDE))


EXPERIMENT = Experiment(
    name="uhlig02/fig10",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={"requests": Setting(100, 10, range(1, 10_001), "to each web server in a turn")},
    run=run,
    plots=SHEET.all_plots,
    has_curves=True,
)
