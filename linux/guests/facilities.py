# SPDX-License-Identifier: GPL-2.0
"""What programs have of Linux beside its calls: each line is what one facility does, natively as well."""

import ctypes
import mmap
import os
import pty
import re
import resource
import select
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)


def child(what):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            what()
        except OSError as error:
            print(error.strerror, flush=True)
            os._exit(9)
        os._exit(0)
    status = os.wait()[1]
    return os.waitstatus_to_exitcode(status)


def terminal():
    pid, fd = pty.fork()
    if pid == 0:
        print(os.isatty(0), os.get_terminal_size().columns, flush=True)
        os._exit(0)
    said = b""
    try:
        while piece := os.read(fd, 100):
            said += piece
    except OSError:
        pass
    os.waitpid(pid, 0)
    return said


def polled():
    a, b = socket.socketpair()
    with select.epoll() as poll:
        poll.register(b.fileno(), select.EPOLLIN | select.EPOLLET)
        before = poll.poll(0.01)
        a.send(b"x")
        return before, [event for _, event in poll.poll(5)], poll.poll(0.01)


def shared():
    number = libc.shmget(0, 8192, 0o1600)
    libc.shmat.restype = ctypes.c_void_p
    at = libc.shmat(number, None, 0)
    child(lambda: ctypes.memmove(at + 4000, b"from a child", 13))
    libc.shmctl(number, 0, None)
    return ctypes.string_at(at + 4000)


def seccomp():
    strict = child(lambda: (libc.prctl(22, 1), os.getppid()))
    # a filter: getppid (64) fails with errno 33
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 64), (6, 0, 0, 0x50021), (6, 0, 0, 0x7FFF0000)]
    program = b"".join(struct.pack("HBBI", *one) for one in code)
    kept = ctypes.create_string_buffer(program)
    head = ctypes.create_string_buffer(struct.pack("HxxI", len(code), ctypes.addressof(kept)))

    def filtered():
        libc.prctl(38, 1, 0, 0, 0)
        print(libc.prctl(22, 2, head), libc.syscall(64), ctypes.get_errno(), flush=True)

    return strict, child(filtered)


def spaces():
    def inside():
        print(libc.unshare(0x4000000 | 0x8000000 | 0x20000000 | 0x20000))  # host name, IPC, processes, mounts
        socket.sethostname("inside")
        print(socket.gethostname(), child(lambda: print(os.getpid(), flush=True)), flush=True)

    return child(inside), socket.gethostname()


def disk():
    """ext4 on a RAM disk. Debian's own kernel has these in a module."""
    if not Path("/dev/ram0").exists():
        return None
    script = """mke2fs -q -t ext4 /dev/ram0 8192 && mkdir -p /tmp/disk && mount -t ext4 /dev/ram0 /tmp/disk &&
seq 1 20000 > /tmp/disk/numbers && ln -s numbers /tmp/disk/link && umount /tmp/disk &&
e2fsck -fn /dev/ram0 > /dev/null && mount /dev/ram0 /tmp/disk && md5sum < /tmp/disk/link && umount /tmp/disk"""
    return subprocess.run(["sh", "-c", script], check=False, capture_output=True, text=True).stdout


def dumped():
    def crash():
        os.chdir("/tmp")
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.execvp("sh", ["sh", "-c", "kill -ABRT $$"])

    Path("/proc/sys/kernel/core_pattern").write_text("core")
    signalled = child(crash)
    head = Path("/tmp/core").read_bytes()[:18]
    return signalled, head[:4], struct.unpack_from("H", head, 16)


def eaten():
    """More memory than there is: the one that takes it is killed, and nobody else."""

    def eat():
        Path("/proc/self/oom_score_adj").write_text("1000")
        pieces = []
        while True:
            pieces.append(b"x" * (1 << 20))

    return child(eat)


def random():
    drawn = {os.getrandom(16) for _ in range(100)}
    return len(drawn), len(os.getrandom(300))


def drift():
    """Ticks of the processor for a microsecond of the clock's, idle and busy, which agree within 0.1 %.

    Native Linux calibrates the TSC at boot, wrongly where an emulator is held up then, and leaves it for the HPET when
    it sees that, at any later time: the HPET is its clock from here on.
    """
    sources = Path("/sys/devices/system/clocksource/clocksource0")
    if "hpet" in (sources / "available_clocksource").read_text().split():
        (sources / "current_clocksource").write_text("hpet")
    ticks = mmap.mmap(-1, 4096, prot=7)
    ticks.write(b"\x0f\x31\xc3")  # rdtsc; ret
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(ticks)))

    def instant():
        """Ticks and clock at one time: of many readings the one that nothing came between."""
        readings = [(read(), time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW), read()) for _ in range(200)]
        before, clock, after = min(readings, key=lambda one: one[2] - one[0])
        return (before + after) / 2, clock

    def rate(wait):
        ticks, clock = instant()
        wait()
        more, later = instant()
        return (more - ticks) / (later - clock)

    def busy():
        end = time.monotonic() + 3
        while time.monotonic() < end:
            pass

    rates = [rate(lambda: time.sleep(3)), rate(busy)]
    apart = max(rates) / min(rates) - 1
    return apart < 0.001 or apart


def own_time():
    """A thread's own time goes in steps much shorter than a tick."""
    steps, before = [], time.thread_time_ns()
    while len(steps) < 50:
        now = time.thread_time_ns()
        if now != before:
            steps.append(now - before)
        before = now
    return min(steps) < 100_000


def last_page():
    """The last page of memory has flags in /proc/kpageflags."""
    with open("/proc/zoneinfo") as told:
        zones = re.findall(r"spanned +(\d+).*?start_pfn: +(\d+)", told.read(), re.DOTALL)
    last = max(int(pages) + int(first) for pages, first in zones) - 1
    with open("/proc/kpageflags", "rb", buffering=0) as flags:
        flags.seek(8 * last)
        return len(flags.read(8)) == 8


for what in (terminal, polled, shared, seccomp, spaces, disk, dumped, random, drift, own_time, last_page, eaten):
    print(what.__name__, what(), flush=True)
