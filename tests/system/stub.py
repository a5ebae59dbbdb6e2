# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest on an ARM board that a debugger's stub can stop and change."""

import contextlib
import errno
import socket
import struct
import subprocess
import time

from cobnut import build, elf
from cobnut.emulators import Boot, qemu_arm
from cobnut.modules import Module
from cobnut.process import Limit

SECONDS = 120  # of processor time, for all that is done with a guest


class Stub:
    """The emulator's end of gdb's remote protocol."""

    def __init__(self, path):
        self.peer = socket.socket(socket.AF_UNIX)
        while self.peer.connect_ex(str(path)) == errno.ECONNREFUSED:
            time.sleep(0.02)  # the socket has its name before the emulator listens there

    def ask(self, text):
        self.peer.sendall(f"${text}#{sum(text.encode()) % 256:02x}".encode())
        said = b""
        while b"#" not in said[:-2]:
            more = self.peer.recv(4096)
            assert more, "the guest has ended, or was ended for its time"
            said += more
        with contextlib.suppress(BrokenPipeError):  # a guest that has said that it ends
            self.peer.sendall(b"+")
        return said[said.index(b"$") + 1 : said.rindex(b"#")].decode()

    def words(self, at, count):
        most = 256
        raw = b"".join(
            bytes.fromhex(self.ask(f"m{at + i * 4:x},{min(most, count - i) * 4:x}")) for i in range(0, count, most)
        )
        return list(struct.unpack(f"<{count}I", raw))

    def register(self, number):
        return struct.unpack("<I", bytes.fromhex(self.ask(f"p{number:x}")))[0]

    def set_register(self, number, word):
        assert self.ask(f"P{number:x}={struct.pack('<I', word).hex()}") == "OK"

    def write(self, at, word):
        assert self.ask(f"M{at:x},4:{struct.pack('<I', word).hex()}") == "OK"


class Guest:
    """A running emulator, its stub, the kernel's names, and what the console has said."""

    def __init__(self, process, stub, address, console):
        self.process, self.stub, self.address, self._console = process, stub, address, console

    @property
    def console(self):
        return self._console.read_text(errors="replace")

    def wait(self, until=lambda: False):
        """For the end, or for what comes before it."""
        while self.process.poll() is None and not until():
            time.sleep(0.1)


@contextlib.contextmanager
def guest(tmp_path, board, arguments):
    """x2test before its first instruction."""
    build.images(board)
    address = {elf.demangled(one.name): one.address for one in elf.read(board.kernel_executable).symbols}
    modules = (Module(board.program("sigma0"), ""), Module(board.program("x2test"), arguments))
    words = qemu_arm.command(Boot(board.kernel, modules, "", memory_mb=64), "versatilepb", tmp_path, repeatable=True)
    words += ["-serial", "file:console", "-S"]
    words += ["-chardev", "socket,path=stub,server=on,wait=off,id=stub", "-gdb", "chardev:stub"]
    process = subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.DEVNULL)
    with Limit(process, SECONDS):
        try:
            while not (tmp_path / "stub").exists():
                assert process.poll() is None
            yield Guest(process, Stub(tmp_path / "stub"), address, tmp_path / "console")
        finally:
            process.kill()
            process.wait()
