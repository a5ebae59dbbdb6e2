# SPDX-License-Identifier: GPL-2.0-or-later
"""`uhlig02/mysql`: selects of MariaDB, simple ones and complex ones: natively, and with Linux as a server, whose
programs are in large or in small spaces.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cobnut import published, sheets, tables
from cobnut.checks import Check, Rule, at_most, reproduces
from cobnut.experiments import Experiment, Kind, Lab, Setting, linux_programs
from cobnut.experiments.linux_programs import ALL, COUNTED, LARGE, NATIVE, SMALL, Peer, Printed, Work
from cobnut.linux import images
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PEERS = (NATIVE, LARGE, SMALL, ALL)
IMAGE, SCRIPT = "database", "database.sh"
ROWS = 1000  # of the table, by number
MADE = (
    "create database d; use d; create table t(a int primary key, b int, c char(20));"
    f" insert into t select seq, seq % 37, concat('row ', seq) from seq_1_to_{ROWS}"
)
MOST_SLOWER = 1.01  # in small spaces, times large ones
SIMPLE = reproduces(published.U02_SELECT_GAIN, published.U02_SELECT_GAIN_WITHIN, "about 3 %")
COMPLEX = reproduces(published.U02_COMPLEX_GAIN, published.U02_COMPLEX_GAIN_WITHIN, "none, told to a percent")


@dataclass(frozen=True)
class Select:
    """A query, the setting with how many are measured, and what small spaces gain."""

    name: str
    sql: str
    setting: str
    gain: Rule

    @property
    def loop(self) -> Printed:
        return Printed(self.name, f"{self.name} now", f"{self.name} done")


SELECTS = (
    Select("constant", "select 1", "simple", SIMPLE),
    Select("key", "select c from t where a = 77", "simple", SIMPLE),
    Select(
        "complex",
        "select x.b, count(*), sum(y.a), max(y.c) from t x join t y on y.a = x.a + x.b group by x.b order by 3",
        "complex",
        COMPLEX,
    ),
)


def run(lab: Lab) -> Result:
    """Boots each kernel with the database and its load generator."""
    commands = [f". ./{SCRIPT}", "database_serves", f'asked "{MADE}"', *(command(lab, one) for one in SELECTS)]
    files = {SCRIPT: (images.FOLDER / SCRIPT).read_bytes()}
    loops = tuple(one.loop for one in SELECTS)
    work = Work(None, " && ".join(commands), loops, 0, files=files, image=IMAGE)
    boots = lab.settings["boots"]
    peers = linux_programs.measure(lab, work, PEERS, boots)
    checks = [*judge(peers), *linux_programs.judge_peers(peers, boots)]
    return linux_programs.result(lab, peers, series_of(lab, peers), checks)


def command(lab: Lab, one: Select) -> str:
    """As many queries once, and once more between two lines."""
    first, behind = one.loop.first, one.loop.behind
    times = lab.settings[one.setting]
    return (
        f'loaded {times} "{one.sql}" && '
        f'loaded {times} "{one.sql}" --pre-system="echo {first}" --post-system="echo {behind}"'
    )


def judge(peers: Mapping[str, Peer]) -> Iterator[Check]:
    """What small spaces gain, and that they lose nowhere."""
    for one in SELECTS:
        before, after = (peers[name].loops[one.name] for name in (SMALL, ALL))
        large, small = before.cycles, after.cycles
        yield SHEET.judge(f"{one.name}.gain", large / small - 1, one.gain, large=large, small=small)
        yield SHEET.judge(f"{one.name}.small", small / large, at_most(MOST_SLOWER))
        without = after.without_caches / before.without_caches
        yield SHEET.judge(f"{one.name}.without_caches", without, at_most(MOST_SLOWER))


def series_of(lab: Lab, peers: Mapping[str, Peer]) -> list[Series]:
    """Of a query, by query."""
    names = [one.name for one in SELECTS]
    found = []
    for name, peer in peers.items():
        for counter, unit in COUNTED:
            row = [peer.loops[one.name].count(counter) / lab.settings[one.setting] for one in SELECTS]
            found.append(Series(f"{counter}.{name}", unit, names, row))
        times = [peer.loops[one].cycles / peers[NATIVE].loops[one].cycles for one in names]
        found.append(Series(f"times.{name}", "times native", names, times))
    return found


def show(result: Result) -> None:
    for what in ("cycles", "times", *(counter for counter, _ in COUNTED[1:])):
        tables.show_rows(result, "a query", [f"{what}.{name}" for name in PEERS])


EXPERIMENT = Experiment(
    name="uhlig02/mysql",
    sheet=SHEET,
    kind=Kind.STUDY,
    machine="pentium4-1400",
    settings={
        "simple": Setting(60, 60, range(1, 10_001), "simple queries that are measured, of each kind"),
        "complex": Setting(3, 2, range(1, 10_001), "complex ones"),
        "boots": linux_programs.BOOTS,
    },
    run=run,
    plots=SHEET.all_plots,
    show=show,
)
