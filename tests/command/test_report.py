# SPDX-License-Identifier: GPL-2.0-or-later
"""The report, opened in a browser: it draws, it complains about nothing, and it needs nothing from outside."""

import re
from dataclasses import replace

import pytest

import browser
import made_up
from cobnut import experiments, machines, report
from cobnut.checks import exactly, judge
from cobnut.plots import Chart, Table
from conftest import ROOT

ALL = experiments.reproductions()
LATEST = "ipc-strings.html"


@pytest.fixture(scope="module", params=list(ALL))
def page(request, tmp_path_factory):
    """A report of made-up measurements, and the experiment and result behind it."""
    with pytest.MonkeyPatch.context() as patch:
        made_up.install(patch)
        experiment = ALL[request.param]
        result = experiment.run(made_up.lab(experiment))
    folder = tmp_path_factory.mktemp("report")
    path = report.write(result, experiment, made_up.MACHINE, folder, notes=("a </script> in a note",))
    return path, experiment, result


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_draws_every_plot_without_complaint(page, dark):
    path, experiment, result = page
    rendered = browser.render(path, dark=dark)
    assert rendered.complaints == []
    for index, plot in enumerate(experiment.plots(result)):
        part = rendered.dom.split(f'id="plot{index}"', 1)[1].split("</figure>", 1)[0]
        if isinstance(plot, Table):
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
    assert len(experiment.sheet.cannot_say) > 2


def test_nothing_is_said_of_a_machine_where_there_is_none(tmp_path):
    proof = experiments.find("fuzz/syscalls")
    lab = replace(made_up.lab(proof), model=None)
    result = lab.result([], [judge("one", 1, "thing", exactly(1), "It is one.")])
    text = report.write(result, replace(proof, plots=lambda result: []), None, tmp_path).read_text()
    assert result.machine is None and result.provenance.machine_file_sha256 is None
    assert not re.search(r"modelled:|<dt>machine|no source gives|None", text.partition("<body>")[2])


def test_it_loads_nothing_from_elsewhere(page):
    text = page[0].read_text()
    assert not re.search(r"@import|url\(", text)
    assert set(re.findall(r"""(?:src|href)=["']([^"']*)""", text)) == {"plotly.min.js", "index.html"}
    assert (page[0].parent / "plotly.min.js").is_file() and (page[0].parent / "index.html").is_file()


def test_it_is_small(page):
    assert all(path.stat().st_size < 1_000_000 for path in page[0].parent.glob("*.html"))


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs of one experiment into one folder, and a function for more: it takes what is changed of the run."""
    made_up.install(monkeypatch)
    experiment = ALL["ipc/strings"]
    result = experiment.run(made_up.lab(experiment))

    def write(checks=None, **origin):
        one = replace(result, provenance=replace(result.provenance, **origin), checks=checks or result.checks)
        return report.write(one, experiment, made_up.MACHINE, tmp_path)

    write(date="2026-01-02T03:04:05+00:00", board="pc", settings={"rounds": 8}, command="./cobnut run first")
    write(
        date="2026-01-02T03:04:06+00:00", board="pc", quick=True, settings={"rounds": 2}, command="./cobnut run second"
    )
    return tmp_path, result, write


def test_no_report_overwrites_another(runs):
    folder, _, write = runs
    assert write(date="2026-01-02T03:04:06+00:00", board="pc", quick=True, command="./cobnut run third").name == LATEST
    names = sorted(path.name for path in folder.glob("*.html"))
    assert names == [
        "index.html",
        LATEST,
        "ipc-strings_pc_made-up_20260102T030405.html",
        "ipc-strings_pc_made-up_quick_20260102T030406-2.html",
        "ipc-strings_pc_made-up_quick_20260102T030406.html",
    ]
    for name, command in zip(names[1:], ("third", "first", "third", "second"), strict=True):
        assert f"<code>./cobnut run {command}</code>" in (folder / name).read_text()


def test_the_index_has_every_run_the_latest_on_top(runs):
    folder, result, write = runs
    failed = [replace(result.checks[0], verdict="failed", ok=False)]
    write(failed, date="2026-01-03T00:00:00+00:00", board="pc", settings={"rounds": 9})
    (folder / "ipc-strings_pc_made-up_20260102T030405.html").unlink()
    write(failed, date="2026-01-01T00:00:00+00:00", board="pc", settings={"rounds": 7})
    text = (folder / "index.html").read_text()
    links = re.findall(r'href="([^"]*)"', text)
    assert links == [
        f"ipc-strings_pc_made-up_{end}.html" for end in ("20260103T000000", "quick_20260102T030406", "20260101T000000")
    ]
    assert all((folder / link).is_file() for link in links)
    assert [word for word in re.findall(r"rounds=\d", text)] == ["rounds=9", "rounds=2", "rounds=7"]
    counts = re.findall(r'<td class="n [a-z_]+">(\d+)</td>', text)
    assert counts[:3] == ["0", "0", "1"]
    assert counts[3:6] == [
        str(sum(one.verdict == verdict for one in result.checks)) for verdict in ("ok", "known_miss", "failed")
    ]
    assert "made-up" in text and 'title="./cobnut run second"' in text


def test_a_page_without_its_plotly_says_so(runs):
    folder, _, _ = runs
    (folder / "plotly.min.js").unlink()
    assert "plotly.min.js draws this, and is not beside this page." in browser.render(folder / LATEST).dom


def test_short_names_are_explained(page):
    _, _, body = page[0].read_text().partition('<dl id="terms">')
    explained = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]+)</dd>", body.partition("</dl>")[0]))
    text = page[0].read_text().partition("<body>")[2]
    for name in ("IPC", "TLB", "ITLB", "DTLB", "CR3", "PID", "L95", "U02", "W03", "us"):
        assert (name in explained) == bool(re.search(rf"(?<![\w.]){name}s?(?!\w)", text)), name


def test_the_sources_of_a_machine_are_known():
    path = ROOT / "lab" / "machines" / "sa1100-200.toml"
    named = machines.sources(path)
    assert list(named) == ["W03", "SADM", "SATRM"]
    assert named["SADM"].endswith("the SA-1110's (278240) says the same of core, caches and MMU")


def test_published_values_are_drawn(page):
    _, experiment, result = page
    if experiment.name.startswith("liedtke95/table"):
        heads = [head for plot in experiment.plots(result) if isinstance(plot, Table) for head in plot.series.values()]
        assert any(head.startswith("L95") for head in heads)
        return
    if experiment.name in ("ledger/counterfactual", "uhlig02/fig9"):
        return  # no number was published about it
    labels = [mark.label for plot in experiment.plots(result) if isinstance(plot, Chart) for mark in plot.marks]
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
    for word in wanted.get(experiment.name, []):
        assert any(label.startswith(word) for label in labels)
