# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's audit on ARM: the debugger stub breaks one entry that the processor goes by, the audit names it."""

import errno
import socket
import struct
import subprocess
import time

import pytest

from cobnut import boards, build
from cobnut.emulators import Boot, qemu_arm
from cobnut.modules import Module

WINDOW, SECTIONS = 0xF000_0000, 0xD000_0000 >> 20  # arm/layout.hpp; a versatilepb's memory begins at 0
SAID = "books: the first level is not what its holders' tables say ("
SECONDS = 60


class Stub:
    """The emulator's end of gdb's remote protocol."""

    def __init__(self, path):
        self.peer = socket.socket(socket.AF_UNIX)
        self.peer.settimeout(SECONDS)
        while self.peer.connect_ex(str(path)) == errno.ECONNREFUSED:
            time.sleep(0.02)  # the socket has its name before the emulator listens there

    def ask(self, text):
        self.peer.sendall(f"${text}#{sum(text.encode()) % 256:02x}".encode())
        said = b""
        while b"#" not in said[:-2]:
            said += self.peer.recv(4096)
        self.peer.sendall(b"+")
        return said[said.index(b"$") + 1 : said.rindex(b"#")].decode()

    def words(self, at, count):
        most = 256
        raw = b"".join(
            bytes.fromhex(self.ask(f"m{at + i * 4:x},{min(most, count - i) * 4:x}")) for i in range(0, count, most)
        )
        return list(struct.unpack(f"<{count}I", raw))

    def write(self, at, word):
        assert self.ask(f"M{at:x},4:{struct.pack('<I', word).hex()}") == "OK"


def audited(tmp_path, board, change):
    """The console of a run with `change` called, given the stub and the first level, when an audit begins."""
    build.images(board)
    names = subprocess.run(
        ["nm", "-C", board.kernel_executable], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    address = {name: int(at, 16) for at, _, name in (line.split(" ", 2) for line in names if line[0] != " ")}
    modules = (Module(board.program("sigma0"), ""), Module(board.program("x2test"), "filter=edge.halted_before"))
    words = qemu_arm.command(Boot(board.kernel, modules, "", memory_mb=64), "versatilepb", tmp_path, repeatable=True)
    words += [
        "-serial",
        "file:console",
        "-S",
        "-chardev",
        "socket,path=stub,server=on,wait=off,id=stub",
        "-gdb",
        "chardev:stub",
    ]
    console = tmp_path / "console"
    guest = subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.DEVNULL)
    try:
        while not (tmp_path / "stub").exists():
            assert guest.poll() is None
        stub = Stub(tmp_path / "stub")
        stop = f"0,{address['books::audit()']:x},4"
        assert stub.ask(f"Z{stop}") == "OK"
        assert stub.ask("c").startswith("T05")
        change(stub, address["boot_directory"])
        assert stub.ask(f"z{stop}") == "OK"
        stub.peer.sendall(b"$c#63")
        # What is broken may keep the guest from its end.
        for _ in range(SECONDS * 10):
            if guest.poll() is not None or SAID in console.read_text(errors="replace"):
                break
            time.sleep(0.1)
    finally:
        guest.kill()
        guest.wait()
    return console.read_text(errors="replace")


def used(stub, directory):
    """A section that is in use, and its entry."""
    return next((s, entry) for s, entry in enumerate(stub.words(directory, SECTIONS)) if entry & 3 == 1)


def another_table(stub, directory):
    s, entry = used(stub, directory)
    stub.write(directory + s * 4, entry + 0x400)


def another_domain(stub, directory):
    s, entry = used(stub, directory)
    stub.write(directory + s * 4, entry ^ 0x1E0)


def one_more(stub, directory):
    _, entry = used(stub, directory)
    stub.write(directory + (SECTIONS - 1) * 4, entry)


def another_frame(stub, directory):
    _, entry = used(stub, directory)
    table = WINDOW + (entry & ~0x3FF)
    i, page = next((i, page) for i, page in enumerate(stub.words(table, 256)) if page & 3 == 2)
    stub.write(table + i * 4, page ^ 0x1000)


def one_more_of_the_kernels(stub, directory):
    free = next(i for i, entry in enumerate(stub.words(directory + SECTIONS * 4, 512)) if not entry)
    stub.write(directory + (SECTIONS + free) * 4, 0x11)


def nothing(stub, directory):
    pass


@pytest.mark.parametrize("change", [another_table, another_domain, one_more, another_frame])
def test_what_is_broken_is_named(tmp_path, change):
    assert SAID in audited(tmp_path, boards.find("versatilepb"), change)


def test_so_it_is_without_tags(tmp_path):
    assert SAID in audited(tmp_path, boards.find("versatilepb").standard, one_more_of_the_kernels)


@pytest.mark.parametrize("tags", [True, False])
def test_what_is_whole_is_not(tmp_path, tags):
    board = boards.find("versatilepb")
    console = audited(tmp_path, board if tags else board.standard, nothing)
    assert "x2test: 1 passed, 0 failed" in console and "books: the" not in console
