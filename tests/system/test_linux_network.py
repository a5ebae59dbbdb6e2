# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux's network card by the driver of servers/: frames reach the other end of the cable and come back, and a driver
that dies costs some frames.
"""

import pytest
from linux_boots import console_of, with_root

from cobnut.linux import guest
from cobnut.linux.guest import Wish

UP = "ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up; cat /sys/class/net/eth0/address"
PINGS = f"{UP}; ping -c 5 -s 1400 10.0.2.2; echo pinged: $?"


def run(wish, folder, root=""):
    """Boots with further words for root; the console's lines."""
    return console_of(with_root(guest.prepare(wish, folder), root), wish.emulator)


@pytest.mark.parametrize("emulator", ["qemu", "bochs"])
def test_frames_go_and_come(tmp_path, emulator):
    console = run(Wish(run=PINGS, net_at="user", emulator=emulator), tmp_path)
    assert "52:54:00:12:34:56\n" in console and "5 packets transmitted, 5 packets received" in console, console


ANSWERED = f"""
{UP}
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    until ping -c 1 -W 1 10.0.2.2 >/dev/null; do lost=x$lost; [ ${{#lost}} -gt 60 ] && exit 1; done
done
echo "all answered"
"""


def test_a_driver_that_dies_costs_frames_alone(tmp_path):
    console = run(Wish(run=ANSWERED, net_at="user"), tmp_path, root="drop=6")
    begun = console[console.index("52:54:00") : console.rindex("all answered\n")]
    assert begun.count("init: e1000: started again") > 1, console
