# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's iperf3 against a system's TCP/IP: every byte arrives, in either direction. `./cobnut test long
net/throughput` moves IPERF_MB of them, here it is 1 MB.
"""

import os
import random
import re
import zlib
from array import array

import networks
import pytest

from cobnut import packages

MB = int(os.environ.get("IPERF_MB", "1"))
SECONDS = 240 + 20 * MB  # of processor time
PORT = 5201
VERSATILEPB = ("--board", "versatilepb")


def said(system, what: str) -> tuple[int, int]:
    """The bytes and the checksum that the guest says."""
    system.until(b"iperf: ")
    found = re.fullmatch(rf"(\d+) bytes {what}, checksum ([0-9a-f]{{8}}), \d+ ms", system.until(b"\r\n"))
    assert found, system.said
    return int(found[1]), int(found[2], 16)


@pytest.mark.parametrize("words", [(), VERSATILEPB], ids=["e1000", "smc91c111"])
def test_iperf3s_bytes_arrive_as_they_were_sent(words, tmp_path):
    packages.ensure(packages.IPERF)
    data = random.Random(5201).randbytes((MB + 1) << 20)  # more than is sent: the file's end is no part of it
    (tmp_path / "data").write_bytes(data)
    with networks.running("throughput", "--net", *words, seconds=SECONDS, ports={PORT}) as system:
        counted = networks.iperf3(system.ports[PORT], MB, "-F", str(tmp_path / "data"))
        received, checksum = said(system, "received")
        assert MB << 20 <= received == counted
        assert checksum == zlib.crc32(data[:received])

        counted = networks.iperf3(system.ports[PORT], MB, "-R", "-F", str(tmp_path / "back"))
        sent, _ = said(system, "sent")
        back = (tmp_path / "back").read_bytes()
        assert MB << 20 <= counted <= sent and counted <= len(back)
        words_from_0 = array("I", range(len(back) // 4 + 1))
        words_from_0.byteswap()
        assert back == words_from_0.tobytes()[: len(back)]
        assert "iperf: " not in system.ask("net")
