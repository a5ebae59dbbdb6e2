# SPDX-License-Identifier: GPL-2.0-or-later
"""What `uhlig02/fig9` makes of switches and tags, and how its graph is laid out. No emulator runs here."""

import copy
import math
from dataclasses import replace

import pytest

import made_up
from cobnut.experiments import uhlig02_fig9
from cobnut.experiments.talking_spaces import Talk
from cobnut.experiments.uhlig02_fig9 import GLOBAL, graph_of, judge_one, series_of
from cobnut.plots import SwitchGraph
from cobnut.plots.graph import INNER, Node
from cobnut.report import picture
from cobnut.results import Result, Series


def heard(pattern: str = "web", spaces: int = 10):
    """Groups of spaces 2 to 5 and 6 to 9; 0 and 1 are in all hosts."""
    return made_up.heard(Talk(pattern, spaces, "groups", 64, 3, 10, names=True))


def verdicts(one) -> dict[str, bool]:
    return {check.name.partition(".")[2]: check.ok for check in judge_one(one)}


def switch(one, start: str, end: str, times: int, how: str = "segments"):
    """The same run with more switches, between spaces of these names."""
    measured = copy.deepcopy(one.measured)
    measured["switches"].append({"from": start, "to": end, "how": how, "at": None})
    measured["regions"][0]["switches"].append({"switch": len(measured["switches"]) - 1, "times": times})
    return replace(one, measured=measured)


def name_of(one, space: int) -> str:
    return one.measured["regions"][1 + space]["space"]


def test_spaces_are_told_apart_by_host_and_slot():
    one = heard()
    graph = graph_of(one)
    assert graph.unknown == 0 and graph.known == 1
    assert graph.times[2, 3] == graph.times[3, 2] == graph.times[6, 9] == 100
    assert [graph.groups[space] for space in range(10)] == [GLOBAL] * 2 + [0] * 4 + [1] * 4
    assert name_of(one, 3).partition("+")[2] == name_of(one, 7).partition("+")[2], "the same slot in two hosts"


def test_who_is_in_all_hosts_is_the_same_in_each():
    one = heard()
    slot = name_of(one, 1).partition("+")[2]
    graph = graph_of(switch(one, f"{name_of(one, 6)}", f"{name_of(one, 6)}+{slot}", 7))
    assert graph.times[6, 1] == 7 and graph.unknown == 0


def test_the_driver_may_move_while_it_is_measured():
    one = heard()
    place = f"{name_of(one, 6)}+e4000000"
    moved = switch(one, name_of(one, 2), place, 7)
    assert graph_of(moved).unknown == 7
    moved.measured["regions"][0]["spaces"].append(place)
    assert graph_of(moved).times[2, 0] == graph_of(one).times.get((2, 0), 0) + 7 and graph_of(moved).unknown == 0


def test_an_invalidation_is_no_switch():
    one = heard()
    assert graph_of(switch(one, name_of(one, 2), name_of(one, 2), 1000, "reload")).times == graph_of(one).times


def test_what_was_meant_is_ok():
    good = verdicts(heard())
    assert list(good) == ["groups", "between", "cr3_writes", "global", "known"]
    assert all(good.values())


def test_strangers_and_switches_between_groups_count_against_it():
    one = heard()
    assert verdicts(switch(one, "00099000", name_of(one, 2), 100))["known"] is False
    between = verdicts(switch(one, name_of(one, 3), name_of(one, 7), 100))
    assert [name for name, ok in between.items() if not ok] == ["between"]


@pytest.mark.parametrize("space", [3, 6])
def test_a_group_that_is_torn_apart_is_not_found(space):
    one = heard()
    measured = copy.deepcopy(one.measured)
    measured["regions"][1 + space]["space"] = "00077000"
    tags = tuple(replace(tag, size_mb=0, bound=False) if tag.space == space else tag for tag in one.tags)
    assert not verdicts(replace(one, measured=measured, tags=tags))["groups"]


def test_two_groups_in_one_host_are_not_found():
    one = heard()
    measured = copy.deepcopy(one.measured)
    for space in range(6, 10):
        measured["regions"][1 + space]["space"] = f"{name_of(one, 2)}+{0xF0000000 + (space << 20):08x}"
    tags = tuple(replace(tag, size_mb=16, bound=True) if tag.space > 5 else tag for tag in one.tags)
    assert graph_of(replace(one, measured=measured, tags=tags)).found == 0


def test_everybodys_partner_has_to_be_in_all_hosts():
    one = heard()
    tags = tuple(replace(tag, bound=True) if tag.space < 2 else tag for tag in one.tags)
    assert not verdicts(replace(one, tags=tags))["global"]


def test_without_a_measurement_nothing_is_ok():
    assert not any(verdicts(replace(heard(), measured={}, tags=(), ipcs=0, failure="made to fail")).values())


def layout(one):
    series = series_of("web", graph_of(one))
    plot = SwitchGraph("", *{line.name: line.name for line in series})
    return plot.placed(Result("x", "m", None, series, [], []))


def test_a_graph_is_a_circle_with_the_others_in_its_middle():
    nodes, edges = layout(heard())
    radius = {node.name: math.hypot(node.x, node.y) for node in nodes}
    assert all(radius[str(space)] == pytest.approx(1) for space in range(2, 10))
    assert radius["0"] == radius["1"] == pytest.approx(INNER)
    assert len({(round(node.x, 3), round(node.y, 3)) for node in nodes}) == len(nodes)
    by_ends = {(edge.start, edge.end): edge for edge in edges}
    own, others = by_ends["2", "3"], by_ends["0", "2"]
    assert own.group == 0 and others.group is None and own.width > others.width
    back = by_ends["3", "2"]
    assert (own.x[0], own.x[-1]) == (back.x[-1], back.x[0]) and own.x[7] != back.x[7], "the two ways run apart"


def test_more_switches_make_a_wider_edge():
    one = heard()
    widths = {
        edge.width
        for edge in layout(switch(one, name_of(one, 2), name_of(one, 3), 10_000))[1]
        if (edge.start, edge.end) == ("2", "3")
    }
    assert widths.pop() > max(edge.width for edge in layout(one)[1])


@pytest.mark.parametrize(
    ("name", "x", "y", "label", "side"),
    [
        ("12", 1, 0, "12", None),
        ("lighttpd 43", 1, 0, "lighttpd 43", ("middle", "right")),
        ("lighttpd 43", -1, 0, "lighttpd 43", ("middle", "left")),
        ("server", 0, 0, "server", ("top", "center")),
        ("sh 37 greeter 40 visitor 46", 0, -1, "visitor 46 +2", ("bottom", "center")),
        ("sh 46 sed 46", 0, 1, "sh 46 sed 46", ("top", "center")),
    ],
)
def test_a_long_name_stands_beside_its_node(name, x, y, label, side):
    node = Node(name, 0, x, y)
    assert (node.label, None if node.is_inside else node.side) == (label, side)


def test_a_picture_is_drawn(tmp_path, monkeypatch):
    made_up.install(monkeypatch)
    result = uhlig02_fig9.run(made_up.lab(uhlig02_fig9.EXPERIMENT))
    picture.write(result, uhlig02_fig9.EXPERIMENT, tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_a_result_without_series_draws_nothing():
    nothing = Result("x", "m", None, [Series("a", "", [], [])], [], [])
    assert SwitchGraph("", "a", "b", "c").placed(nothing) == ([], [])
