# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of linux/guests in Linux as a server: what they check holds natively and in every placement, and one that
knows the microkernel reaches no other thread.
"""

import hashlib
from datetime import UTC, datetime

import pytest
from guest_programs import GUESTS, compiled

from conftest import run_cobnut

# programs, and how many checks at least they have
CHECKS = {
    "frames": 32,
    "calls": 21,
    "clock": 17,
    "traced": 16,
    "handlers": 13,
    "segments": 21,
    "layout": 27,
    "layout-pie": 27,
}
# calls that are not what they are natively (docs/linux-server.md says why): nearly all that are not there
DIFFERENT = {
    87: "swapon",
    101: "ioperm",
    110: "iopl",
    115: "swapoff",
    128: "init_module",
    129: "delete_module",
    219: "madvise",
    283: "kexec_load",
    336: "perf_event_open",
    350: "finit_module",
    386: "rseq",
    444: "landlock_create_ruleset",
    445: "landlock_add_rule",
    446: "landlock_restrict_self",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    for name in ("forger", *CHECKS):
        compiled(name, folder)
    return folder


def run_all(folder, *words: str) -> str:
    command = "; ".join(f"./{name}; echo {name} $?" for name in CHECKS)
    done = run_cobnut("linux", "--files", str(folder), "--run", command, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("--kernel", "native"),
        ("--small", "none"),
        ("--small", "server"),
        ("--small", "all"),
        ("--small", "all", "--emulator", "bochs"),
    ],
    ids=" ".join,
)
def test_what_programs_may_rely_on(programs, words):
    said = run_all(programs, *words)
    assert "FAIL" not in said, said
    for name in CHECKS:
        assert f"{name} 0" in said.splitlines(), said
    assert said.count("ok: ") >= sum(CHECKS.values()), said
    assert "source tsc" in said or "native" in words, said


@pytest.mark.parametrize(
    "words", [("--small", "none"), ("--small", "all"), ("--small", "all", "--emulator", "bochs")], ids=" ".join
)
def test_a_program_that_knows_the_microkernel_reaches_nobody(programs, words):
    done = run_cobnut("linux", "--files", str(programs), "--run", "./forger && echo alive", *words)
    assert done.returncode == 0 and "FAIL" not in done.stdout, done.stdout + done.stderr
    assert done.stdout.endswith("forger: all is as before\nalive\n"), done.stdout
    assert "FORGED" not in done.stdout and "!" not in done.stdout, done.stdout


def test_facilities_are_what_they_are_natively():
    """Pseudo-terminals, epoll, shared memory, seccomp, namespaces, core dumps, random numbers, a clock that does not
    drift and the OOM killer; the server has RAM disks beside.
    """
    said = []
    for words in (("--kernel", "native"), ("--small", "none")):
        done = run_cobnut(
            "linux", "--image", "debian", "--files", str(GUESTS), "--run", "python3 facilities.py", *words
        )
        assert done.returncode == 0, done.stderr
        said.append([line for line in done.stdout.splitlines() if line and not line.startswith("[")])
    native, server = said
    assert len(native) > 10 and "eaten -9" in native and "drift True" in native, "\n".join(native)
    numbers = "".join(f"{n}\n" for n in range(1, 20001)).encode()
    expected = f"disk {hashlib.md5(numbers).hexdigest()}  -"
    assert [expected if line == "disk None" else line for line in native] == server


def test_the_date_is_the_machines():
    """The emulator's clock is this machine's: the day is that of the boot or of the end."""
    days = [datetime.now(UTC).date().isoformat()]
    done = run_cobnut("linux", "--run", "date -u +%Y-%m-%d")
    days.append(datetime.now(UTC).date().isoformat())
    assert done.returncode == 0, done.stderr
    assert set(days) & set(done.stdout.split()), done.stdout


def test_every_call_comes_back_as_it_does_natively(tmp_path):
    compiled("every_call", tmp_path)
    said = []
    for words in (("--kernel", "native"), ("--small", "none"), ("--small", "all")):
        done = run_cobnut("linux", "--files", str(tmp_path), "--run", "./every_call", *words)
        assert done.returncode == 0 and "\nevery call\n" in done.stdout, done.stdout + done.stderr
        said.append({line for line in done.stdout.splitlines() if line and line[0].isdecimal()})
    native, large, small = said
    assert len(native) > 1800
    for lines in (large, small):
        assert {int(line.split()[0]) for line in native ^ lines} == set(DIFFERENT), sorted(native ^ lines)
