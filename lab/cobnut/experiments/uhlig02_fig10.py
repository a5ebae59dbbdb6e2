# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig10`: two web servers on Linux as a server: who their processes seem to talk to, and to whom they do."""

from collections.abc import Iterator

from cobnut import sheets
from cobnut.checks import Check, at_least, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, talking_groups
from cobnut.experiments.talking_groups import LEAST_INSIDE, Seen
from cobnut.experiments.talking_linux import LEAST_KNOWN, LEAST_WITH_SERVER
from cobnut.results import Result

SHEET = sheets.beside(__file__)
NAME = "web"


def run(lab: Lab) -> Result:
    """Both servers are asked at once."""
    wanted = talking_groups.web_servers(lab.settings["requests"])
    return talking_groups.run(lab, NAME, wanted, judge)


def judge(seen: Seen) -> Iterator[Check]:
    """What U02's picture shows: on its left side one partner for all, on its right small groups."""
    yield SHEET.judge("apparent.known", seen.graph.known, at_least(LEAST_KNOWN))
    yield SHEET.judge("apparent.with_server", seen.graph.with_server, at_least(LEAST_WITH_SERVER))
    yield SHEET.judge("apparent.partners", talking_groups.most_partners(seen.graph), exactly(1))
    yield SHEET.judge("real.groups", len(seen.found), exactly(len(seen.wanted)))
    yield SHEET.judge("real.inside", seen.inside, at_least(LEAST_INSIDE))


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
