# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/table2`: what the handling of address spaces costs in one switch, for each type of switch.

L95's table 2 on its Pentium. Round trips are measured in halves, so that each type of switch is seen by itself; which
instructions count is said in `address_spaces`.
"""

from dataclasses import dataclass

from cobnut import published
from cobnut.checks import Check, KnownMiss, judge, named, no_more_than
from cobnut.experiments import Experiment, Kind, Lab, Setting, address_spaces, pingpong
from cobnut.experiments.address_spaces import Handling, boot, handling, ledger_row
from cobnut.experiments.pingpong import Measurement, PingPong, measure, raise_if_all_failed
from cobnut.plots import Bars, Ledger, Plot, Table
from cobnut.results import Result, Series

THERE, BACK = 0, 1
FULL = "full"
SMALL_TARGET = (
    "The paper's listing updates one descriptor, of data, with two stores; that of the code segment does not appear in"
    " it. This kernel updates both with four. It saves the entry load of a kernel data segment, and pays for that with"
    " a segment override, a cycle on a Pentium, in most of these instructions. One more notes the partner for the rules"
    " that give tags away (docs/tags.md), which the paper asks for and does not list, and two count the switch: a"
    " budget, whose end leads to the host in force, and which is renewed there, so that no count that overflows can"
    " pass for the absence of a host."
)
KNOWN_MISSES = {
    "LL.least": KnownMiss(
        95,
        118,
        "The direct cost is below the published one. The paper's least n is 5; here n is the pages of code and data"
        " that kernel and program touch up to the next switch.",
    ),
    "LS.cycles": KnownMiss(23, 35, SMALL_TARGET),
    "SS.cycles": KnownMiss(23, 35, SMALL_TARGET),
    "SP.cycles": KnownMiss(28, 46, SMALL_TARGET),
    "SL.direct": KnownMiss(50, 80, SMALL_TARGET + " The published cost does not tell this switch from LL."),
    "SL.least": KnownMiss(
        95,
        167,
        "n is higher than the paper's least of 5: the processor has no global pages, so the flush also takes the "
        "entries of the small space, which are refilled on the way back. " + SMALL_TARGET,
    ),
}


@dataclass(frozen=True)
class Row:
    """A type of switch: what it is, which ping-pong shows it in which half, and whether it flushes.

    `lasting` says that what its flush took is refilled in both halves, for the other half flushes nothing.
    """

    name: str
    text: str
    pair: str
    half: int
    servers: int = 1
    flushes: bool = False
    lasting: bool = False


ROWS = (
    Row("LL", "large to another large", "large_large", BACK, flushes=True),
    Row("LP", "large to large, the same", "intra", THERE),
    Row("LS", "large to small", "large_small", THERE),
    Row("SS", "small to small", "small_small", THERE),
    Row("SP", "small to the previous large", "large_small", BACK),
    Row("SL", "small to another large", "small_large", THERE, servers=2, flushes=True, lasting=True),
)


def run(lab: Lab) -> Result:
    """Measures each type of switch, those that flush also with a working set that fills the TLBs."""
    wanted = {
        (row.name, full): _boot(lab, row, full) for row in ROWS for full in (False, True) if row.flushes or not full
    }
    boots = list(dict.fromkeys(wanted.values()))
    measured = dict(zip(boots, measure(lab, boots), strict=True))
    raise_if_all_failed(list(measured.values()))
    found = {key: switch(row_of(key[0]), measured[spec]) for key, spec in wanted.items()}
    checks = [check for row in ROWS for check in judge_row(row, found[row.name, False], found.get((row.name, True)))]
    ledger = [
        line
        for (name, full), spec in wanted.items()
        for line in ledger_row(f"{name}.{FULL}" if full else name, measured[spec].at(spec.cases[0]))
    ]
    return lab.result(series_of(found), checks, ledger)


def row_of(name: str) -> Row:
    return next(row for row in ROWS if row.name == name)


def switch(row: Row, measurement: Measurement) -> Handling | None:
    """The handling in the row's switch, with n of all refills up to the next flush."""
    region = measurement.at(measurement.spec.cases[0])
    there_or_back = handling(region, row.half)
    if not row.lasting or there_or_back is None:
        return there_or_back
    other = handling(region, 1 - row.half)
    if other is None:
        return None
    return Handling(there_or_back.parts, there_or_back.instructions, there_or_back.refills + other.refills)


def judge_row(row: Row, least: Handling | None, most: Handling | None) -> list[Check]:
    """A row without a flush has one cost; one with a flush its direct cost, its least and its most."""
    cost = published.L95_TABLE2[row.name]
    text = f"L95 table 2, {row.text}."
    if not row.flushes:
        return [_check(f"{row.name}.cycles", least.cycles if least else None, cost[0], text, least)]
    direct = f"L95 table 2, {row.text}: the part without n."
    with_n = f"L95 table 2, {row.text}, 50 + 9n with n from {published.L95_MISSES[0]} to {published.L95_MISSES[1]}."
    return [
        _check(f"{row.name}.direct", least.direct if least else None, published.L95_FLUSHING, direct, least),
        _check(f"{row.name}.least", least.cycles if least else None, cost[0], f"{with_n} No working set.", least),
        _check(f"{row.name}.most", most.cycles if most else None, cost[1], f"{with_n} {_full_text()}", most),
    ]


def _check(name: str, cycles: float | None, limit: float, why: str, found: Handling | None) -> Check:
    seen = f" Here: {found}." if found else ""
    return judge(name, cycles, "modelled cycles", no_more_than(limit), why + seen)


def _full_text() -> str:
    return f"One of the two works on {address_spaces.FULL_CODE} pages of code and {address_spaces.FULL_DATA} of data."


def series_of(found: dict[tuple[str, bool], Handling | None]) -> list[Series]:
    """The table's columns, and for each type of switch its parts and n."""
    names = [row.name for row in ROWS]
    plain = [found[name, False] for name in names]
    full = [found.get((name, True)) for name in names]
    columns = [
        Series("published.least", "cycles", names, [published.L95_TABLE2[name][0] for name in names]),
        Series("published.most", "cycles", names, [published.L95_TABLE2[name][1] for name in names]),
        Series("direct", "modelled cycles", names, [one.direct if one else None for one in plain]),
        Series("refills.least", "TLB misses", names, [one.refills if one else None for one in plain]),
        Series("cycles.least", "modelled cycles", names, [one.cycles if one else None for one in plain]),
        Series("refills.most", "TLB misses", names, [one.refills if one else None for one in full]),
        Series("cycles.most", "modelled cycles", names, [one.cycles if one else None for one in full]),
        Series("instructions", "instructions", names, [one.instructions if one else None for one in plain]),
    ]
    return columns + [
        Series(f"part.{part}", "modelled cycles", names, [one.parts[part] if one else None for one in plain])
        for part in address_spaces.PARTS
    ]


def plots(result: Result) -> list[Plot]:
    columns = {
        "published.least": "L95, least",
        "published.most": "L95, most",
        "direct": "direct",
        "refills.least": "n, least",
        "cycles.least": "cycles, least",
        "refills.most": "n, most",
        "cycles.most": "cycles, most",
        "instructions": "instructions",
    }
    return [
        Table(
            "Address-space switches",
            "type of switch",
            columns,
            rows={row.name: f"{row.name}: {row.text}" for row in ROWS},
            wide=True,
            caption=TABLE_CAPTION,
        ),
        Bars(
            "The direct cost and its parts",
            "type of switch",
            "modelled cycles",
            {f"part.{part}": part for part in address_spaces.PARTS},
        ),
        Ledger(
            "Where all cycles of the round trips go",
            "round trips that show the switch",
            "modelled cycles of one way",
            {row.name: row.name for row in ROWS},
            caption="Everything that an IPC takes from user to user, not the handling of address spaces alone.",
        ),
    ]


TABLE_CAPTION = (
    "Modelled cycles beside the paper's. Least: no working set; most: a working set that nearly fills the TLBs. Cycles"
    " are the direct cost and nine for each of n misses on what the flush took."
)


def _boot(lab: Lab, row: Row, full: bool) -> PingPong:
    return boot(lab, row.pair, full=full, servers=row.servers, halves=True)


SETTINGS = {
    "rounds": Setting(100, 20, pingpong.ROUNDS, "round trips measured"),
    "warmup": Setting(10, 10, pingpong.WARMUP, "round trips before the measured ones"),
    "slot": Setting(16, 16, pingpong.SLOTS_MB, "size of a small space, MB"),
    "small": Setting(512, 512, pingpong.AREAS_MB, "size of the small-space area, MB"),
}
CANNOT_SAY = (
    (
        "Cycles are modelled: the emulator runs the real kernel and programs, and each counted instruction costs what"
        " the machine file says, with all its data in the cache. The paper's are counted by its author in a listing,"
        " under the same assumption."
    ),
    (
        "What counts as handling of address spaces is cut along the paper's listing, but the two kernels are not the"
        " same: this one implements a later interface, updates the code segment as well, and loads no kernel data"
        " segment on entry."
    ),
    (
        "n is counted, and each of its misses costs the paper's nine cycles. What a miss costs the model, with the"
        " page-table entry in the cache or not, is in the ledger."
    ),
)

EXPERIMENT = Experiment(
    name="liedtke95/table2",
    title="The cost of an address-space switch, by its type",
    source="Liedtke 1995, table 2",
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings=SETTINGS,
    run=run,
    plots=plots,
    checks=(named([row.name for row in ROWS], ("cycles", "direct", "least", "most")),),
    known_misses=KNOWN_MISSES,
    story=(
        "A switch between large spaces writes CR3 and with that empties the TLBs. A switch to a small space, and back"
        " to the large space that was there before, only rewrites segments. Client and server play all types of switch"
        " in turn; of each IPC, only the instructions that deal with address spaces are counted, and what a flush makes"
        " them pay later."
    ),
    cannot_say=CANNOT_SAY,
)
