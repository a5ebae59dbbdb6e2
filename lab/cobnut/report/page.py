# SPDX-License-Identifier: GPL-2.0-or-later
"""Filling the report's template."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from cobnut.checks import Check, Verdict, in_words
from cobnut.experiments import Experiment
from cobnut.machines import Machine
from cobnut.report import figures, tables
from cobnut.results import Result

TEMPLATES = Path(__file__).parent
SHOWN: dict[Verdict, str] = {"ok": "ok", "known_miss": "known miss", "failed": "not ok"}


def write(
    result: Result,
    experiment: Experiment,
    machine: Machine,
    folder: Path,
    *,
    command: str,
    notes: Sequence[str] = (),
) -> Path:
    """Writes the page of `result` into `folder` and returns its path. `command` makes it again; `notes` are facts about
    the run.
    """
    from plotly.offline import get_plotlyjs

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters["number"] = number
    plots = [
        {
            "plot": plot,
            "id": f"plot{index}",
            "figure": None if plot.kind == "table" else figures.draw(plot, result),
            "table": tables.rows(plot, result) if plot.kind == "table" else None,
        }
        for index, plot in enumerate(experiment.plots(result))
    ]
    text = environment.get_template("template.html").render(
        result=result,
        experiment=experiment,
        machine=machine,
        plots=plots,
        figures_json=_for_script({entry["id"]: entry["figure"] for entry in plots if entry["figure"]}),
        verdicts=in_words(result.checks),
        shown=SHOWN,
        off=_off,
        open_parameters={name: parameter for name, parameter in machine.parameters.items() if parameter.open},
        command=command,
        notes=notes,
        plotlyjs=get_plotlyjs(),
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (result.experiment.replace("/", "-") + ".html")
    path.write_text(text)
    return path


def number(value: float | str | None) -> str:
    """A number as a person reads it, a dash where there is none, a word as it is."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"


def _off(check: Check) -> str:
    """How far a measurement is from the published value."""
    if check.published is None or check.measured is None or check.published == 0:
        return "–"
    return f"{100 * (check.measured / check.published - 1):+.0f} %"


def _for_script(value: Any) -> str:
    """JSON that cannot end the script element that it stands in."""
    return json.dumps(value).replace("</", "<\\/")
