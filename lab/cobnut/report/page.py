# SPDX-License-Identifier: GPL-2.0-or-later
"""Filling the report's template."""

import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cobnut import machines, paths
from cobnut.checks import Check, Verdict, by_kind, in_words, met
from cobnut.experiments import Experiment
from cobnut.machines import Machine
from cobnut.plots import Chart, Table
from cobnut.process import alone
from cobnut.report import history, terms
from cobnut.results import Result, number

TEMPLATES = Path(__file__).parent
PLOTLY = "plotly.min.js"  # beside the pages, for all of them
LONGEST_PART = 60  # of a file's name
SHOWN: dict[Verdict, str] = {"ok": "ok", "known_miss": "known miss", "failed": "not ok"}


def write(
    result: Result, experiment: Experiment, machine: Machine | None, folder: Path, *, notes: Sequence[str] = ()
) -> Path:
    """Writes the page of `result` into `folder`, where every run has a page of its own, and returns the path of the
    experiment's latest; the folder's index lists all. `notes` are facts about the run.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    plots = [
        {
            "plot": plot,
            "id": f"plot{index}",
            "figure": plot.figure(result) if isinstance(plot, Chart) else None,
            "table": plot.table(result) if isinstance(plot, Table) else None,
        }
        for index, plot in enumerate(experiment.plots(result))
    ]
    template = environment.get_template("template.html").render
    fill = partial(
        template,
        result=result,
        experiment=experiment,
        machine=machine,
        plots=plots,
        figures_json=_for_script({entry["id"]: entry["figure"] for entry in plots if entry["figure"]}),
        verdicts=in_words(result.checks),
        kinds={kind: (met(kind, checks), checks) for kind, checks in by_kind(result.checks).items()},
        shown=SHOWN,
        off=_off,
        open_parameters={name: one for name, one in machine.parameters.items() if one.open} if machine else {},
        notes=notes,
        plotly=PLOTLY,
        index=history.INDEX,
    )
    body = fill(terms=()).partition("<body>")[2]
    text = fill(terms=terms.used(body, machines.sources(machine.path) if machine else {}))
    latest = result.experiment.replace("/", "-")
    with alone(paths.LOCKS / "reports"):
        folder.mkdir(parents=True, exist_ok=True)
        _share_plotly(folder)
        kept = _unused(folder, "_".join([latest, *_settings(result), _stamp(result)]))
        text = history.mark(text, history.entry(result, kept.name))
        for path in (kept, folder / f"{latest}.html"):
            history.replace_text(path, text)
        history.write(folder, environment)
    return folder / f"{latest}.html"


def _share_plotly(folder: Path) -> None:
    """Puts what draws the plots beside the pages, once."""
    import plotly
    from plotly.offline import get_plotlyjs

    stamp, file = f"/* plotly {plotly.__version__} for Python */\n", folder / PLOTLY
    if file.is_file():
        with file.open(encoding="utf-8") as old:
            if old.readline() == stamp:
                return
    history.replace_text(file, stamp + get_plotlyjs())


def _settings(result: Result) -> list[str]:
    """What tells this run from another of the same experiment, as parts of a file's name."""
    origin = result.provenance
    words = [origin.board, result.machine or "", "quick" if origin.quick else ""]
    plain = [re.sub(r"[^\w.=+-]+", "-", word).strip("-")[:LONGEST_PART] for word in words]
    return [word for word in plain if word]


def _stamp(result: Result) -> str:
    """The run's date as a part of a file's name that sorts by time."""
    return re.sub(r"[^0-9T]", "", result.provenance.date.partition("+")[0])


def _unused(folder: Path, name: str) -> Path:
    """A file of this name, with a number where there is one already."""
    path, number = folder / f"{name}.html", 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}.html"
    return path


def _off(check: Check) -> str:
    """How far a measurement is from the published value."""
    if check.published is None or check.measured is None or check.published == 0:
        return "–"
    return f"{100 * (check.measured / check.published - 1):+.0f} %"


def _for_script(value: Any) -> str:
    """JSON that cannot end the script element that it stands in."""
    return json.dumps(value).replace("</", "<\\/")
