# SPDX-License-Identifier: GPL-2.0-or-later
"""`liedtke95/table3`: what the handling of address spaces costs in a remote procedure call, for typical pairs of
spaces.

L95's table 3. Whole round trips are measured, not sums of table 2; which instructions count is said in
`address_spaces`.
"""

from dataclasses import dataclass

from cobnut import published
from cobnut.checks import Check, KnownMiss, between, judge, named, no_more_than
from cobnut.experiments import Experiment, Kind, Lab, address_spaces
from cobnut.experiments.address_spaces import Handling, boot, charged, handling, ledger_row
from cobnut.experiments.liedtke95_table2 import CANNOT_SAY, SETTINGS, SMALL_TARGET
from cobnut.experiments.pingpong import PingPong, measure, raise_if_all_failed
from cobnut.plots import Bars, Ledger, Plot, Table
from cobnut.results import Result, Series

TOLERANCE = 0.05
KNOWN_MISSES = {
    "LS+SP.cycles": KnownMiss(51, 81, SMALL_TARGET),
    "SS+SS.cycles": KnownMiss(46, 70, SMALL_TARGET),
    "SP+LS.cycles": KnownMiss(51, 81, SMALL_TARGET),
    "SL+LS.least": KnownMiss(
        118,
        202,
        "n is higher than the paper's least of 5: the processor has no global pages, so the flush also takes the "
        "entries of the small space. " + SMALL_TARGET,
    ),
    "LL+LL.least": KnownMiss(
        190,
        236,
        "The direct cost is below the published one. The paper's least n is 5 each way; here n is the pages of code "
        "and data that kernel and programs touch.",
    ),
}


@dataclass(frozen=True)
class Row:
    """A pair of client and server; where calls flush, also with working sets that fill the TLBs."""

    name: str
    text: str
    pair: str
    servers: int = 1
    flushes: bool = False


ROWS = (
    Row("LS+SP", "large client, small server", "large_small"),
    Row("SS+SS", "small client, small server", "small_small"),
    Row("SL+LS", "small client, large server that is not the previous large space", "small_large", 2, True),
    Row("SP+LS", "small client, large server that is the previous large space", "small_large"),
    Row("LL+LL", "large client, large server", "large_large", 1, True),
    Row("LP+LP", "both in one large space", "intra"),
)


def run(lab: Lab) -> Result:
    """Measures the round trips of each pair."""
    boots = {
        (row.name, full): _boot(lab, row, full) for row in ROWS for full in (False, True) if row.flushes or not full
    }
    measured = dict(zip(boots, measure(lab, list(boots.values())), strict=True))
    raise_if_all_failed(list(measured.values()))
    regions = {key: one.at(one.spec.cases[0]) for key, one in measured.items()}
    found = {key: handling(region) for key, region in regions.items()}
    checks = [check for row in ROWS for check in judge_row(row, found[row.name, False], found.get((row.name, True)))]
    checks += [
        judge_charges(row, found[row.name, False], charged(regions[row.name, False])) for row in ROWS if row.flushes
    ]
    ledger = [
        line
        for (name, full), region in regions.items()
        for line in ledger_row(f"{name}.full" if full else name, region)
    ]
    return lab.result(series_of(found), checks, ledger)


def judge_row(row: Row, least: Handling | None, most: Handling | None) -> list[Check]:
    cost = published.L95_TABLE3[row.name]
    text = f"L95 table 3, {row.text}."
    if not row.flushes:
        return [_check(f"{row.name}.cycles", cost[0], text, least)]
    full = (
        f"{text} The client works on {address_spaces.FULL_CODE} pages of code and {address_spaces.FULL_DATA} of data"
        + (f", the server on {address_spaces.FULL_DATA} of data." if row.servers == 1 else ".")
    )
    return [
        _check(f"{row.name}.least", cost[0], f"{text} No working sets.", least),
        _check(f"{row.name}.most", cost[1], full, most),
    ]


def judge_charges(row: Row, found: Handling | None, charges: float | None) -> Check:
    """The ledger's account of the flushes against the one that n comes from."""
    n = found.refills if found else None
    return judge(
        f"{row.name}.charged",
        None if n is None else charges,
        "TLB misses",
        None if n is None else between((1 - TOLERANCE) * n, (1 + TOLERANCE) * n),
        f"L95's n is the misses that a flush causes. Counted: {n}; charged to a switch by what the entry remembers:"
        " about as many.",
    )


def _check(name: str, limit: float, why: str, found: Handling | None) -> Check:
    seen = f" Here: {found}." if found else ""
    return judge(name, found.cycles if found else None, "modelled cycles", no_more_than(limit), why + seen)


def series_of(found: dict[tuple[str, bool], Handling | None]) -> list[Series]:
    """The table's columns."""
    names = [row.name for row in ROWS]
    plain = [found[name, False] for name in names]
    full = [found.get((name, True)) for name in names]
    return [
        Series("published.least", "cycles", names, [published.L95_TABLE3[name][0] for name in names]),
        Series("published.most", "cycles", names, [published.L95_TABLE3[name][1] for name in names]),
        Series("direct", "modelled cycles", names, [one.direct if one else None for one in plain]),
        Series("refills.least", "TLB misses", names, [one.refills if one else None for one in plain]),
        Series("cycles.least", "modelled cycles", names, [one.cycles if one else None for one in plain]),
        Series("refills.most", "TLB misses", names, [one.refills if one else None for one in full]),
        Series("cycles.most", "modelled cycles", names, [one.cycles if one else None for one in full]),
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
    }
    return [
        Table(
            "Remote procedure calls",
            "client and server",
            columns,
            rows={row.name: f"{row.name}: {row.text}" for row in ROWS},
            wide=True,
            caption=(
                "Modelled cycles of a round trip beside the paper's. Least: no working sets; most: they nearly fill the"
                " TLBs."
            ),
        ),
        Bars(
            "Round trips without working sets",
            "pair of spaces",
            "modelled cycles",
            {"cycles.least": "handling of address spaces"},
        ),
        Ledger(
            "Where all cycles of a round trip go",
            "pair of spaces",
            "modelled cycles",
            {row.name: row.name for row in ROWS},
            caption="Everything that a round trip takes from user to user, not the handling of address spaces alone.",
        ),
    ]


def _boot(lab: Lab, row: Row, full: bool) -> PingPong:
    served = address_spaces.FULL_DATA if full and row.servers == 1 else 0
    return boot(lab, row.pair, full=full, servers=row.servers, served=served)


EXPERIMENT = Experiment(
    name="liedtke95/table3",
    title="The cost of address-space switches in a remote procedure call",
    source="Liedtke 1995, table 3",
    kind=Kind.REPRODUCTION,
    machine="pentium-90",
    settings=SETTINGS,
    run=run,
    plots=plots,
    checks=(named([row.name for row in ROWS], ("cycles", "least", "most", "charged")),),
    known_misses=KNOWN_MISSES,
    story=(
        "A remote procedure call switches the address space twice. Where client or server is small and the large one is"
        " still the previous large space, neither switch flushes the TLBs. Whole round trips of each pair of spaces are"
        " measured; of each, only the instructions that deal with address spaces are counted, and what a flush makes"
        " them pay later."
    ),
    cannot_say=(
        *CANNOT_SAY,
        (
            "The paper's most assumes that a flush takes all 96 entries of the TLBs. Here client and server nearly fill"
            " them; the server runs little code."
        ),
    ),
)
