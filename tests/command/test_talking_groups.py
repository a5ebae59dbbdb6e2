# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups by who ran after whom, and what `uhlig02/fig10` and `fig11` judge. No emulator runs here."""

import made_up
from cobnut.experiments import talking_groups, talking_linux, uhlig02_fig10, uhlig02_fig11
from cobnut.experiments.talking_groups import Seen
from cobnut.experiments.talking_linux import Graph

LIGHTTPD = ("lighttpd 3", "greeter 2", "visitor 7")
APACHE = ("apache2 4", "greeter 5", "visitor 8")
WEB = talking_groups.web_servers(10)


def graph(successions, hosts=None):
    """Of these successions; each process is alone in a host of its name if nothing else is said."""
    programs = {one for pair in successions for one in pair if "/" not in one}
    on = {one: frozenset((hosts or {}).get(one, [one])) for one in programs}
    return Graph({}, on, frozenset(), frozenset(programs), successions, 0)


def around(names, times):
    """Successions around a group, as of requests."""
    server, greeter, visitor = names
    return {(visitor, server): times, (server, greeter): times, (greeter, server): times, (server, visitor): times}


def seen(graph):
    """What the run of a graph has shown."""
    return Seen(None, graph, talking_groups.real_groups(graph), WEB)


BOTH = {**around(LIGHTTPD, 50), **around(APACHE, 40)}


def test_strongest_partners_make_groups_whatever_the_scheduler_puts_between():
    ours = graph({**BOTH, ("visitor 7", "apache2 4"): 20, ("apache2 4", "lighttpd 3"): 20})
    groups = talking_groups.real_groups(ours)
    assert {frozenset(group) for group in groups} == {frozenset(LIGHTTPD), frozenset(APACHE)}
    assert seen(ours).found == groups
    assert seen(ours).inside == 360 / 400


def test_who_ran_seldom_is_in_no_group_and_threads_of_the_server_are_nobody():
    ours = graph(
        {**BOTH, ("lighttpd 3", "sh 6"): 1, ("visitor 7", "ksoftirqd/0 1"): 90, ("ksoftirqd/0 1", "apache2 4"): 90}
    )
    assert {frozenset(group) for group in talking_groups.real_groups(ours)} == {frozenset(LIGHTTPD), frozenset(APACHE)}


def test_a_group_of_other_programs_is_not_one_that_was_started():
    ours = graph({**around(LIGHTTPD, 50), ("visitor 7", "wget 9"): 30, ("wget 9", "visitor 7"): 30})
    assert seen(ours).found == []


def test_groups_are_together_in_one_host_or_beside_spaces_in_several():
    hosts = {"lighttpd 3": ["a", "b"], "greeter 2": ["a"], "visitor 7": ["a"], "apache2 4": ["a"]}
    ours = graph(BOTH, hosts)
    ours = Graph(ours.times, ours.hosts, frozenset({"lighttpd 3"}), ours.programs, ours.successions, 0)
    assert talking_groups.together(ours, talking_groups.real_groups(ours)) == 1


def test_the_figures_of_made_up_processes():
    peer = made_up.talking()
    tenth = {check.name: check.measured for check in uhlig02_fig10.judge(talking_groups.seen(peer, WEB))}
    assert tenth == {
        "apparent.known": 0.8,
        "apparent.with_server": 0.6,
        "apparent.partners": 2,
        "real.groups": 0,
        "real.inside": 1,
    }
    eleventh = {check.name: check.measured for check in uhlig02_fig11.judge(talking_groups.seen(peer, WEB))}
    assert eleventh["hosts.global"] == 1 and eleventh["hosts.cr3_writes"] == 3 / 50


def test_processes_without_a_space_of_their_own_are_no_programs():
    assert talking_linux.graph_of(made_up.talking()).programs == {"sh 7", "cat 9", "a.b 8"}
