# SPDX-License-Identifier: GPL-2.0-or-later
"""The report, opened in a browser: it draws, it complains about nothing, and it needs nothing from outside."""

import re

import pytest

import browser
import made_up
from cobnut import experiments, report

ALL = experiments.reproductions()


@pytest.fixture(scope="module", params=list(ALL))
def page(request, tmp_path_factory):
    """A report of made-up measurements, and the experiment and result behind it."""
    with pytest.MonkeyPatch.context() as patch:
        made_up.install(patch)
        experiment = ALL[request.param]
        result = experiment.run(made_up.lab(experiment))
    folder = tmp_path_factory.mktemp("report")
    return (
        report.write(
            result, experiment, made_up.MACHINE, folder, command="./cobnut run it", notes=("a </script> in a note",)
        ),
        experiment,
        result,
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_draws_every_plot_without_complaint(page, dark):
    path, experiment, result = page
    rendered = browser.render(path, dark=dark)
    assert rendered.complaints == []
    for index, plot in enumerate(experiment.plots(result)):
        part = rendered.dom.split(f'id="plot{index}"', 1)[1].split("</figure>", 1)[0]
        if plot.kind == "table":
            assert part.count("<tr>") > 2 and all(head in part for head in plot.series.values())
            continue
        assert "main-svg" in part, plot.title
        assert re.search(r'class="(trace scatter|trace bars|scatterlayer|barlayer)', part), plot.title


def test_it_says_what_it_must(page):
    path, experiment, result = page
    text = path.read_text()
    for check in result.checks:
        assert f"<code>{check.name}</code>" in text
    for sentence in (
        result.provenance.revision,
        made_up.MACHINE.sha256,
        "cycles are modelled",
        "What the model cannot say",
    ):
        assert sentence in text
    assert len(experiment.cannot_say) > 2


def test_it_loads_nothing_from_elsewhere(page):
    head = page[0].read_text().split("<script>", 1)[0]
    assert not re.search(r"""(src|href)=["']|@import|url\(""", head)


def test_published_values_are_drawn(page):
    _, experiment, result = page
    if experiment.name.startswith("liedtke95/table"):
        heads = [head for plot in experiment.plots(result) if plot.kind == "table" for head in plot.series.values()]
        assert any(head.startswith("L95") for head in heads)
        return
    if experiment.name in ("ledger/counterfactual", "uhlig02/fig9"):
        return  # no number was published about it
    labels = [mark.label for plot in experiment.plots(result) for mark in plot.marks]
    if experiment.name in ("liedtke95/fig4", "liedtke95/messages", "wiggins03/flushes"):
        return  # the paper gives none of the numbers that are drawn
    wanted = {
        "uhlig02/fig4": ["U02: 2.0", "U02: equal", "U02: 3.5", "U02: up to 2.0"],
        "ipc/path": ["best peer", "U02: small spaces"],
        "ipc/scale": ["limit"],
        "ipc/strings": ["limit"],
        "wiggins03/fig4": ["W03: up to 9", "the data TLB"],
        "wiggins03/fig5": ["W03: standard", "W03: fast, 10", "W03: fast, 12"],
    }
    for word in wanted[experiment.name]:
        assert any(label.startswith(word) for label in labels)
