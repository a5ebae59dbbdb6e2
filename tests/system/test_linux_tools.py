# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb, strace and stress-ng of Debian's in Linux as a server: the first two say what they say natively, the third finds
nothing wrong.
"""

import re
import shutil

import pytest
from guest_programs import GUESTS

from conftest import run_cobnut, run_limited

PIPELINE = "cat /tmp/text | sort -r | head -n 2 > /tmp/out; cat /tmp/out"
STRESSORS = ("vm", "fork", "pipe", "signal", "futex", "mmap")
STRESS = f"stress-ng {' '.join(f'--{name} 1' for name in STRESSORS)} --vm-bytes 8M --mmap-bytes 4M --verify --timeout 4"
COMMAND = f"""
gdb -q -nx -batch -x debugged.gdb ./debugged 2>&1; echo status $?
echo == strace; seq 1 500 > /tmp/text; mkdir /tmp/traces
strace -ff -e signal=none -o /tmp/traces/of dash -c '{PIPELINE}'; echo status $?
for file in /tmp/traces/*; do echo -- ${{file##*.}}; cat $file; done
echo == stress; {STRESS} 2>&1; echo status $?
"""
# what differs by times, by where things are, and as docs/linux-server.md says: no rseq, no clock without a call
OTHERS = re.compile(r"(rseq|clock_gettime64|sigreturn|getrandom|sysinfo|getppid)\(")


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The parts of what COMMAND says on a kernel, run once: gdb's, strace's and stress-ng's."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("debugged.c", "debugged.gdb"):
        shutil.copy(GUESTS / name, folder / name)
    words = ["-m32", "-static", "-g", "-O0", "-no-pie", "-w", "-pthread"]
    done = run_limited(["gcc", *words, "-o", str(folder / "debugged"), "debugged.c"], cwd=folder)
    assert done.returncode == 0, done.stderr
    kept: dict[tuple[str, ...], list[str]] = {}

    def run(*words: str) -> list[str]:
        if words not in kept:
            done = run_cobnut("linux", "--image", "tools", "--files", str(folder), "--run", COMMAND, *words)
            assert done.returncode == 0, done.stderr
            kept[words] = re.split(r"== (?:strace|stress)\n", done.stdout)
        return kept[words]

    return run


def without_numbers(text: str) -> str:
    """Processes have other numbers, and threads other addresses."""
    return re.sub(r"(LWP|process) \d+|Thread 0x[0-9a-f]+", r"\1", text)


def calls(text: str) -> tuple[str, list[list[str]]]:
    """What the pipeline says, and the calls of each of its processes, whose numbers become those of their order."""
    said, *parts = re.split(r"^-- (\d+)\n", text, flags=re.MULTILINE)
    names = {number: f"process {n}" for n, number in enumerate(parts[::2])}
    made = []
    for part in parts[1::2]:
        lines = [line for line in part.splitlines() if not OTHERS.match(line)]
        lines = [re.sub(r"0x[0-9a-f]+", "ADDRESS", re.sub(r" += ", " = ", line)) for line in lines]
        lines = [re.sub(r"\(entry_number=\d+\)", "", line) for line in lines]
        # which one ends first is not determined
        lines = [re.sub(r"(^wait4\(.*= )\d+$", r"\1one", line) for line in lines]
        made.append([re.sub(r"= (\d+)$", lambda m: f"= {names.get(m[1], m[1])}", line) for line in lines])
    return said, made


@pytest.mark.parametrize("small", ["none", "server", "all"])
def test_gdb_says_what_it_says_natively(ran, small):
    native = without_numbers(ran("--kernel", "native")[0])
    assert native.endswith("status 0\n") and "exited with code 03" in native and "Error" not in native, native
    assert native.count("Hardware watchpoint 3: counter") == 3 and "[ AF IF RF ]" in native, native
    assert without_numbers(ran("--small", small)[0]) == native


@pytest.mark.parametrize("small", ["none", "server", "all"])
def test_strace_sees_the_calls_that_it_sees_natively(ran, small):
    said, made = calls(ran("--kernel", "native")[1])
    assert said == "99\n98\nstatus 0\n" and len(made) == 5 and sum(map(len, made)) > 200, made
    assert calls(ran("--small", small)[1]) == (said, made)
    # the signal mask, which strace reads from the stack
    assert set(re.findall(r"^sigreturn\(\{mask=(.*)\}\)", ran("--small", small)[1], flags=re.MULTILINE)) == {"[]"}


@pytest.mark.parametrize("small", ["none", "server", "all"])
def test_stress_finds_nothing_wrong(ran, small):
    said = ran("--small", small)[2]
    assert "successful run completed" in said and said.endswith("status 0\n") and "fail" not in said, said
    assert all(f"1 {name}" in said for name in STRESSORS), said
