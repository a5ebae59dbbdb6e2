# SPDX-License-Identifier: GPL-2.0-or-later
"""`net/ping`: an ICMP echo on a board with an ARM processor, from the card's interrupt until the reply is queued at the
card, by a kernel that gives spaces tags and by the standard one, which flushes at every switch.

The frames are a script's, as in `uhlig02/table4`, which asks the same on a PC.
"""

from collections.abc import Iterator, Mapping

from cobnut import build, sheets, tables
from cobnut.checks import Check, at_least, exactly
from cobnut.experiments import Experiment, Kind, Lab, Setting, cabled, crowd, pingpong, runner
from cobnut.experiments.cabled import Frames
from cobnut.missing import ratio, total
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

SYSTEM = "pingcost"
STANDARD, TAGS = KERNELS = ("standard", "tags")
PINGS = 0  # the guest's case
WARMUP = 160  # two turns of a ring of 64 frames, whose pages arrive at the first access and become one region by others
LEAST_GAIN = 2.0  # a goal of ours
SHARES = (*crowd.SHARES, "user")
COUNTED = {
    "cycles": "modelled cycles",
    **{f"instructions_{share}": "instructions" for share in SHARES},
    "entries_irq": "interrupts",
    **dict.fromkeys(crowd.SWITCH_WRITES, "writes"),
    **dict.fromkeys(crowd.FLUSHES, "operations"),
    **dict.fromkeys(("itlb_misses", "dtlb_misses", "icache_misses", "dcache_misses"), "misses"),
    "write_backs": "lines",
}


def run(lab: Lab) -> Result:
    """Boots the system once with each kernel; the numbers are the median echo's."""
    build.images(lab.board.standard)
    found = runner.mapped(lab, KERNELS, lambda kernel: measured(lab, kernel))
    pingpong.raise_if_all_failed(list(found.values()))
    rows = [row for kernel, pings in found.items() for row in pings.rows(kernel)]
    return lab.result(series_of(found), judge(found), rows)


def measured(lab: Lab, kernel: str) -> Frames:
    """The echoes with that kernel; the programs are the same."""
    rounds = lab.settings["rounds"]
    system = cabled.load(lab, SYSTEM, f"what=ping rounds={rounds} warmup={lab.settings['warmup']}")
    board = lab.board if kernel == TAGS else lab.board.standard
    return cabled.run(lab, system, {PINGS: rounds}, board=board)[PINGS]


def judge(found: Mapping[str, Frames]) -> Iterator[Check]:
    """That the path is the same, that tags leave nothing to flush, and what that is worth."""
    standard, tags = found[STANDARD], found[TAGS]
    for kernel, pings in found.items():
        yield SHEET.judge(f"{kernel}.interrupts", pings.usual("entries_irq"), exactly(1), pings.failure)
    flushed = total(tags.usual(counter) for counter in crowd.FLUSHES)
    yield SHEET.judge("tags.flushes", flushed, exactly(0), tags.failure)
    gain = ratio(standard.usual("cycles"), tags.usual("cycles"))
    yield SHEET.judge("gain", gain, at_least(LEAST_GAIN), standard.failure or tags.failure)


def series_of(found: Mapping[str, Frames]) -> Iterator[Series]:
    """What an echo consists of, by the kernel."""
    for counter, unit in COUNTED.items():
        yield Series(f"echo.{counter}", unit, list(found), [pings.usual(counter) for pings in found.values()])


def show(result: Result) -> None:
    tables.show_rows(result, "an echo", [f"echo.{what}" for what in COUNTED])


EXPERIMENT = Experiment(
    name="net/ping",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="arm926-400",
    boards=("versatilepb",),
    settings={
        "rounds": Setting(64, 16, pingpong.ROUNDS, "echoes measured"),
        "warmup": Setting(WARMUP, WARMUP, pingpong.WARMUP, "echoes before the measured ones"),
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
