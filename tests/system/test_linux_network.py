# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's network card by the driver of servers/: programs of the guest serve what is outside and get what they ask
for, every byte arrives, a driver that dies costs time alone, and nobody is refused because a ring is full.
"""

import contextlib
import hashlib
import random
import re
import socket
import subprocess
import time
from http.client import HTTPConnection
from pathlib import Path

import networks
import pytest
from linux_boots import console_of, serving

from cobnut import packages
from cobnut.emulators import nic
from cobnut.linux import guest
from cobnut.linux.guest import Wish
from cobnut.process import Limit
from conftest import LIMIT_SECONDS, ROOT

PINGS = "ip addr show dev eth0; ping -c 5 -s 1400 10.0.2.2; echo pinged: $?"


def run(wish, folder, root=""):
    """Boots with further words for root; the console's lines."""
    return console_of(guest.with_root(guest.prepare(wish, folder), root), wish.emulator)


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_frames_go_and_come(tmp_path, emulator):
    """With an address that the guest has got by itself."""
    console = run(Wish(run=PINGS, net_at="user", emulator=emulator), tmp_path)
    assert f"link/ether {nic.ADDRESS} " in console and f"inet {nic.GUEST}/24 " in console, console
    assert "5 packets transmitted, 5 packets received" in console, console


ANSWERED = """
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    until ping -c 1 -W 1 10.0.2.2 >/dev/null; do lost=x$lost; [ ${#lost} -gt 60 ] && exit 1; done
done
echo "all answered"
"""


def test_a_driver_that_dies_costs_frames_alone(tmp_path):
    console = run(Wish(run=f"echo begins; {ANSWERED}", net_at="user"), tmp_path, root="drop=6")
    begun = console[console.index("begins\n") : console.rindex("all answered\n")]
    assert begun.count("init: e1000: started again") > 1, console


FORKS = "while true; do (true); sleep 1; done &"  # which root counts
FLOOD = """
import socket, time
sender, end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.monotonic() + 3
while time.monotonic() < end:
    sender.sendto(bytes(1400), ("10.0.2.2", 9))
"""
COUNTED = 'cd /sys/class/net/eth0/statistics; echo "sent: $(cat tx_packets)"; echo "dropped: $(cat tx_dropped)"'


def test_no_frame_is_dropped_because_a_ring_is_full(tmp_path):
    """Who sends waits until there is room, also while a driver is started again."""
    wish = Wish("debian", f"{FORKS}\npython3 -c '{FLOOD}'\n{COUNTED}", net_at="user")
    console = run(wish, tmp_path, root="drop=3")
    assert console.count("init: e1000: started again") > 0 and "dropped: 0\n" in console, console
    assert int(re.search(r"sent: (\d+)", console)[1]) > 64, console


HTTP, IPERF, SSH = 80, 5201, 22
MB = 1 << 20


@pytest.fixture
def files(tmp_path):
    """A folder for the guest's /files with 17 MB that have no two blocks alike."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "data").write_bytes(random.Random(18).randbytes(17 * MB))
    return folder


def served(tmp_path, files, script, port, *, root="", small=None):
    """A guest with the image `network` that runs `script` and then says `ready`."""
    wish = Wish("network", f"{script}\necho ready\nwait", files, small=small, net_at="user", forward=(str(port),))
    return serving(guest.with_root(guest.prepare(wish, tmp_path), root), tmp_path / "machine")


LISTENS = """
listens() { until grep -q ":$(printf %04X $1) .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done; echo listens; }
"""
WEB = f"""{LISTENS}
cat >/tmp/web.conf <<'END'
server.document-root = "/files"
server.port = {HTTP}
mimetype.assign = ("" => "application/octet-stream")
END
lighttpd -D -f /tmp/web.conf & listens {HTTP}
"""


def fetched(port, path="/data"):
    connection = HTTPConnection("127.0.0.1", port)
    connection.request("GET", path)
    return connection.getresponse().read()


@pytest.mark.parametrize("small", ["server", "none"])
def test_a_web_server_serves_what_is_outside(tmp_path, files, small):
    packages.ensure(packages.WRK)
    (files / "page").write_text("a page\n")
    with served(tmp_path, files, WEB, HTTP, small=small) as linux:
        linux.until(b"ready\r\n")
        port = linux.ports[HTTP]
        assert fetched(port) == (files / "data").read_bytes()
        command = ["wrk", "-t1", "-c20", "-d2s", f"http://127.0.0.1:{port}/page"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert "Socket errors" not in said and "Non-2xx" not in said, said
        assert int(re.search(r"(\d+) requests in", said)[1]) > 20, said
        assert fetched(port, "/page") == b"a page\n"


def test_iperf3_moves_bytes_both_ways(tmp_path, files):
    """A server for each, or the second client is one too many while the first one's ends."""
    packages.ensure(packages.IPERF)
    once = f"iperf3 -s -1 >/tmp/log & listens {IPERF}; wait $!"
    with served(tmp_path, files, f"{LISTENS}\n{once}\n{once}", IPERF) as linux:
        for words in ((), ("-R",)):
            linux.until(b"listens\r\n")
            assert networks.iperf3(linux.ports[IPERF], 16, *words) > 8 * MB


STREAM = 7000
MOVED = f"""{LISTENS}
echo connected | nc -l -p {STREAM} >/tmp/got & listens {STREAM}; wait $!
echo "got $(sha256sum </tmp/got)"
nc -l -p {STREAM} </files/data & listens {STREAM}; wait $!
"""
PIECE = MB // 2


@pytest.mark.parametrize("root", ["", "drop=6"], ids=["", "over-drivers-that-die"])
def test_every_byte_of_a_stream_arrives(tmp_path, files, root):
    data, back = (files / "data").read_bytes(), b""
    pause = 0.1 if root else 0  # after a piece, so that drivers die meanwhile
    with served(tmp_path, files, f"{FORKS if root else ''}\n{MOVED}", STREAM, root=root) as linux:
        place = ("127.0.0.1", linux.ports[STREAM])
        linux.until(b"listens\r\n")
        with socket.create_connection(place) as stream:
            # before that QEMU's network (libslirp 4.7) loses what it was given, if an acknowledgement of its is lost
            assert stream.recv(100) == b"connected\n"
            for at in range(0, len(data), PIECE):
                stream.sendall(data[at : at + PIECE])
                time.sleep(pause)
        said = linux.until(b"listens\r\n")
        assert f"got {hashlib.sha256(data).hexdigest()}" in said, said
        with socket.create_connection(place) as stream:
            while piece := stream.recv(PIECE, socket.MSG_WAITALL):
                back += piece
                time.sleep(pause)
        assert back == data
        said += linux.until(b"ready\r\n")
        assert (said.count("init: e1000: started again") > 1) == bool(root), said


SSHD = f"""{LISTENS}
mkdir -p /run/sshd /root/.ssh
cp /files/key.pub /root/.ssh/authorized_keys
ssh-keygen -q -t ed25519 -N "" -f /tmp/host
/usr/sbin/sshd -D -f /dev/null -h /tmp/host -o StrictModes=no -o PidFile=none &
listens {SSH}
"""


def test_who_comes_by_ssh_gets_what_a_command_says_and_its_status(tmp_path, files):
    packages.ensure(packages.SSH)
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (files / "key.pub").write_bytes(Path(f"{key}.pub").read_bytes())
    with served(tmp_path, files, SSHD, SSH) as linux:
        linux.until(b"ready\r\n")
        unknown = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes"]
        ssh = ["ssh", "-F", "none", *unknown, "-i", str(key), "-p", str(linux.ports[SSH]), "root@127.0.0.1"]
        done = subprocess.run([*ssh, "uname -s; exit 7"], capture_output=True, text=True, check=False)
        assert (done.stdout, done.returncode) == ("Linux\n", 7), done
        data = (files / "data").read_bytes()[:MB]
        assert subprocess.run([*ssh, "cat"], input=data, capture_output=True, check=True).stdout == data


def test_the_command_says_where_a_port_is():
    """And what is asked for there is answered in the guest."""
    words = ["--image", "network", "--net", "--forward", "7", "--run", "nc -l -p 7 -e cat"]
    with (
        subprocess.Popen(
            [str(ROOT / "cobnut"), "linux", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process,
        Limit(process, LIMIT_SECONDS),
    ):
        port = next(
            int(found[1])
            for line in process.stderr
            if (found := re.fullmatch(r"cobnut: port 7 of the guest is port (\d+) of 127.0.0.1\n", line))
        )
        assert echoed(port) == b"here"
        assert process.wait() == 0


def echoed(port):
    """What comes back of four bytes; QEMU takes a connection before the guest listens, and ends it then."""
    while True:
        with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(b"here")
            if back := one.recv(4):
                return back
        time.sleep(0.2)
