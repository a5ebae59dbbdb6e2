# SPDX-License-Identifier: GPL-2.0-or-later
"""Network cards of systems: what is refused, and that no cable leads out of this machine by itself."""

import socket
from itertools import pairwise

import pytest

from cobnut import systems
from cobnut.emulators import Boot, qemu_arm
from cobnut.emulators.forwards import Forward, opened, parse
from cobnut.emulators.nic import BOCHS_MODELS, CARDS, MODELS, UNPLUGGED, Nic, together
from cobnut.errors import CobnutError
from conftest import assert_refused


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("hello", "--net"), "--net: is for a system"),
        (("basic", "--net"), "--net: system basic has no driver of a network card"),
        (("web", "--net-at", "eth0"), "--net-at eth0: must be user, udp=PORT or tap=NAME"),
        (("web", "--net-at", "tap=a,b"), "--net-at tap=a,b: must be"),
        (("web", "--net-at", "udp=99999999"), "--net-at udp=99999999: must be"),
        (("web-e1000", "--net", "--board", "versatilepb"), "ports: board versatilepb has no I/O ports and no PCI"),
        (("web", "--forward", "80"), "--forward: leads into the emulator's own network, which is there with --net"),
        (("web", "--net-at", "tap=x", "--forward", "80"), "--forward: leads into the emulator's own network"),
        (("hello", "--forward", "80"), "--forward: leads into the emulator's own network"),
    ],
)
def test_what_is_refused(cobnut, words, complaint):
    assert_refused(cobnut("boot", *words), complaint)


@pytest.mark.parametrize("command", [("boot", "web"), ("linux",)], ids=["boot", "linux"])
@pytest.mark.parametrize(
    ("ports", "complaint"),
    [
        (["www"], "--forward www: must be GUEST or HOST:GUEST, ports from 1 to 65535"),
        (["0"], "--forward 0: must be"),
        (["80:0"], "--forward 80:0: must be"),
        (["65536"], "--forward 65536: must be"),
        (["1:2:3"], "--forward 1:2:3: must be"),
        ([":80"], "--forward :80: must be"),
        (["-1"], "--forward -1: must be"),
        (["8080:80", "8080:81"], "--forward 8080:81: port 8080 of 127.0.0.1 leads elsewhere already"),
    ],
)
def test_ports_that_are_none_are_refused(cobnut, command, ports, complaint):
    words = [word for port in ports for word in ("--forward", port)]
    assert_refused(cobnut(*command, "--net", *words), complaint)


def test_ports_that_are_said_stay_and_others_are_free_ones():
    (held,) = opened([Forward(80)])
    assert parse([f"{held[1]}:80", "22"]) == (Forward(80, held[1]), Forward(22))
    pairs = opened(parse([f"{held[1]}:80", "22"]))
    assert pairs[0] == held and pairs[1][0] == 22 and pairs[1][1] not in (0, held[1])


def test_a_port_that_somebody_has_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(CobnutError, match=f"port {port} of 127.0.0.1: cannot be opened .Address already in use."):
            opened(parse([f"{port}:80"]))


@pytest.mark.parametrize("device", CARDS)
def test_the_emulators_network_is_closed(device):
    """What leads to the guest is on the loopback, and the guest reaches nothing."""
    nic = Nic(device, forwards=((80, 8080),))
    netdev = nic.qemu_words()[1].split(",")
    assert netdev[0] == "user" and "restrict=on" in netdev
    assert [word for word in netdev if word.startswith("hostfwd")] == ["hostfwd=tcp:127.0.0.1:8080-:80"]


@pytest.mark.parametrize("device", MODELS)
def test_that_of_bochs_is_closed(device, tmp_path):
    nic = Nic(device, forwards=((80, 8080),))
    lines = nic.bochs_lines(tmp_path)
    assert nic.bochs_model == BOCHS_MODELS[device] and "ethmod=slirp" in lines
    assert (tmp_path / "slirp").read_text().splitlines() == [
        "# slirp config",
        "restricted = 1",
        "hostfwd = tcp:127.0.0.1:8080-10.0.2.15:80",
    ]


def test_other_cables():
    udp = Nic("10ec:8029", "udp=4000").qemu_words()[1]
    assert "local.host=127.0.0.1,local.port=4000" in udp and "remote.host=127.0.0.1,remote.port=4001" in udp
    assert "ifname=tap0,script=no" in Nic("10ec:8029", "tap=tap0").qemu_words()[1]


def test_a_card_of_the_boards_own_is_always_there(tmp_path):
    """Without a cable, too: its driver finds it."""
    words = qemu_arm.command(Boot(tmp_path, (), nic=Nic("smc91c111", UNPLUGGED)), "versatilepb", tmp_path)
    assert words[words.index("-net") + 1].startswith("nic,model=smc91c111,") and "-netdev" not in words
    assert "none" in qemu_arm.command(Boot(tmp_path, ()), "versatilepb", tmp_path)


def test_cards_of_one_machine_are_on_a_cable_of_their_own():
    words = together("8086:100e", "8086:100f")
    cables = [word for option, word in pairwise(words) if option == "-netdev"]
    cards = [word for option, word in pairwise(words) if option == "-device"]
    assert cables == ["hubport,id=end0,hubid=0", "hubport,id=end1,hubid=0"]
    assert [card.split(",")[:2] for card in cards] == [["e1000", "netdev=end0"], ["e1000-82545em", "netdev=end1"]]
    assert len({card.split("mac=")[1] for card in cards}) == 2


def test_a_boards_own_card_is_on_such_a_cable_with_another():
    words = " ".join(together("smc91c111", "10ec:8029"))
    assert "-net nic,model=smc91c111,netdev=end0,macaddr=" in words
    assert "-device ne2k_pci,netdev=end1,mac=" in words


def test_ports_of_the_loopback_differ():
    pairs = opened(map(Forward, [7, 80, 81]))
    assert [guest for guest, _ in pairs] == [7, 80, 81]
    assert len({host for _, host in pairs}) == 3


def test_the_systems_with_a_network_have_one_card():
    cards = {
        board: {name: found for name in systems.known() if (found := systems.load(name).cards(board))}
        for board in ("pc", "versatilepb")
    }
    e1000 = {
        name: ["8086:100e"] for name in ("web-e1000", "fuzzcard", "pingcost", "singlecost", "throughput", "webcost")
    }
    ours = {**{name: ["10ec:8029"] for name in ("web", "fuzzdevices", "linktest", "machnet")}, **e1000}
    assert cards["pc"] == ours
    assert cards["versatilepb"]["web"] == ["smc91c111"]
    assert all(systems.load(name).has(systems.TCP_IP) for name in ours)
