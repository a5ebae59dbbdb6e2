# SPDX-License-Identifier: GPL-2.0-or-later
"""Mach's external pager over the network: its pages are with a store of the test's own, which then goes."""

import contextlib
import socket
import struct
import threading
import time

import networks

SECONDS = 240  # of processor time
PORT = 4000
OPEN, READ, WRITE = range(3)  # servers/netpager/main.cc
NOT_FOUND = 5  # rpc::Error
BYTES = 3 * 4096 - 1


class Store(threading.Thread):
    """Answers the pager until it asks for a page of `gone`."""

    def __init__(self, port: int):
        super().__init__(daemon=True)
        self.port = port
        self.connection: socket.socket
        self.pages = bytearray(n % 251 for n in range(BYTES))
        self.paths: dict[int, bytes] = {}
        self.writes: list[tuple[int, int]] = []

    def take(self, size: int) -> bytes:
        taken = b""
        while len(taken) < size:
            more = self.connection.recv(size - len(taken))
            if not more:
                raise ConnectionResetError
            taken += more
        return taken

    def answer(self, error: int, size: int, data: bytes = b"") -> None:
        self.connection.sendall(struct.pack(">2I", error, size) + data)

    def run(self) -> None:
        """Connects until the pager listens, and answers until it is asked for a page of `gone`."""
        while True:
            self.connection = socket.create_connection(("127.0.0.1", self.port))
            with self.connection, contextlib.suppress(ConnectionResetError):
                self.serve()
                return
            time.sleep(0.1)

    def serve(self) -> None:
        while True:
            what, number, offset, size = struct.unpack(">4I", self.take(16))
            if what == OPEN:
                self.paths[number] = self.take(size)
                known = self.paths[number] in (b"pages", b"gone")
                self.answer(0 if known else NOT_FOUND, BYTES)
            elif what == WRITE:
                self.pages[offset : offset + size] = self.take(size)
                self.writes.append((offset, size))
                self.answer(0, size)
            elif self.paths[number] == b"gone":
                return
            else:
                self.answer(0, size, bytes(self.pages[offset : offset + size]))


def test_pages_come_from_a_store_and_go_back_there():
    with networks.running("machnet", "--net", seconds=SECONDS, ports={PORT}) as system:
        store = Store(system.ports[PORT])
        store.start()
        said = system.ask("run machnet")
        # the first line may stand behind what was typed
        assert said.count("ok net.") == 7 and "FAIL" not in said and "machnet: 0 failed" in said, said
        assert store.writes == [(4096, 4096), (8192, 4095)], "each page that was written, once, and nothing behind it"
        assert "netpager " in system.ask("ps")
