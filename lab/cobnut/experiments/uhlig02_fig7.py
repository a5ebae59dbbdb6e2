# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/fig7`: pages that a FastCGI server makes for lighttpd and for Apache, over its working set: natively, and
with Linux as a server, whose programs are in large or in small spaces.
"""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cobnut import published, sheets, tables
from cobnut.checks import Check, Rule, at_most, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, COUNTED, LARGE, NATIVE, SMALL, Peer, Printed, Work
from cobnut.linux import web
from cobnut.plots import Plot
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PEERS = (NATIVE, LARGE, SMALL, ALL)
WARMUP = 1  # rounds of requests before the measured one
PAGES, QUICK = (0, 16, 32, 64, 96), (0, 32)
MOST_SLOWER = 1.01  # in small spaces, times large ones


@dataclass(frozen=True)
class Server:
    """A web server: what it is called, the function of SCRIPT that starts it, its port, and what small spaces gain."""

    name: str
    function: str
    port: int
    gain: Rule


SERVERS = (
    Server(
        "lighttpd",
        "lighttpd_serves",
        8080,
        reproduces(published.U02_WEB_GAIN, published.U02_WEB_GAIN_WITHIN, "about 5 % to 6 % on average"),
    ),
    Server(
        "apache",
        "apache_serves",
        8081,
        reproduces(published.U02_APACHE_GAIN, published.U02_APACHE_GAIN_WITHIN, "no improvement, told to a percent"),
    ),
)


def run(lab: Lab) -> Result:
    """Boots each kernel with both servers and a client, which asks one after the other."""
    requests = lab.settings["requests"]
    sizes = QUICK if lab.quick else PAGES
    loops = tuple(
        Printed(loop(server, size), f"{said(server, number)} now", f"{said(server, number)} done")
        for server in SERVERS
        for number, size in enumerate(sizes)
    )
    command = " && ".join([f". ./{web.SCRIPT}", *(command_of(server, sizes, requests) for server in SERVERS)])
    work = Work(None, command, loops, WARMUP, files=web.files(), image=web.IMAGE, others=web.programs())
    boots = lab.settings["boots"]
    peers = linux_programs.measure(lab, work, PEERS, boots)
    checks = [*judge(sizes, requests, peers), *linux_programs.judge_peers(peers, boots)]
    return linux_programs.result(lab, peers, series_of(sizes, requests, peers), checks)


def loop(server: Server, pages: int) -> str:
    return f"{server.name}_{pages}"


def said(server: Server, number: int) -> str:
    """What the client prints of its loops with one path."""
    return f"{server.name} {number}"


def command_of(server: Server, sizes: tuple[int, ...], requests: int) -> str:
    """Starts the server and has the client ask it for a page of each size."""
    asked = " ".join(f"'/hello?{size}' 'hello world, of {size} pages\n'" for size in sizes)
    return f"{server.function} && ./{web.VISITOR} {server.port} {requests} {server.name} {asked}"


def judge(sizes: tuple[int, ...], requests: int, peers: Mapping[str, Peer]) -> Iterator[Check]:
    """What small spaces gain, that they lose nowhere, and what a request misses."""
    for server in SERVERS:
        large, small = (peers[name].loops for name in (SMALL, ALL))
        ratios = {size: small[loop(server, size)].cycles / large[loop(server, size)].cycles for size in sizes}
        gain = statistics.mean(1 / ratio for ratio in ratios.values()) - 1
        yield SHEET.judge(f"{server.name}.gain", gain, server.gain)
        for size, ratio in ratios.items():
            yield SHEET.judge(f"{server.name}.small.{size}", ratio, at_most(MOST_SLOWER))
            before, after = (turns[loop(server, size)].without_caches for turns in (large, small))
            yield SHEET.judge(f"{server.name}.without_caches.{size}", after / before, at_most(MOST_SLOWER))
    apache = peers[SMALL].loops[loop(SERVERS[1], 0)]
    for buffer, misses in published.U02_APACHE_MISSES.items():
        counter = f"{buffer}_misses"
        yield SHEET.judge(f"apache.{counter}", apache.count(counter) / requests, reproduces(misses))


def series_of(sizes: tuple[int, ...], requests: int, peers: Mapping[str, Peer]) -> list[Series]:
    """Of a request, over the pages of the FastCGI server's working set."""
    found = []
    for server in SERVERS:
        for name, peer in peers.items():
            turns = [peer.loops[loop(server, size)] for size in sizes]
            for counter, unit in COUNTED:
                what = f"{server.name}.{name}" if counter == "cycles" else f"{server.name}.{name}.{counter}"
                found.append(Series(what, unit, list(sizes), [one.count(counter) / requests for one in turns]))
        natively = [peers[NATIVE].loops[loop(server, size)].cycles for size in sizes]
        for name in PEERS[1:]:
            ours = [peers[name].loops[loop(server, size)].cycles for size in sizes]
            times = [one / first for one, first in zip(ours, natively, strict=True)]
            found.append(Series(f"{server.name}.{name}.times", "times native", list(sizes), times))
    return found


def show(result: Result) -> None:
    for server in SERVERS:
        rows = [f"{server.name}.{name}" for name in PEERS]
        behind = [f"{server.name}.{name}.{what}" for name in PEERS for what, _ in COUNTED[1:]]
        times = [f"{server.name}.{name}.times" for name in PEERS[1:]]
        title = f"a request to {server.name}, by pages of the FastCGI server's working set"
        tables.show_rows(result, title, [*rows, *times, *behind])


def plots(result: Result) -> list[Plot]:
    return [plot for server in SERVERS for plot in SHEET.drawn(server=server.name)]


EXPERIMENT = Experiment(
    name="uhlig02/fig7",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "requests": Setting(20, 10, range(1, 10_001), "measured with each working set, and before that"),
        "boots": linux_programs.BOOTS,
    },
    run=run,
    plots=plots,
    show=show,
)
