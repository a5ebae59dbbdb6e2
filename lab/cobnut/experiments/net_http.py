# SPDX-License-Identifier: GPL-2.0-or-later
"""`net/http`: what a page takes of a system of servers, in modelled cycles a request, by the spaces that its programs
are in: large ones, small ones by hand, small ones by the kernel's choice, and those with groups; and what it takes if
all of them are one program, as the bound.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cobnut import sheets, tables
from cobnut.checks import Check, at_least, at_most, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, cabled, live, pingpong, runner
from cobnut.experiments.cabled import Frames
from cobnut.experiments.live import Load
from cobnut.missing import ratio, total
from cobnut.results import Result, Series
from cobnut.systems import Slot

SHEET = sheets.beside(__file__)

SYSTEM, LIBRARY_SYSTEM = "webcost", "singlecost"


@dataclass(frozen=True)
class Spaces:
    """Where the programs are: their `space` in the description, and the kernel's options."""

    space: str | Slot
    options: str = ""
    system: str = SYSTEM


LARGE, GROUPS, LIBRARY = "large", "groups", "library"
SPACES = {
    LARGE: Spaces("large", "automatic=off"),
    "by_hand": Spaces(Slot(mb=16), "automatic=off"),
    "automatic": Spaces("rule", "groups=off"),
    GROUPS: Spaces("rule"),
    LIBRARY: Spaces("large", "automatic=off", LIBRARY_SYSTEM),
}
LIVE = [name for name in SPACES if name != LIBRARY]
KINDS = ("keep_alive", "new_connection")  # by the guest's numbers of cases
SHARES = (*pingpong.SHARES, "user")
OVER_LARGE, OVER_LIBRARY = 1.5, 1.15
FRAMES = {"keep_alive": 1, "new_connection": 4}  # that a client sends for a request, as servers/peer does
COUNTED = {
    "cycles": "modelled cycles",
    "cr3_writes": "writes",
    "segment_loads": "loads",
    "dtlb_misses": "misses",
    "itlb_misses": "misses",
    "trace_misses": "misses",
}

Found = Mapping[str, Mapping[str, Frames]]  # by where the programs are, and by kind of connection


def run(lab: Lab) -> Result:
    """Boots once for each of these."""
    if lab.settings["live"]:
        return run_live(lab)
    found = runner.mapped(lab, SPACES, lambda name: measured(lab, SPACES[name]))
    pingpong.raise_if_all_failed([kinds[KINDS[0]] for kinds in found.values()])
    checks = [check for kind in KINDS for check in judge(kind, found)]
    rows = [row for name, kinds in found.items() for kind, one in kinds.items() for row in one.rows(f"{name}.{kind}")]
    return lab.result(series_of(lab, found), checks, rows)


def run_live(lab: Lab) -> Result:
    """wrk against each in turn, on this machine: nothing is modelled."""
    found = runner.mapped(lab, LIVE, lambda name: measured_live(lab, SPACES[name]), at_once=1)
    checks = [
        SHEET.judge(f"live.{name}.{kind}.errors", one.errors, exactly(0))
        for name, loads in found.items()
        for kind, one in loads.items()
    ]
    series = [
        Series(f"live.{kind}.requests", "a second, live", list(LIVE), [loads[kind].rate for loads in found.values()])
        for kind in KINDS
    ]
    return lab.result(series, checks, [])


def measured_live(lab: Lab, spaces: Spaces) -> dict[str, Load]:
    """What wrk finds with the programs there."""
    kinds = {kind: kind == "new_connection" for kind in KINDS}
    return live.measured(lab, cabled.all_in(live.SYSTEM, spaces.space), spaces.options, kinds)


def measured(lab: Lab, spaces: Spaces) -> dict[str, Frames]:
    """The requests with the programs there; the peer is in a large space."""
    rounds = lab.settings["rounds"]
    words = f"what=http rounds={rounds} warmup={lab.settings['warmup']}"
    system = cabled.load(lab, spaces.system, words, **cabled.all_in(spaces.system, spaces.space))
    cases: dict[int, int] = dict.fromkeys(range(len(KINDS)), rounds)
    found = cabled.run(lab, system, cases, options=spaces.options)
    return {kind: found[number] for number, kind in enumerate(KINDS)}


def judge(kind: str, found: Found) -> Iterator[Check]:
    """That requests are what they are taken for, and what small spaces are to gain."""
    for name, kinds in found.items():
        one = kinds[kind]
        yield SHEET.judge(f"{name}.{kind}.frames", one.frames, exactly(FRAMES[kind]), one.failure)
    for name in (name for name in found if name not in (LARGE, LIBRARY)):
        gain = ratio(found[LARGE][kind].each("cycles"), found[name][kind].each("cycles"))
        yield SHEET.judge(f"{name}.{kind}.over_large", gain, at_least(OVER_LARGE), found[name][kind].failure)
    cost = ratio(found[GROUPS][kind].each("cycles"), found[LIBRARY][kind].each("cycles"))
    yield SHEET.judge(f"{GROUPS}.{kind}.over_library", cost, at_most(OVER_LIBRARY), found[LIBRARY][kind].failure)


def series_of(lab: Lab, found: Found) -> Iterator[Series]:
    """What a request takes; and how many of them a machine with nothing else to do answers in a second."""
    clock = float(lab.machine.parameters["processor.clock_mhz"].value)
    names = list(found)

    def each(kind: str, counter: str) -> list[Any]:
        return [kinds[kind].each(counter) for kinds in found.values()]

    for kind in KINDS:
        for counter, unit in COUNTED.items():
            yield Series(f"{kind}.{counter}", unit, names, each(kind, counter))
        instructions = [
            total(kinds[kind].each(f"instructions_{share}") for share in SHARES) for kinds in found.values()
        ]
        yield Series(f"{kind}.instructions", "instructions", names, instructions)
        rates = [ratio(clock * 1e6, cycles) for cycles in each(kind, "cycles")]
        yield Series(f"{kind}.requests", "a second, modelled", names, rates)


def show(result: Result) -> None:
    if any(series.name.startswith("live.") for series in result.series):
        return tables.show_rows(result, "wrk, live", [f"live.{kind}.requests" for kind in KINDS])
    for kind in KINDS:
        shown = [f"{kind}.{what}" for what in ("instructions", *COUNTED, "requests")]
        tables.show_rows(result, f"a request, {kind.replace('_', ' ')}", shown)


EXPERIMENT = Experiment(
    name="net/http",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(64, 16, range(1, 401), "requests measured, of each kind"),
        "warmup": Setting(80, 80, range(1, 401), "requests before the measured ones"),
        "live": Setting(0, 0, range(2), "1: wrk on this machine against each, in place of all that is modelled"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
