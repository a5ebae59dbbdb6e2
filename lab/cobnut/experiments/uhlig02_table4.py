# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/table4`: an ICMP echo, from the card's interrupt until the reply is queued at the card. U02's table 4.

U02 measured SawMill's driver and TCP/IP stack, parts of Linux 2.2.5; here they are this system's, `e1000` and `network`
with lwIP.
"""

from collections.abc import Iterator, Mapping

from cobnut import published, sheets, tables
from cobnut.checks import Check, at_least, at_most, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, cabled, pingpong, runner
from cobnut.experiments.cabled import Frames
from cobnut.missing import difference, ratio, total
from cobnut.results import Result, Series
from cobnut.systems import Slot

SHEET = sheets.beside(__file__)

SYSTEM = "pingcost"
LARGE, SMALL = SPACES = ("large", "small")
MISSES = {"dtlb_misses": published.U02_PING_DTLB_MISSES, "itlb_misses": published.U02_PING_ITLB_MISSES}
MOST_MISSES = {"dtlb_misses": 5, "itlb_misses": 0}  # in small spaces
LEAST_SAVED = 0.18
PINGS = 0  # the guest's case
WARMUP = 80  # more than the 64 frames of a ring, whose pages arrive at their first access
SHARES = (*pingpong.SHARES, "user")
# of spaces, in the order in which an echo makes them, with the way back to whom the next interrupt finds
SWITCHES = ("interrupted-driver", "driver-stack", "stack-driver", "driver-interrupted")
COUNTED = {
    "cycles": "modelled cycles",
    **{f"instructions_{share}": "instructions" for share in SHARES},
    "entries_sysenter": "system calls",
    "entries_irq": "interrupts",
    "cr3_writes": "writes",
    "dtlb_misses": "misses",
    "itlb_misses": "misses",
    "trace_misses": "misses",
}


def run(lab: Lab) -> Result:
    """Boots the system once for each kind of space; the numbers are the median echo's."""
    found = runner.mapped(lab, SPACES, lambda space: measured(lab, space))
    pingpong.raise_if_all_failed(list(found.values()))
    rows = [row for space, pings in found.items() for row in pings.rows(space)]
    return lab.result(series_of(found), judge(found), rows)


def measured(lab: Lab, space: str) -> Frames:
    """The echoes with driver and stack in such spaces. Whom the interrupts find is in a large one."""
    slot = "large" if space == LARGE else Slot.model_validate({"mb": lab.settings["slot"]})
    rounds = lab.settings["rounds"]
    words = f"what=ping rounds={rounds} warmup={lab.settings['warmup']}"
    system = cabled.load(lab, SYSTEM, words, **cabled.all_in(SYSTEM, slot))
    return cabled.run(lab, system, {PINGS: rounds})[PINGS]


def judge(found: Mapping[str, Frames]) -> Iterator[Check]:
    """The table's numbers, and what this system is to reach."""
    for space, pings in found.items():
        cycles, switches = published.U02_PING_CYCLES[space], published.U02_PING_FULL_SWITCHES[space]
        yield SHEET.judge(f"{space}.cycles", pings.usual("cycles"), reproduces(cycles), pings.failure)
        for misses, by_space in MISSES.items():
            yield SHEET.judge(f"{space}.{misses}", pings.usual(misses), reproduces(by_space[space]), pings.failure)
        yield SHEET.judge(f"{space}.cr3_writes", pings.usual("cr3_writes"), reproduces(switches), pings.failure)
    large, small = found[LARGE], found[SMALL]
    saved = ratio(difference(large.usual("cycles"), small.usual("cycles")), large.usual("cycles"))
    yield SHEET.judge("saved", saved, reproduces(published.U02_PING_SAVED))
    yield SHEET.judge("saved.goal", saved, at_least(LEAST_SAVED))
    for misses, most in MOST_MISSES.items():
        yield SHEET.judge(f"small.{misses}.goal", small.usual(misses), at_most(most), small.failure)


def series_of(found: Mapping[str, Frames]) -> Iterator[Series]:
    """What an echo consists of; and the refills that each switch makes necessary."""
    for counter, unit in COUNTED.items():
        yield Series(f"echo.{counter}", unit, list(found), [pings.usual(counter) for pings in found.values()])
    instructions = [total(pings.usual(f"instructions_{share}") for share in SHARES) for pings in found.values()]
    yield Series("echo.instructions", "instructions", list(found), instructions)
    for space, pings in found.items():
        charged = charged_to(pings)
        yield Series(f"charged.{space}", "modelled cycles of refills", list(charged), list(charged.values()))


def charged_to(pings: Frames) -> dict[str, float | None]:
    """The cycles of an echo's refills by the switch that they are charged to, and of those that were never there."""
    ends = ends_of(pings)
    if ends is None:
        return dict.fromkeys((*SWITCHES, "cold"))
    sums = dict.fromkeys((*SWITCHES, "cold"), 0.0)
    for charge in pings.charges:
        name = ends.get((charge.from_space, charge.to_space), "cold")
        sums[name] += charge.cycles
    return {name: ratio(cycles, pings.turns) for name, cycles in sums.items()}


def ends_of(pings: Frames) -> dict[tuple[str | None, str | None], str] | None:
    """The switches by the spaces that they lead from and to; None if others were made than the three of an echo."""
    if pings.region is None:
        return None
    made = {(one["from"], one["to"]) for one in (pings.switches[taken["switch"]] for taken in pings.region["switches"])}
    interrupted = pings.region["space"]
    drivers = {to for before, to in made if before == interrupted}
    if len(drivers) != 1 or len(made) != len(SWITCHES) - 1:
        return None
    (driver,) = drivers
    (stack,) = {to for before, to in made if before == driver} or {driver}
    pairs = ((interrupted, driver), (driver, stack), (stack, driver), (driver, interrupted))
    return dict(zip(pairs, SWITCHES, strict=True))


def show(result: Result) -> None:
    tables.show_rows(result, "an echo", [f"echo.{what}" for what in ("instructions", *COUNTED)])
    tables.show_rows(result, "modelled cycles of its refills, by switch", [f"charged.{space}" for space in SPACES])


EXPERIMENT = Experiment(
    name="uhlig02/table4",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "rounds": Setting(64, 16, pingpong.ROUNDS, "echoes measured"),
        "warmup": Setting(WARMUP, WARMUP, pingpong.WARMUP, "echoes before the measured ones"),
        "slot": pingpong.SPACES["slot"],
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
