# SPDX-License-Identifier: GPL-2.0-or-later
"""The report's figures as data, and the picture, of results with marks and with gaps."""

import pytest

import made_up
from cobnut import experiments
from cobnut.plots import Bars, Ledger, Lines, Mark, Ranges, lines
from cobnut.plots.colours import COLOURS
from cobnut.results import LedgerRow, Provenance, Result, Series


def made(series: list[Series], ledger: list[LedgerRow]) -> Result:
    return Result("made/up", None, Provenance("0", None, "none", "now"), series, [], ledger)


def test_a_ledger_may_have_a_mark():
    """It says what a source gives for a whole bar, and leaves no bar out."""
    rows = [LedgerRow("large", size, 2, "cycles", {"flush": 10.0 * size}, 10.0 * size) for size in (1, 2)]
    plot = Ledger("where", "size", "cycles", {"large": "large"}, marks=(Mark("published", x=1.0, y=5.0),))
    data = plot.figure(made([], rows))["data"]
    assert [bar["y"] for bar in data if bar["type"] == "bar"] == [[5.0, 10.0]]


@pytest.mark.parametrize(("apart", "mode"), [(False, "stack"), (True, "group")])
def test_bars_that_are_no_parts_of_a_whole_stand_side_by_side(apart, mode):
    """What is written beside them has as many digits as a person reads."""
    series = [Series(name, "cycles", ["call"], [3107.203125]) for name in ("large", "small")]
    figure = Bars("spent", "what", "cycles", {"large": "large", "small": "small"}, apart=apart).figure(made(series, []))
    assert figure["layout"]["barmode"] == mode
    assert [bar["text"] for bar in figure["data"]] == [["3,107.2"]] * 2


@pytest.mark.parametrize(("apart", "axis"), [(False, [-2.2, 33]), (True, [-5.6, 42])])
def test_an_axis_has_room_for_the_numbers_of_its_bars(apart, axis):
    """Above the highest bar, or all that stand on each other, and below the lowest."""
    series = [Series("large", "%", ["call", "pipe"], [30.0, 2.0]), Series("small", "%", ["call", "pipe"], [None, -4.0])]
    figure = Bars("saved", "what", "%", {"large": "large", "small": "small"}, apart=apart).figure(made(series, []))
    assert figure["layout"]["yaxis"]["range"] == pytest.approx(axis)


def test_ranges_close_to_the_mark_are_left_out():
    names = ["far", "near"]
    series = [Series("low", "times", names, [1.0, 9.9]), Series("high", "times", names, [10.0, 10.0])]
    plot = Ranges("ends", "times", "low", "high", 10.0, least=0.05)
    data = plot.figure(made(series, []))["data"]
    assert data[0]["y"] == ["far"]


@pytest.mark.parametrize("name", experiments.reproductions())
def test_no_two_curves_of_a_plot_look_the_same(name, monkeypatch):
    made_up.install(monkeypatch)
    experiment = experiments.find(name)
    for plot in experiment.plots(experiment.run(made_up.lab(experiment))):
        if isinstance(plot, Lines) and len(plot.series) <= len(lines.OTHERS):
            assert len({COLOURS[role] for role in plot.roles.values()}) == len(plot.series), plot.title


def test_figure_5_has_five_colours_for_its_curves_and_the_peer(monkeypatch):
    made_up.install(monkeypatch)
    experiment = experiments.find("wiggins03/fig5")
    plots = [plot for plot in experiment.plots(experiment.run(made_up.lab(experiment))) if isinstance(plot, Lines)]
    seen: dict[str, set[str]] = {}
    for plot in plots:
        for series, role in plot.roles.items():
            kernel, place, _ = f"{series}.".split(".", 2) if series.count(".") == 2 else ("peer", "", "")
            seen.setdefault(f"{kernel}.{place}", set()).add(COLOURS[role])
    assert len(seen) == 5 and all(len(colours) == 1 for colours in seen.values())
    assert len(set.union(*seen.values())) == 5


def test_a_picture_has_gaps_where_measurements_are_missing():
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    _, axis = pyplot.subplots()
    sizes = [1, 2, 3]
    series = [Series(name, "cycles", sizes, [1.0, None, 3.0]) for name in ("least", "most", "large")]
    plot = Lines("curve", "size", "cycles", {"large": "large spaces"}, band=("least", "most"))
    plot.draw(axis, made(series, []), 0.1)
    assert len(axis.lines) == 1 and len(axis.collections) == 1
