# SPDX-License-Identifier: GPL-2.0-or-later
"""Databases on Linux's disk when the power fails: the file system is whole after its journal was replayed, each
transaction is there whose commit had returned, and none by half. Longer: `./cobnut test long linux/crash`.

A guest has databases serve transactions while QEMU lists what is written and flushed. Wherever the power fails in that
list, all that was flushed is on the medium, and of the other writes any: with such a medium the guest boots again.
"""

import os
import random
import re
import shutil
from dataclasses import dataclass, field, replace
from functools import cached_property

import pytest
import write_log
from guest_programs import GUESTS
from linux_boots import console_of
from write_log import Event, Write

from cobnut.linux import guest
from cobnut.linux.guest import Wish

SEED = int(os.environ.get("CRASH_SEED", "1"))
FEW = 2
POINTS = int(os.environ.get("CRASH_POINTS", FEW))
MB = 1 << 20
FILLER = 700  # characters of a row, at most: some transactions fill pages
AROUND = 9  # marks where the load begins and ends, as if it were a client
SCRIPTS = ("crash.sh", "database.sh")
MARK = re.compile(rb"(\d+)\n")
KEPT = (0.0, 0.2, 0.5, 0.8, 1.0)  # of the writes that were not flushed


@dataclass(frozen=True)
class Engine:
    """A database: the image that has it, and the size of its file system; how many transactions each client makes, how
    its script runs a command of the shell, and with what each client's begins; `whole` is what it says of a table or
    a file without a fault, of which there are two.
    """

    name: str
    image: str
    disk_mb: int
    transactions: int
    shell: str
    begins: tuple[str, ...]
    whole: str

    @property
    def numbers(self) -> range:
        """Its clients."""
        return range(len(self.begins))


SQLITE = Engine(
    "sqlite",
    "disks",
    disk_mb=16,
    transactions=12,
    shell=".shell",
    begins=(
        "pragma journal_mode=wal; pragma synchronous=full;",
        # which with `full` may lose the last transactions (SQLite's documentation of this pragma)
        "pragma journal_mode=delete; pragma synchronous=extra;",
    ),
    whole=r"^ok$",
)
# tables' pages are written while transactions run, and not the log alone
PAGES = "set global innodb_max_dirty_pages_pct=0;"
MARIADB = Engine(
    "mariadb",
    "database",
    disk_mb=96,
    transactions=40,
    shell="\\!",
    begins=(PAGES, PAGES, PAGES),
    whole=r"\tcheck\tstatus\tOK$",
)
ENGINES = (SQLITE,) if POINTS <= FEW else (SQLITE, MARIADB)  # MariaDB's load alone takes a minute
TABLES = """
create table entries(client int, n int, part int, value int, filler varchar(2000), primary key(client, n, part));
create index by_value on entries(value);
create table totals(client int primary key, transactions int, total int);
"""
FOUND = """
select t.client, t.transactions, t.total, count(e.n), coalesce(sum(e.value), 0), coalesce(sum(length(e.filler)), 0)
from totals t left join entries e on e.client = t.client group by t.client, t.transactions, t.total order by 1;
"""


@dataclass
class Client:
    """What one does, in SQL, and what is there after each of its transactions: as FOUND says it."""

    number: int
    random: random.Random
    rows: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    total: int = 0
    states: list[tuple[int, ...]] = field(default_factory=list)

    def transaction(self, n: int) -> str:
        """The next one; sometimes one that is taken back comes first, or an older row goes with it."""
        taken_back = self._inserts(-n)[0] + "rollback;" if self.random.random() < 0.3 else ""
        text, rows = self._inserts(n)
        self.rows |= rows
        older = [key for key in self.rows if key[0] < n]
        if older and self.random.random() < 0.5:
            gone = self.random.choice(older)
            del self.rows[gone]
            text += f"delete from entries where client={self.number} and n={gone[0]} and part={gone[1]};"
        self.total += sum(value for value, _ in rows.values())
        self.note(n)
        return f"{taken_back}{text}commit;"

    def note(self, n: int) -> None:
        values, lengths = (sum(row[i] for row in self.rows.values()) for i in (0, 1))
        self.states.append((self.number, n, self.total, len(self.rows), values, lengths))

    def _inserts(self, n: int) -> tuple[str, dict[tuple[int, int], tuple[int, int]]]:
        rows = {
            (n, part): (self.random.randrange(10_000), self.random.randrange(FILLER))
            for part in range(self.random.randrange(1, 6))
        }
        inserts = "".join(
            f"insert into entries values({self.number},{n},{part},{value},'{'x' * length}');"
            for (_, part), (value, length) in rows.items()
        )
        gained = sum(value for value, _ in rows.values())
        update = f"update totals set transactions={abs(n)}, total=total+{gained} where client={self.number};"
        return f"begin;{inserts}{update}", rows


@dataclass(frozen=True)
class Load:
    """What clients have done to a disk: all that was written and flushed, and where in it each commit returned."""

    engine: Engine
    clients: list[Client]
    events: list[Event]

    @cached_property
    def marks(self) -> dict[int, tuple[int, int]]:
        """Places in `events`: clients that have got an answer there, and to which transaction."""
        place = self.engine.disk_mb * MB
        return {
            n: ((event.place - place) // write_log.WHOLE, int(said[1]))
            for n, event in enumerate(self.events)  # mkfs writes behind the file system, too
            if event and event.place >= place and (said := MARK.match(event.data))
        }

    @property
    def span(self) -> tuple[int, int]:
        """Where the load begins and ends."""
        begin, end = (n for n, (client, _) in self.marks.items() if client == AROUND)
        return begin, end

    def returned(self, point: int) -> list[int]:
        """Of each client the last transaction that had come to its end by `point`."""
        seen = [mark for n, mark in self.marks.items() if n < point]
        return [max([done for number, done in seen if number == client.number], default=0) for client in self.clients]


def loaded(engine: Engine, folder, before: str = "true") -> Load:
    """Runs the load once; `before` is run just before it begins."""
    files = prepared(engine, folder)
    clients = [Client(number, random.Random(f"{SEED} {engine.name} {number}")) for number in engine.numbers]
    for client in clients:
        client.note(0)
        first = TABLES if engine is SQLITE or client.number == 0 else ""
        row = f"insert into totals values({client.number}, 0, 0);\n"
        (files / f"{client.number}.first").write_text(f"{engine.begins[client.number]}\n{first}{row}")
        lines = [engine.begins[client.number]]
        for n in range(1, engine.transactions + 1):
            lines += [client.transaction(n), f"{engine.shell} sh ./returned {client.number} {n}"]
        (files / f"{client.number}.load").write_text("".join(f"{line}\n" for line in lines))
    numbers = " ".join(map(str, engine.numbers))
    command = f"""
        {ready(engine)}
        disk_made {engine.disk_mb} && {engine.name}_starts || exit
        for n in {numbers}; do {engine.name}_client $n <$n.first >/dev/null || exit; done
        sync; {before}; marked {AROUND} 0
        for n in {numbers}; do {engine.name}_client $n <$n.load & clients="$clients $!"; done
        for one in $clients; do wait $one || exit; done
        marked {AROUND} 1; sync; echo loaded
    """
    image, log = folder / "disk", folder / "log"
    with open(image, "wb") as file:
        file.truncate((engine.disk_mb + 1) * MB)
    boot = guest.prepare(Wish(engine.image, command, files, disk=image), folder)
    console = console_of(replace(boot, disk=None, words=write_log.logged(image, log)), "qemu")
    assert "\nloaded\n" in console, console
    load = Load(engine, clients, write_log.whole(write_log.events(log)))
    told = sorted((int(client), int(n)) for client, n in re.findall(r"^marked (\d+) (\d+)$", console, re.MULTILINE))
    assert sorted(load.marks.values()) == told and len(told) == len(clients) * engine.transactions + 2, console
    return load


def prepared(engine: Engine, folder):
    """Files of a guest."""
    files = folder / "files"
    files.mkdir(exist_ok=True)
    for name in SCRIPTS:
        shutil.copy(GUESTS / name, files)
    (files / "marks").write_text(f"{engine.disk_mb * MB // write_log.WHOLE}\n")
    (files / "returned").write_text('. ./crash.sh; marked "$1" "$2"\n')
    return files


def ready(engine: Engine) -> str:
    return "DATA=/mnt/mysql; . ./database.sh; . ./crash.sh"


def after(load: Load, point: int, kept, folder) -> str:
    """The console of a guest that boots after the power has failed at `point`."""
    engine, image = load.engine, folder / "disk"
    write_log.write_medium(image, (engine.disk_mb + 1) * MB, load.events, point, kept)
    files = prepared(engine, folder)
    (files / "found").write_text(FOUND)
    whose = " ".join(map(str, engine.numbers if engine is SQLITE else [0]))
    command = f"""
        {ready(engine)}
        disk_recovered && {engine.name}_starts || {{ cat /tmp/mariadb.log; exit 1; }}
        for n in {whose}; do {engine.name}_checked $n; {engine.name}_client $n <found; done
        {engine.name}_stops && umount /mnt && e2fsck -fn /dev/cba >/dev/null 2>&1 && echo 'all ended'
    """
    return console_of(guest.prepare(Wish(engine.image, command, files, disk=image), folder), "qemu")


def faults(load: Load, point: int, console: str) -> list[str]:
    """What is wrong after a failure at `point`."""
    engine, bad = load.engine, []
    if "\ndisk whole\n" not in console:
        return ["the file system is not whole"]
    if len(re.findall(engine.whole, console, re.MULTILINE)) != 2:
        bad.append("a table is not whole")
    rows = re.findall(r"^\d+(?:[\t|]\d+){5}$", console, re.MULTILINE)
    found = {state[0]: state for state in (tuple(map(int, re.split(r"[\t|]", row))) for row in rows)}
    for client, returned in zip(load.clients, load.returned(point), strict=True):
        state = found.get(client.number)
        if state is None or state not in client.states:
            bad.append(f"client {client.number}: {state} is after none of its transactions")
        elif not returned <= state[1] <= returned + 1:
            bad.append(f"client {client.number}: {state[1]} transactions are there, of {returned} that had returned")
    if "\nall ended\n" not in console:
        bad.append("the database has not ended, or the file system is not whole afterwards")
    return bad


def failures(load: Load, folder, points: int):
    """So many failures of the power: each as a line, and what was wrong after it."""
    chosen = random.Random(f"{SEED} {load.engine.name} points")
    flushes = [n for n, event in enumerate(load.events) if event is None]
    for number in range(points):
        point, share = chosen.randint(*load.span), chosen.choice(KEPT)
        if number % 2 == 0:  # just before a flush, where most is under way
            point = min((n for n in flushes if n >= point), default=point)
        there = write_log.unflushed(load.events, point)
        kept = {n for n in there if chosen.random() < share}
        console = after(load, point, kept.__contains__, folder)
        line = (
            f"seed {SEED}: {point} of {load.span}, {len(kept)} of {len(there)} unflushed writes kept,"
            f" transactions {load.returned(point)}{', replayed' if 'journal replayed' in console else ''}"
        )
        print(line)
        yield line, faults(load, point, console), console


def test_what_is_flushed_stays_and_the_rest_may_go(tmp_path):
    """On a made-up list: two parts of a block, a flush, the block anew, and one that needs no flush."""
    block = write_log.WHOLE
    listed = [Write(0, b"a"), Write(1, b"b"), None, Write(0, b"cd"), Write(block, b"e"), Write(2 * block, b"f", True)]
    seen = write_log.whole(listed)
    assert seen == [Write(0, b"ab"), *listed[2:]] and write_log.unflushed(seen, len(seen)) == [2, 3]
    for kept, first, second in ((set(), b"ab", b"\0"), ({2}, b"cd", b"\0"), ({3}, b"ab", b"e")):
        write_log.write_medium(tmp_path / "medium", 3 * block, seen, len(seen), kept.__contains__)
        medium = (tmp_path / "medium").read_bytes()
        assert (medium[:2], medium[block:][:1], medium[2 * block :][:1]) == (first, second, b"f")


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_what_was_committed_is_there_when_the_power_has_failed(engine, tmp_path):
    load = loaded(engine, tmp_path)
    for line, bad, console in failures(load, tmp_path, POINTS):
        assert not bad, f"{line}: {bad}\n{console}"


def test_it_is_noticed_if_nothing_is_flushed(tmp_path):
    """What is judged above can fail: Linux is told that the drive keeps nothing back, and flushes nothing."""
    load = loaded(SQLITE, tmp_path, "echo write through >/sys/block/cba/queue/write_cache")
    assert any(bad for _, bad, _ in failures(load, tmp_path, 3))
