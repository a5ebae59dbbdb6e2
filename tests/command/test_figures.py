# SPDX-License-Identifier: GPL-2.0-or-later
"""The report's figures as data, and the picture, of results with marks and with gaps."""

from cobnut.experiments import Mark, Plot
from cobnut.report import figures, picture
from cobnut.results import LedgerRow, Provenance, Result, Series


def made(series: list[Series], ledger: list[LedgerRow]) -> Result:
    return Result("made/up", None, Provenance("0", None, "none", "now"), series, [], ledger)


def test_a_ledger_may_have_a_mark():
    """It says what a source gives for a whole bar, and leaves no bar out."""
    rows = [LedgerRow("large", size, 2, "cycles", {"flush": 10.0 * size}, 10.0 * size) for size in (1, 2)]
    plot = Plot("ledger", "where", "size", "cycles", {"large": "large"}, marks=(Mark("published", x=1.0, y=5.0),))
    data = figures.draw(plot, made([], rows))["data"]
    assert [bar["y"] for bar in data if bar["type"] == "bar"] == [[5.0, 10.0]]


def test_ranges_close_to_the_mark_are_left_out():
    names = ["far", "near"]
    series = [Series("low", "times", names, [1.0, 9.9]), Series("high", "times", names, [10.0, 10.0])]
    plot = Plot("ranges", "ends", "times", "", {"low": "low", "high": "high"}, marks=(Mark("is", x=10.0),), least=0.05)
    data = figures.draw(plot, made(series, []))["data"]
    assert data[0]["y"] == ["far"]


def test_a_picture_has_gaps_where_measurements_are_missing():
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    _, axis = pyplot.subplots()
    sizes = [1, 2, 3]
    series = [Series(name, "cycles", sizes, [1.0, None, 3.0]) for name in ("least", "most", "large")]
    plot = Plot("lines", "curve", "size", "cycles", {"large": "large spaces"}, band=("least", "most"))
    picture._draw(axis, plot, made(series, []), 0.1)
    assert len(axis.lines) == 1 and len(axis.collections) == 1
