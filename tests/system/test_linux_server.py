# SPDX-License-Identifier: GPL-2.0-or-later
"""Linux as a server: programs of Debian's packages do what they do natively, and every way to end is told apart."""

import os
import pty
import re
import subprocess

import pytest

from cobnut import cpio
from cobnut.errors import CobnutError
from cobnut.linux import guest, images, initrd
from cobnut.linux.guest import Wish
from cobnut.process import Limit, processor_seconds
from conftest import ROOT, assert_refused

IDLE_SECONDS, TICKS = 8, 100  # longer than Linux's clock can be set ahead; a second, if it were not idle
IDLE = f"""
count() {{ awk '/timer/ {{ print $2 }}' /proc/interrupts; }}
before=$(count); sleep {IDLE_SECONDS}; echo $(($(count) - before))
"""
PROMPT = "/files # "
SHELL_SECONDS, LIMIT_SECONDS = 60, 150  # from the boot to the shell's prompt, and to the end
# of busybox alone: processes, pipes, signals, times, files, what Linux says of itself. (Only if the process that is
# killed lives until the shell waits for it does the shell say so.)
STATIC = """
echo one | cat | tr o 0; seq 1 200 | wc -l; (exit 7); echo $?
trap 'echo caught' USR1; kill -USR1 $$; sleep 0.1; (sleep 5 & kill $!; wait $! 2> /dev/null; echo $?)
i=0; while [ $i -lt 50 ]; do (true); i=$((i + 1)); done; echo $i
echo text > /tmp/x; ln /tmp/x /tmp/y; cat /tmp/y; stat -c '%h %s' /tmp/x; rm /tmp/x; ls /tmp
mkfifo /tmp/f; (echo through > /tmp/f) & cat /tmp/f; wait
uname -s -m; mount | cut -d' ' -f3,5; awk 'BEGIN { printf "%.6f\\n", 2 / 3 }'
sh -c 'kill -SEGV $$'; echo $?; ulimit -n; cat /proc/self/status | grep -c Pid; head -c 100000 /dev/zero | md5sum
"""
# of dynamic programs: libraries, threads, thread-local storage, mappings, floating point
DYNAMIC = """
bash -c 'a=(1 2 3); echo ${#a[@]}; wait; echo $((2**40))'
python3 - <<'END'
import mmap, os, signal, socket, subprocess, threading
done = []
lock = threading.Lock()
def work(number):
    with lock:
        done.append(sum(range(number * 1000)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(len(done), sum(done), 2 ** 0.5, 1e308 * 10)
m = mmap.mmap(-1, 1 << 20); m[5] = 7
if os.fork() == 0:
    m[6] = 8; os._exit(3)
print(os.waitstatus_to_exitcode(os.wait()[1]), m[5], m[6])
a, b = socket.socketpair(); a.send(b"x" * 5000); print(len(b.recv(9000)))
signal.signal(signal.SIGALRM, lambda *_: print("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()
print(subprocess.run(["sh", "-c", "echo $0; exit 4"], capture_output=True).stdout, os.sysconf("SC_PAGE_SIZE"))
END
"""

# of programs that no small space is large enough for: more threads than it has UTCBs, with their segments and
# coprocessor registers; pages where it has what is not the program's; more memory, below its end and above
OUTGROWING = """
python3 - <<'END'
import ctypes, mmap, os, threading
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
def fixed(address, size):
    got = libc.mmap(ctypes.c_void_p(address), size, 3, 0x32, -1, 0)
    ctypes.memset(got, 5, size)
    return got == address and ctypes.string_at(address + size - 1, 1)
def child(what):
    if os.fork() == 0:
        print(what(), flush=True)
        os._exit(0)
    os.wait()
go, sums = threading.Event(), []
def work(number):
    x = number / 7
    go.wait()
    sums.append(x * 7)
def crowd():
    threads = [threading.Thread(target=work, args=(n,)) for n in range(100)]
    [t.start() for t in threads]; go.set(); [t.join() for t in threads]
    return len(sums), sum(sums)
x = 1 / 3
child(lambda: (fixed(0x4000, 0xC000), x * 3))
child(lambda: (fixed(0x3000, 0x2000), fixed(0x20000000, 0x1000), x * 3))
child(crowd)
child(lambda: (len(mmap.mmap(-1, 200 << 20)), fixed(0x9000, 0x1000), len(threading.enumerate())))
child(lambda: os.waitstatus_to_exitcode(os.system("ulimit -s unlimited; exec sh -c 'exit 5'")))
crowd(); print(len(sums), fixed(0x4000, 0x2000), x * 3)
END
"""

# of one that needs most of the addresses that there are: stacks of 8 MB
WIDE = """
python3 - <<'END'
import threading
go = threading.Event()
threads = [threading.Thread(target=go.wait) for _ in range(300)]
[t.start() for t in threads]
print(threading.active_count(), "at once", sep="\\n")
go.set(); [t.join() for t in threads]
for line in range(5):
    print(line, threading.active_count())
END
"""


@pytest.fixture(scope="module")
def ran():
    """Runs a command on an image and a kernel once: stdout and status."""
    kept: dict[tuple[str, ...], tuple[str, int]] = {}

    def run(command: str, *words: str) -> tuple[str, int]:
        key = (command, *words)
        if key not in kept:
            from conftest import run_cobnut

            done = run_cobnut("linux", "--run", command, *words)
            kept[key] = done.stdout, done.returncode
            assert done.returncode != 2, done.stderr
        return kept[key]

    return run


@pytest.mark.parametrize(
    ("image", "command"), [("minimal", STATIC), ("debian", DYNAMIC), ("debian", OUTGROWING), ("debian", WIDE)]
)
@pytest.mark.parametrize("small", ["none", "server", "all"])
def test_programs_do_what_they_do_natively(ran, image, command, small):
    native = ran(command, "--image", image, "--kernel", "native")
    assert native[1] == 0 and len(native[0].splitlines()) > 5
    assert ran(command, "--image", image, "--small", small) == native


@pytest.mark.parametrize("kernel", ["server", "native"])
def test_the_status_is_that_of_the_command_and_stdout_its_own(cobnut, tmp_path, kernel):
    (tmp_path / "given").write_text("from outside\n")
    done = cobnut("linux", "--kernel", kernel, "--files", str(tmp_path), "--run", "cat given; printf end; exit 41")
    assert (done.stdout, done.returncode) == ("from outside\nend", 41), done.stderr


def at_a_terminal(*answers: tuple[str, str], words: tuple[str, ...] = ()) -> tuple[str, int, float]:
    """A person at the command's terminal, who writes the second part of each answer when the first, a pattern, is
    on it. Returns what was there, the status, and after how many seconds of processor time there was the first.
    """
    ours, theirs = pty.openpty()
    left, text, prompt, seen = list(answers), "", 0.0, 0
    with (
        subprocess.Popen([ROOT / "cobnut", "linux", *words], stdin=theirs, stdout=theirs, stderr=theirs) as process,
        Limit(process, LIMIT_SECONDS),
    ):
        os.close(theirs)
        while True:
            try:
                text += os.read(ours, 4096).decode(errors="replace")
            except OSError:  # the other end is closed
                break
            if left and re.search(left[0][0], text[seen:]):
                prompt = prompt or processor_seconds(process.pid)
                seen = len(text)
                os.write(ours, left.pop(0)[1].encode())
        process.wait()
    os.close(ours)
    return text, process.returncode, prompt


def test_a_shell_comes_in_time_and_switches_the_machine_off():
    text, status, seconds = at_a_terminal(
        # "42" says that the terminal is no longer the shell's own
        *((PROMPT, "echo $((6 * 7)); cat\r"), ("42\r", "word\r"), (r"word\s+word", "\x03"), (PROMPT, "poweroff\r"))
    )
    assert status == 0 and "reboot: Power down" in text, text
    assert seconds < SHELL_SECONDS


def test_the_end_of_the_shell_is_the_end(cobnut):
    text, status, _ = at_a_terminal((PROMPT, "exit 9\r"))
    assert status == 9, text


@pytest.mark.parametrize("kernel", ["server", "native"])
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--append", "frobnicate=1 wrong"), "Linux knows no option"),
        (("--append", "rdinit=/none"), "the image has no /init"),
        (("--memory", "48"), "too little for the image minimal"),
    ],
)
def test_what_keeps_linux_from_running_is_said(cobnut, kernel, words, complaint):
    assert_refused(cobnut("linux", "--kernel", kernel, "--run", "true", *words), complaint)


def test_a_processor_without_a_counter_is_refused(cobnut):
    """By which Linux and its programs read the time."""
    done = cobnut("linux", "--cpu", "pentium3,-tsc", "--run", "true")
    assert_refused(done, "linux-root: the processor has no time-stamp counter")


@pytest.mark.parametrize("kernel", ["server", "native"])
def test_a_damaged_image_is_said(monkeypatch, tmp_path, kernel):
    whole = initrd.base(images.find("minimal")).read_bytes()
    broken = tmp_path / "broken"
    broken.write_bytes(whole.replace(cpio.MAGIC, b"070700", 9).replace(b"070700", cpio.MAGIC, 8))  # of the ninth entry
    monkeypatch.setattr(initrd, "base", lambda image: broken)
    with pytest.raises(CobnutError, match=r"damaged|could not unpack|no init"):
        guest.run(Wish(run="true", kernel=kernel))


def test_a_panic_is_said_with_its_reason(cobnut):
    done = cobnut("linux", "--append", "rdinit=/bin/busybox", "--run", "true")
    assert_refused(done, "Linux panicked: Attempted to kill init")
    assert "Call Trace:" in done.stderr and "panic+0x" in done.stderr


@pytest.mark.parametrize(("image", "command"), [("minimal", STATIC), ("debian", OUTGROWING)])
def test_small_programs_do_what_they_do_natively_where_limits_are_enforced(ran, image, command):
    native = ran(command, "--image", image, "--kernel", "native")
    assert ran(command, "--image", image, "--small", "all", "--emulator", "bochs") == native


@pytest.mark.parametrize(("small", "below"), [("all", 1 << 28), ("server", 0xBF000000)])
def test_programs_have_the_layout_that_fits(cobnut, small, below):
    maps = "/bin/busybox awk '%s { print $1 }' /proc/self/maps"
    command = f"{maps % ''}; ulimit -s unlimited; {maps % '/stack/'}"
    done = cobnut("linux", "--small", small, "--run", command)
    *ends, unlimited = [int(line.split("-")[1], 16) for line in done.stdout.split()]
    assert len(ends) > 5 and below // 2 < max(ends) <= below, done.stdout
    assert unlimited > 1 << 28  # as long a stack has no room in a small space; a path, for else nothing is executed


def test_linux_runs_on_bochs(cobnut):
    done = cobnut("linux", "--emulator", "bochs", "--run", "echo $((6 * 7)) | cat; exit 3")
    assert (done.stdout, done.returncode) == ("42\n", 3), done.stderr


def test_nothing_interrupts_linux_while_there_is_nothing_to_do(cobnut):
    """Not even if the next timer is further away than its clock can be set."""
    done = cobnut("linux", "--run", IDLE)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < IDLE_SECONDS * TICKS
