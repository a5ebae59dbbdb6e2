# SPDX-License-Identifier: GPL-2.0-or-later
"""The network of a system: pages, echoes and names over real TCP/IP, a driver that dies under load, frames of all
kinds from a peer of the test's own. Nothing leaves the loopback.
"""

import contextlib
import hashlib
import http.client
import os
import random
import re
import shutil
import socket
import subprocess
import threading
import time

import frames
import networks
import pytest

from cobnut.process import Limit
from conftest import ROOT

SECONDS = 240  # of processor time, for one system
PAGE = (ROOT / "systems/site/index.html").read_bytes()
PAGES = (
    ("/", 200, PAGE),
    ("/none", 404, b"not found\n"),
    ("/notes", 404, b"not found\n"),  # a folder, without a file of its own
    ("/notes/paths.txt", 200, (ROOT / "systems/site/notes/paths.txt").read_bytes()),
    ("/" + 200 * "x", 404, b"not found\n"),
    ("/../web.toml", 404, b"not found\n"),
    ("/index.html?all", 200, PAGE),
)


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port))


def echoed(port: int, data: bytes) -> bytes:
    """What comes back of what is sent, as much as was sent."""
    with connect(port) as one:
        sender = threading.Thread(target=one.sendall, args=(data,), daemon=True)
        sender.start()
        back = b""
        while len(back) < len(data):
            more = one.recv(65536)
            assert more, len(back)
            back += more
        sender.join()
        return back


def get(port: int, path: str, beginning: contextlib.AbstractContextManager) -> bytes:
    """A page; until its answer begins it is in `beginning`."""
    one = http.client.HTTPConnection("127.0.0.1", port)
    with beginning:
        one.request("GET", path)
        answer = one.getresponse()
    assert answer.status == 200
    return answer.read()


BOCHS, VERSATILEPB = ("--emulator", "bochs"), ("--board", "versatilepb")


@pytest.mark.parametrize(
    ("described", "words", "size"),
    [
        ("web", (), 300_000),
        ("web", BOCHS, 60_000),
        ("web", VERSATILEPB, 300_000),
        ("web-e1000", (), 300_000),
        ("web-e1000", BOCHS, 60_000),
    ],
)
def test_a_page_and_an_echo(described, words, size):
    """With an address by DHCP, through the driver and lwIP, to two clients of the sockets."""
    data = random.Random(size).randbytes(size)
    with networks.running(described, "--net", *words, seconds=SECONDS) as system:
        one = http.client.HTTPConnection("127.0.0.1", system.ports[80])
        for path, status, body in PAGES:
            one.request("GET", path)  # on the same connection
            answer = one.getresponse()
            assert (answer.status, answer.read()) == (status, body)
        one.request("HEAD", "/")
        answer = one.getresponse()
        assert (answer.read(), answer.getheader("Content-Length")) == (b"", str(len(PAGE)))
        assert echoed(system.ports[7], data) == data
        assert ", address 10.0.2.15, mask 255.255.255.0," in system.ask("net")


FILE_MB, KILLS = 3, 3
MOST_US_WITHOUT = 100_000  # of the guest's time


@pytest.fixture(params=["ne2000", "e1000", "smc91c111"])
def big(tmp_path, request):
    """The system web with one of the cards, the words that boot it, and what is in a file of it that takes a while."""
    data = random.Random(17).randbytes(FILE_MB << 20)
    (tmp_path / "site").mkdir()
    (tmp_path / "site/big").write_bytes(data)
    described = "web-e1000" if request.param == "e1000" else "web"
    text = (ROOT / f"systems/{described}.toml").read_text()
    (tmp_path / "bigger.toml").write_text(text)
    words = (tmp_path / "bigger.toml", "--net", *(VERSATILEPB if request.param == "smc91c111" else ()))
    return request.param, words, hashlib.sha256(data).hexdigest()


def test_the_driver_is_killed_under_load(big):
    """No client loses data: not those that load meanwhile, and not one that waits."""
    driver, words, checksum = big
    with networks.running(*words, seconds=SECONDS) as system:
        waiting = connect(system.ports[7])
        waiting.sendall(b"before")
        assert waiting.recv(100) == b"before"
        sums, killed = [], threading.Event()
        beginning = threading.Lock()  # a request must not be lost with the handshake (docs/network.md, libslirp)

        def load() -> None:
            """One file after the other, the last of them begun before the last kill."""
            while not killed.is_set():
                try:
                    sums.append(hashlib.sha256(get(system.ports[80], "/big", beginning)).hexdigest())
                except (OSError, http.client.HTTPException) as error:
                    sums.append(repr(error))

        loads = [threading.Thread(target=load, daemon=True) for _ in range(3)]
        for one in loads:
            one.start()
        for _ in range(KILLS):
            time.sleep(0.3)  # one that dies at once is given time before it is started again
            with beginning:
                assert f"init: {driver}: ended: killed" in system.ask(f"kill {driver}")
        killed.set()
        for one in loads:
            one.join()
        assert len(sums) >= len(loads) and set(sums) == {checksum}
        waiting.sendall(b"after")
        assert waiting.recv(100) == b"after"
        died, us = re.search(r"(\d) drivers have died; without one for (\d+) us", system.ask("net")).groups()
        assert int(died) == KILLS
        assert int(us) < MOST_US_WITHOUT


def asks_for_a_page(port: int, asking: set[socket.socket] | None = None) -> bool:
    """Whether the page came, whole. Its connection is in `asking` until then."""
    one = http.client.HTTPConnection("127.0.0.1", port)
    asking = set() if asking is None else asking
    asked = None
    try:
        one.connect()
        asked = one.sock
        asking.add(asked)
        one.request("GET", "/")
        return one.getresponse().read() == PAGE
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asking.discard(asked)
        one.close()


def test_the_stack_is_killed_under_load(tmp_path):
    """Its connections are gone, and those that used it are served by the next one."""
    shutil.copytree(ROOT / "systems/site", tmp_path / "site")
    text = (ROOT / "systems/web.toml").read_text()
    for name in ("network", "echo", "http"):
        text = text.replace(f"[program.{name}]", f"[program.{name}]\nrestart = true")
    (tmp_path / "restarted.toml").write_text(text)
    with networks.running(tmp_path / "restarted.toml", "--net", seconds=SECONDS) as system:
        port, killed = system.ports[80], threading.Event()
        asking: set[socket.socket] = set()

        def load() -> None:
            while not killed.is_set():
                asks_for_a_page(port, asking)

        loads = [threading.Thread(target=load, daemon=True) for _ in range(3)]
        for one in loads:
            one.start()
        for _ in range(KILLS):
            while not asks_for_a_page(port):
                assert system.process.poll() is None
            assert "init: network: ended: killed" in system.ask("kill network")
            # What the stack had acknowledged nobody answers, and nobody sends again: its clients give up.
            for one in list(asking):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        killed.set()
        for one in loads:
            one.join()
        while not asks_for_a_page(port):
            assert system.process.poll() is None
        assert echoed(system.ports[7], b"still there") == b"still there"
        assert re.search(r"^ +\d+ network +running", system.ask("ps"), re.MULTILINE)


ARGUMENTS = 'arguments = "address=10.0.9.2 mask=255.255.255.0"'
MANY_BYTES, TOGETHER = 480, 16  # a segment each: nearly as many as there are buffers; those sent at once
KEPT = 32  # segments, of one stream
BIG = 100_000  # bytes, more than are kept to be sent
CLIENTS = 1000  # at once, more than the web server has places for
FRAMES = int(os.environ.get("FRAMES", "2000"))  # `./cobnut test long net/frames` sends more
BETWEEN = 100  # and how many until the next question


def free_ports() -> int:
    """The first of two ports of the loopback, side by side, that nobody has; below those that a machine chooses when a
    program asks for any.
    """
    while True:
        port = random.randrange(10_000, 32_000)
        with contextlib.suppress(OSError), contextlib.ExitStack() as held:
            for number in (port, port + 1):
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    held.enter_context(socket.socket(type=kind)).bind(("127.0.0.1", number))
            return port


@contextlib.contextmanager
def with_peer(tmp_path, *words, more="", described="web"):
    """A system at a fixed address, with more programs, and a peer at the other end of its cable."""
    shutil.copytree(ROOT / "systems/site", tmp_path / "site")
    (tmp_path / "site/big").write_bytes(bytes(BIG))
    text = (ROOT / f"systems/{described}.toml").read_text()
    (tmp_path / "fixed.toml").write_text(text.replace("[program.network]", f"[program.network]\n{ARGUMENTS}") + more)
    port = free_ports()
    with networks.running(tmp_path / "fixed.toml", "--net-at", f"udp={port}", *words, seconds=SECONDS) as system:
        yield system, frames.Peer(port, lambda: int(re.search(r"(\d+) frames in", system.ask("net"))[1]))


@pytest.mark.parametrize("words", [(), BOCHS, VERSATILEPB])
def test_ping(words, tmp_path):
    with with_peer(tmp_path, *words) as (_, peer):
        assert all(peer.pings(number, size) for number, size in enumerate((0, 1, 56, 1000, 1472)))
        assert peer.echoes(b"a datagram")


@pytest.mark.parametrize(
    ("described", "driver", "words"),
    [("web", "ne2000", ()), ("web-e1000", "e1000", ()), ("web", "smc91c111", VERSATILEPB)],
)
def test_frames_of_all_kinds(described, driver, words, tmp_path):
    """Nothing that comes by the cable ends the server or the driver, or makes either of them silent."""
    dice = random.Random(2026)
    with with_peer(tmp_path, *words, described=described) as (system, peer):
        assert peer.pings(0)
        for sent in range(FRAMES):
            peer.send(frames.any_frame(dice))
            if sent % BETWEEN == 0:
                assert peer.pings(sent), f"silent behind frame {sent}"
        assert peer.echoes(b"still there")
        starts = re.findall(r"^ +\d+ (\w+) +running(?: +\d+){7} +(\d+)", system.ask("ps"), re.MULTILINE)
        assert {driver: "1", "network": "1", "echo": "1", "files": "1", "http": "1"}.items() <= dict(starts).items()


def test_clients_that_do_not_read(tmp_path):
    """What they send and do not take holds up no other client, and uses up no buffers of the others'."""
    with with_peer(tmp_path) as (_, peer):
        echo = frames.DeafStream(peer, 7)
        assert all(echo.send(4000 * b"x") for _ in range(10))  # more than the guest keeps to be sent
        assert peer.echoes(b"not held up")
        web = frames.DeafStream(peer, 80)
        assert web.send(b"GET /big HTTP/1.1\r\n\r\n")
        taken = 0
        while taken < MANY_BYTES and web.send(TOGETHER * b"x", 1):
            taken += TOGETHER
        assert taken <= KEPT
        assert peer.pings(1)


def sockets_of(system):
    return re.search(r"(\d+) sockets", system.ask("net"))[1]


def test_a_thousand_clients_that_do_not_ask(tmp_path):
    """They may have all the web server's places until another one comes; when they are gone nothing is left of them."""
    with with_peer(tmp_path) as (system, peer):
        before = sockets_of(system)
        slow = [frames.DeafStream(peer, 80, 5000 + number) for number in range(CLIENTS)]
        late = frames.DeafStream(peer, 80)
        assert late.send(b"GET ") and late.send(b"/ HTTP/1.1\r\n\r\n")
        assert late.takes(b"HTTP/1.1 200 OK")
        for number, one in enumerate((*slow, late)):
            one.put(one.RST, one.sent)
            if number % TOGETHER == 0:
                assert peer.pings(number)  # a card has room for so many
        while sockets_of(system) != before:
            assert system.process.poll() is None


HOARDERS, HOARDED = 20, 200  # programs; connections to each of the first four, which nobody reads
DATAGRAMS = 16  # to each of two ports of each, as many as a socket keeps
HOARDER = """
[program.hoarder{number}]
file = "./build/pc/hoarder"
arguments = "{port}"
uses = ["network"]
"""


def test_programs_that_take_all_they_can_get(tmp_path):
    """More of them wait than one program may, and more is sent to them than there are buffers, also in fragments, which
    do not say whose they are, and in datagrams: others are served.
    """
    more = "".join(HOARDER.format(number=number, port=8000 + number) for number in range(HOARDERS))
    build(tmp_path, "hoarder", "")
    with with_peer(tmp_path, more=more) as (system, peer):
        for place in range(4 * HOARDED):
            one = frames.DeafStream(peer, 8000 + place % 4, 10000 + place)
            if place % 2:
                one.put_in_two(100 * b"x")
                continue
            for at in range(2):
                one.put(one.ACK, one.sent + at, b"x")
        assert peer.pings(1)
        for number in range(HOARDERS):
            for port in (8000 + number, 8100 + number):
                for _ in range(DATAGRAMS):
                    peer.send(frames.ethernet(frames.IP, frames.ip(frames.UDP, frames.udp(port, b"x"))))
                assert peer.pings(port)
        assert peer.echoes(b"a datagram")
        web = frames.DeafStream(peer, 80)
        assert web.send(b"GET / HTTP/1.1\r\n\r\n")
        assert web.takes(b"HTTP/1.1 200 OK")
        assert "hoarder: " not in system.ask("net")


MAKEFILE = """COBNUT := {root}
SYSTEM := {program}.toml
PROGRAMS := {program}
SOURCES_{program} := {program}.c
SOCKETS_{program} := yes
include $(COBNUT)/servers/system.mk
"""
WITH_UPPER = """description = "A program that was not written for it"
ends_with = "upper"
forward = [7777]
[program.ne2000]
provides = ["nic"]
device = "10ec:8029"
priority = 140
[program.network]
provides = ["network"]
uses = ["nic"]
priority = 120
memory_kb = 8192
[program.upper]
file = "./build/pc/upper"
arguments = "7777 more words"
uses = ["network"]
"""


AGAIN_INSTEAD = (
    ("forward = [", "forward = [7777, "),
    ('ends_with = "shell"', 'ends_with = "again"'),
    ("[program.network]", "[program.network]\nrestart = true"),
)
WITH_AGAIN = """
[program.again]
file = "./build/pc/again"
uses = ["network"]
"""


def build(folder, program: str, description: str) -> None:
    """One of the programs beside this file, as a project of its own."""
    shutil.copy(ROOT / f"tests/system/{program}.c", folder)
    (folder / "Makefile").write_text(MAKEFILE.format(root=ROOT, program=program))
    (folder / f"{program}.toml").write_text(description)
    subprocess.run(["make"], cwd=folder, check=True)


def test_both_ends_are_over_and_the_server_begins_anew(tmp_path):
    """Behind both FINs a socket has no connection any more; and when the TCP/IP server has died, a program that goes on
    is served by the next one.
    """
    shutil.copytree(ROOT / "systems/site", tmp_path / "site")
    text = (ROOT / "systems/web.toml").read_text()
    for old, new in AGAIN_INSTEAD:
        text = text.replace(old, new)
    build(tmp_path, "again", text + WITH_AGAIN)
    with networks.running(tmp_path / "again.toml", "--net", seconds=SECONDS, ports={7, 80, 7777}) as system:
        for kills in range(2):
            if kills and "again: ready" not in system.ask("kill network"):
                system.until(b"again: ready")
            with connect(system.ports[7777]) as one:
                assert one.makefile("rb").read() == b"hello\n"
                one.sendall(b"abc")
            system.until(b"again: 3 bytes, then 0")
            assert system.until(b"\n").strip() == ", hung up"


def test_a_program_that_was_written_for_any_system(tmp_path):
    """The same file, for this machine and for a system of servers, does the same."""
    build(tmp_path, "upper", WITH_UPPER)
    subprocess.run(["gcc", "-Wall", "-Werror", "-o", "upper", "upper.c"], cwd=tmp_path, check=True)
    free = free_ports()
    here = subprocess.Popen(["./upper", str(free), "more", "words"], cwd=tmp_path, stdout=subprocess.PIPE)
    assert here.stdout.readline() == b"upper |    4|00ab\n"
    assert conversation(free) == b"127.0.0.1 says:\n"
    assert here.wait() == 42
    words = [str(ROOT / "cobnut"), "boot", "upper.toml", "--net"]
    pipe = subprocess.PIPE
    there = subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe)
    with Limit(there, SECONDS):
        port = int(re.search(rb"port (\d+) of 127", there.stderr.readline())[1])
        while (line := there.stdout.readline().strip()) != b"upper |    4|00ab":
            assert line, "it has ended"
        assert conversation(port) == b"10.0.2.2 says:\n"
        assert b"ends with code 42" in there.stdout.read()
        assert there.wait() == 42


def conversation(port: int) -> bytes:
    """Two clients take turns, and one ends the program: how they were greeted."""
    with connect(port) as first, connect(port) as second:
        greetings = [one.makefile("rb").readline() for one in (first, second)]
        for number, one in enumerate((first, second, first)):
            one.sendall(b"one %d" % number)
            assert one.recv(100) == b"ONE %d" % number
        second.sendall(b"end")
        assert greetings[0] == greetings[1]
        return greetings[0]
