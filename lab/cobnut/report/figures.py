# SPDX-License-Identifier: GPL-2.0-or-later
"""From an experiment's plots to the data and layout that plotly.js draws. Colours are left to the page, which knows its
theme.

A trace names its colour by role ("role:large"); the page's script replaces roles by the theme's colours, so that the
same figure is readable in light and dark.
"""

from collections.abc import Callable
from typing import Any

from cobnut.causes import TAKERS, by_taker
from cobnut.experiments import Plot
from cobnut.report import graphs
from cobnut.results import LedgerRow, Result

# role of a series: by the words in its name, so that large and small spaces look the same in every picture
ROLES = (
    ("standard.same", "large2"),
    ("fast.different", "small"),
    ("fast.same", "small2"),
    ("large_large", "large"),
    ("small_small", "small"),
    ("standard", "large"),
    ("segmented", "small"),
    ("ratio", "accent"),
    ("low", "small"),
    ("high", "large"),
    ("charged", "large"),
    ("saved", "small"),
    (".large", "large"),
    (".fixed", "step1"),
    (".automatic", "step0"),
)
OTHERS = ("accent", "large", "small", "small2", "large2", "spare")  # in turn, for what has no role of its own
MOST_BARS = 22
CATEGORIES = {
    "instructions": "instructions",
    "kernel_entry_exit": "kernel entry and exit",
    "segment_reload": "segment or tag reload",
    "tlb_refill_code": "TLB refill, code",
    "tlb_refill_data": "TLB refill, data",
    "cache_refill": "cache refill",
    "write_back": "write-back",
    "trace_rebuild": "trace-cache rebuild",
    "flush": "flush",
}


def draw(plot: Plot, result: Result) -> dict[str, Any]:
    """The plotly figure of `plot`, as plain data."""
    drawers = {"lines": _lines, "bars": _bars, "ranges": _ranges, "ledger": _ledger, "causes": _causes, "graph": _graph}
    data, layout = drawers[plot.kind](plot, result)
    shapes, marks, notes = _marks(plot, result)
    layout |= {
        "xaxis": {"title": {"text": plot.x_title}, "automargin": True, **layout.get("xaxis", {})},
        "yaxis": {
            "title": {"text": plot.y_title},
            "automargin": True,
            "rangemode": "tozero",
            **layout.get("yaxis", {}),
        },
        "shapes": shapes,
        "annotations": notes,
    }
    return {"data": [*data, *marks], "layout": layout}


def _lines(plot: Plot, result: Result) -> tuple[list[dict], dict]:
    data = _band(plot, result)
    role = roles(plot)
    for name, label in plot.series.items():
        series = result.find(name)
        if series is not None:
            data.append(
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "name": label,
                    "x": series.x,
                    "y": series.y,
                    "role": role[name],
                    "hovertemplate": f"%{{x:,}}: %{{y:,.5~g}} {series.unit}<extra>{label}</extra>",
                }
            )
    return data, {"hovermode": "x unified"}


def _band(plot: Plot, result: Result) -> list[dict]:
    """The shaded room between two series, below the curves."""
    least, most = (result.find(name) for name in plot.band) if plot.band else (None, None)
    if least is None or most is None:
        return []
    edge = {"type": "scatter", "mode": "lines", "role": "band", "showlegend": False, "hoverinfo": "skip"}
    return [
        {**edge, "x": least.x, "y": least.y},
        {**edge, "x": most.x, "y": most.y, "fill": "tonexty", "name": "open numbers at their ends", "showlegend": True},
    ]


def _bars(plot: Plot, result: Result) -> tuple[list[dict], dict]:
    data = []
    for index, (name, label) in enumerate(plot.series.items()):
        series = result.find(name)
        if series is not None:
            names = [plot.rows.get(str(x), str(x).replace("_", " → ")) for x in series.x]
            data.append(
                {
                    "type": "bar",
                    "name": label,
                    "x": names,
                    "y": series.y,
                    "role": f"step{index}",
                    "text": series.y,
                    "textposition": "auto",
                    "textangle": 0,
                    "constraintext": "none",
                    "hovertemplate": f"%{{x}}: %{{y:,.5~g}} {series.unit}<extra>{label}</extra>",
                }
            )
    return data, {"barmode": "stack"}


def _ranges(plot: Plot, result: Result) -> tuple[list[dict], dict]:
    lows, highs = (result.find(name) for name in plot.series)
    rows = []
    if lows is not None and highs is not None:
        rows = [
            (x, low, high)
            for x, low, high in zip(lows.x, lows.y, highs.y, strict=True)
            if low is not None and high is not None
        ]
    value = plot.marks[0].x if plot.marks else None
    rows = [row for row in rows if value is None or max(abs(row[1] - value), abs(row[2] - value)) >= plot.least * value]
    rows.sort(key=lambda row: abs(row[2] - row[1]))
    names = [row[0] for row in rows]
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "y": names,
            "base": [min(row[1:]) for row in rows],
            "x": [abs(row[2] - row[1]) for row in rows],
            "role": "band",
            "showlegend": False,
            "hoverinfo": "skip",
        }
    ]
    for index, label in enumerate(plot.series.values(), start=1):
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": label,
                "y": names,
                "x": [row[index] for row in rows],
                "role": ("small", "large")[index - 1],
                "marker": {"size": 10, "symbol": ("triangle-left", "triangle-right")[index - 1]},
                "hovertemplate": f"%{{y}}: %{{x:.4~g}}<extra>{label}</extra>",
            }
        )
    return data, {"barmode": "overlay", "xaxis": {"rangemode": "normal"}, "height": 150 + 26 * max(len(rows), 4)}


def _graph(plot: Plot, result: Result) -> tuple[list[dict], dict]:
    nodes, edges = graphs.layout(plot, result)
    data: list[dict] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": edge.x,
            "y": edge.y,
            "role": _group_role(edge.group),
            "opacity": 1 if edge.group is not None else 0.5,
            "line": {"width": edge.width},
            "showlegend": False,
            "hovertemplate": (
                f"{edge.start} → {edge.end}: {edge.times:,.0f} {plot.series[next(iter(plot.series))]}<extra></extra>"
            ),
        }
        for edge in sorted(edges, key=lambda edge: edge.group is not None)
    ]
    for group in sorted({node.group for node in nodes}, key=lambda group: (group is None, group)):
        members = [node for node in nodes if node.group == group]
        label = "in all" if group is None else f"group {group + 1}"
        data.append(
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": label,
                "x": [node.x for node in members],
                "y": [node.y for node in members],
                "text": [node.name for node in members],
                "role": _group_role(group),
                "marker": {"size": 22},
                "textfont": {"size": 11},
                "hovertemplate": f"%{{text}}<extra>{label}</extra>",
            }
        )
    hidden = {"visible": False, "range": [-1.25, 1.25]}
    return data, {
        "xaxis": hidden,
        "yaxis": hidden | {"scaleanchor": "x", "rangemode": "normal"},
        "height": 560,
        "hovermode": "closest",
    }


def _group_role(group: int | None) -> str:
    return "soft" if group is None else f"group{group}"


def _ledger(plot: Plot, result: Result) -> tuple[list[dict], dict]:
    return _stacked(plot, result, CATEGORIES, lambda row: row.entries)


def _causes(plot: Plot, result: Result) -> tuple[list[dict], dict]:
    return _stacked(plot, result, TAKERS, lambda row: by_taker(row.causes, row.space, row.total))


def _stacked(
    plot: Plot, result: Result, labels: dict[str, str], amounts: Callable[[LedgerRow], dict[str, float]]
) -> tuple[list[dict], dict]:
    """The ledger rows that `plot` names as bars of their `amounts`, which `labels` names in order from below."""
    rows = _thinned([row for row in result.ledger if row.name in plot.series])
    order = {name: index for index, name in enumerate(plot.series)}
    rows.sort(key=lambda row: (row.x if row.x is not None else 0, order[row.name]))
    by_size = all(row.x is not None for row in rows)
    if by_size:
        x: list = [[f"{row.x:,.0f}" for row in rows], [plot.series[row.name] for row in rows]]
    else:
        x = [plot.series[row.name].replace("_", " → ") for row in rows]
    data = [
        {
            "type": "bar",
            "name": label,
            "x": x,
            "y": [_per_round(row, amounts(row).get(key, 0)) for row in rows],
            "role": key,
            "hovertemplate": f"%{{x}}: %{{y:,.1f}} cycles<extra>{label}</extra>",
        }
        for key, label in labels.items()
        if any(amounts(row).get(key) for row in rows)
    ]
    return data, {"barmode": "stack", "hovermode": "closest"}


def _thinned(rows: list[LedgerRow]) -> list[LedgerRow]:
    """The rows of as many sizes, evenly spaced, as can be told apart in a plot."""
    sizes = sorted({row.x for row in rows if row.x is not None})
    step = -(-len(sizes) // MOST_BARS)
    kept = set(sizes[::step]) if step else set()
    return [row for row in rows if row.x is None or row.x in kept]


def _per_round(row: LedgerRow, cycles: float) -> float:
    return cycles / row.rounds if row.rounds else 0


def _marks(plot: Plot, result: Result) -> tuple[list[dict], list[dict], list[dict]]:
    """Published values: points as a series of their own, single coordinates as lines across the plot."""
    series = next((found for name in plot.series if (found := result.find(name))), None)
    widest = max((x for x in series.x if isinstance(x, (int, float))), default=0) if series else 0
    shapes, notes = [], []
    points = [(mark.x, mark.y, mark.label) for mark in plot.marks if mark.x is not None and mark.y is not None]
    for mark in plot.marks:
        if mark.x is None and mark.y is not None:
            shapes.append(
                {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": mark.y, "y1": mark.y, "role": "published"}
            )
            notes.append(
                {
                    "xref": "paper",
                    "x": 1,
                    "xanchor": "right",
                    "y": mark.y,
                    "yanchor": "bottom",
                    "text": mark.label,
                    "showarrow": False,
                    "role": "published",
                }
            )
        elif mark.y is None and mark.x is not None:
            shapes.append(
                {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": mark.x, "x1": mark.x, "role": "published"}
            )
    traces = []
    if points:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "published",
                "x": [x for x, _, _ in points],
                "y": [y for _, y, _ in points],
                "text": [label for _, _, label in points],
                "role": "published",
                "marker": {"symbol": "diamond-open", "size": 13, "line": {"width": 2.5}},
                "hovertemplate": "%{text}<extra>published</extra>",
            }
        )
        for x, y, label in points:
            at_right = x > widest / 2
            notes.append(
                {
                    "x": x,
                    "y": y,
                    "text": label,
                    "showarrow": False,
                    "xanchor": "right" if at_right else "left",
                    "xshift": -12 if at_right else 12,
                    "role": "published",
                }
            )
    return shapes, traces, notes


def roles(plot: Plot) -> dict[str, str]:
    """The role of each curve of a plot: that of the words in its name, or one that no other curve has."""
    own = {name: next((role for word, role in ROLES if word in name), None) for name in plot.series}
    found: dict[str, str] = {}
    for name, role in own.items():
        taken = {*found.values(), *(one for one in own.values() if one and one != role)}
        free = [one for one in OTHERS if one not in taken]
        found[name] = role if role and role not in found.values() else free[0] if free else OTHERS[0]
    return found
