# SPDX-License-Identifier: GPL-2.0-or-later
"""What `ipc/reflection` makes of counts: which iterations are trips and what is checked."""

import pytest

import made_up
from cobnut.experiments import ipc_reflection
from cobnut.experiments.ipc_reflection import (
    CALL,
    CONFINED,
    CR3_WRITES,
    FAULT,
    KINDS,
    LIMITS,
    PAGES,
    PAIRS,
    STOP,
    SYSENTER,
    TAKING,
    TAKING_LIMITS,
    TLS,
    Reflection,
    Sharers,
    Trip,
)
from cobnut.experiments.pingpong import SHARES, Measurement, Region
from cobnut.plots import Bars

ROUNDS, BETWEEN = 3, 9999


def trip(pair: str, what: str, kernel: float | None, cr3_writes: float | None = None) -> Trip:
    """All trips alike; between two faults an iteration without one. No count: the boot failed."""
    spec = Reflection(pair, ROUNDS, 1, 16, 512, what=what)
    if kernel is None:
        return Trip(spec, Measurement(spec, {}, "made to fail", 0))
    writes = switches(pair, what) if cr3_writes is None else cr3_writes

    def row(value: float) -> list[float]:
        return [value if i % spec.step == 0 else BETWEEN for i in range(spec.iterations)]

    kernel *= spec.pages
    counters = {f"instructions_{share}": row(kernel) for share in SHARES} | {"cr3_writes": row(writes)}
    region = Region(0, counters, {}, {"instructions": 1.0}, row(10 * kernel), 1, "00100000", [])
    return Trip(spec, Measurement(spec, {0: region}, None, 0))


def switches(pair: str, what: str) -> int:
    return 0 if what == STOP else CR3_WRITES[pair]


def verdicts(one: Trip, pair: str, what: str) -> dict[str, str]:
    return {check.name: check.verdict for check in ipc_reflection.judge_trip(pair, what, one)}


def test_only_faults_and_stops_count_where_something_else_lies_in_between():
    for what in KINDS:
        one = trip("small_small", what, 100)
        assert one.kernel == 100
        assert one.cycles == 1000 * (64 if what == PAGES else 1)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("what", KINDS)
def test_a_trip_within_its_limit_is_ok_and_no_other(pair, what):
    name = f"{pair}.{what}"
    good = {f"{name}.kernel": "ok", f"{name}.cr3_writes": "ok"}
    assert verdicts(trip(pair, what, LIMITS[what]), pair, what) == good
    assert verdicts(trip(pair, what, LIMITS[what] + 1), pair, what) == good | {f"{name}.kernel": "failed"}
    switching = trip(pair, what, LIMITS[what], switches(pair, what) + 1)
    assert verdicts(switching, pair, what) == good | {f"{name}.cr3_writes": "failed"}


def test_what_was_not_measured_is_never_ok():
    assert set(verdicts(trip("small_small", FAULT, None), "small_small", FAULT).values()) == {"failed"}


def test_the_guest_is_told_what_to_measure():
    def arguments(what: str) -> str:
        return Reflection("small_large", 3, 2, 32, 512, what=what).arguments

    rest = "rounds=3 warmup=2 slot=32"
    assert arguments(CALL) == f"pair=small_large what=call confined=0 gate=0 tls=0 {rest} pages=1"
    assert arguments(CONFINED) == f"pair=small_large what=call confined=1 gate=0 tls=0 {rest} pages=1"
    assert arguments(SYSENTER) == f"pair=small_large what=call confined=0 gate=1 tls=0 {rest} pages=1"
    assert arguments(TLS) == f"pair=small_large what=call confined=0 gate=0 tls=1 {rest} pages=1"
    assert arguments(FAULT) == f"pair=small_large what=fault confined=0 gate=0 tls=0 {rest} pages=1"
    assert arguments(PAGES) == f"pair=small_large what=fault confined=0 gate=0 tls=0 {rest} pages=64"
    assert arguments(STOP) == f"pair=small_large what=stop confined=0 gate=0 tls=0 {rest} pages=1"


def test_series_and_bars_are_of_the_same_names():
    trips = {(pair, what): trip(pair, what, 100) for pair in PAIRS for what in KINDS}
    series = [line for what in KINDS for line in ipc_reflection.series_of(what, trips)]
    plots = ipc_reflection.plots(made_up.lab(ipc_reflection.EXPERIMENT).result(series, []))
    drawn = [name for plot in plots if isinstance(plot, Bars) for name in plot.series]
    assert sorted(drawn) == sorted(line.name for line in series)
    assert len(set(drawn)) == len(KINDS) * (len(SHARES) + 2)


def sharing(sharers: int, a_page: float | None) -> Measurement:
    """Both cases alike. No count: the boot failed."""
    spec = Sharers("large_large", 1, 1, 16, 512, sharers=sharers, megabytes=4)
    if a_page is None:
        return Measurement(spec, {}, "made to fail", 0)
    counters = {"instructions_kernel": [a_page * 1024]}
    regions = {case: Region(case, counters, {}, {}, [0], 0, "00100000", []) for case in spec.cases}
    return Measurement(spec, regions, None, 0)


@pytest.mark.parametrize("what", TAKING)
def test_taking_memory_costs_what_it_may_and_no_more_among_many(what):
    def verdicts_of(few: float | None, many: float | None) -> list[str]:
        checks = list(ipc_reflection.judge_taking(sharing(2, few), sharing(200, many), what))
        assert [check.name for check in checks] == [f"sharers.{what}.kernel", f"sharers.{what}.growth"]
        return [check.verdict for check in checks]

    limit = TAKING_LIMITS[what]
    assert verdicts_of(limit, limit) == ["ok", "ok"]
    assert verdicts_of(limit, limit + 1) == ["failed", "ok"]
    assert verdicts_of(100, 103) == ["ok", "failed"]
    assert verdicts_of(None, 100) == ["ok", "failed"]
    assert verdicts_of(100, None) == ["failed", "failed"]


def test_the_sharers_are_told_how_many_they_are():
    spec = Sharers("large_large", 1, 1, 16, 512, sharers=200, megabytes=40)
    assert spec.arguments == "sharers=200 megabytes=40"
    assert spec.memory_mb == 512
