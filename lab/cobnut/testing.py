# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut test`: every kind of test that the project has, counted together; the long proofs only if asked for.

A part that fails to build, or that comes to an end without having run a test, counts as a failed one: nothing passes by
absence.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from cobnut import boards, build, crates, foreign, packages, paths, proofs
from cobnut.emulators import qemu, qemu_arm
from cobnut.errors import CobnutError, unknown
from cobnut.linux import guest
from cobnut.process import USED_SECONDS

RESULTS = paths.BUILD / "test"
LONG = "long"
MOST_WORKERS = 8
DEAREST = 10  # tests that each part shows
OF_LINUX = "test_linux_*.py"  # of tests/system, a part of its own


@dataclass(frozen=True)
class Count:
    passed: int = 0
    failed: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.passed + other.passed, self.failed + other.failed)


def run(part: str | None, names: Sequence[str] = (), board: str | None = None, *, only_list: bool = False) -> int:
    """Runs one part or all but the long proofs, prints the sum as the last line, and returns the exit status.

    Of the long proofs it runs those of `names`, on `board`; with `only_list` it prints which those are.
    """
    if part is not None and part not in (*PARTS, LONG):
        raise unknown("part", part, (*PARTS, LONG))
    if part != LONG and (names or board or only_list):
        raise CobnutError("test: long alone takes names, --board and --list")
    chosen = proofs.choose(names, board) if part == LONG else []
    if only_list:
        print("\n".join(proof.words for proof in chosen))
        return 0
    RESULTS.mkdir(parents=True, exist_ok=True)
    total = Count()
    for name in [part] if part else PARTS:
        print(f"== {name}: {PARTS[name].__doc__ if name in PARTS else long.__doc__}", flush=True)
        start = time.monotonic()
        try:
            count = PARTS[name]() if name in PARTS else long(chosen)
        except CobnutError as error:
            print(f"{name}: {error}", flush=True)
            count = Count(failed=1)
        if count == Count():
            print(f"{name}: no test was run", flush=True)
            count = Count(failed=1)
        print(f"== {name}: {count.passed} ok, {count.failed} not ok, {time.monotonic() - start:.0f} s\n", flush=True)
        total += count
    print(f"{total.passed} passed, {total.failed} failed", flush=True)
    return 0 if total.failed == 0 and total.passed > 0 else 1


def lint() -> Count:
    """formats, lints and types of all languages, how long lines are, and what is not said"""
    packages.ensure_rust()
    packages.ensure_rust_components()
    packages.ensure(packages.GIT, packages.BUILD_TOOLS)  # cargo links with gcc
    crates.seed("clippy")
    return _pytest("lint")


def unit() -> Count:
    """the hardware-free parts of kernel and user programs, on this machine, and a short run of their fuzzers"""
    build.host_tests()
    build.fuzzers()
    return _ctest("host", "unit.xml") + _ctest("fuzz", "fuzz.xml")


def _ctest(preset: str, name: str) -> Count:
    report = RESULTS / name
    folder = str(paths.BUILD / preset)
    return _junit(["ctest", "--test-dir", folder, "--output-on-failure", "-j2", "--output-junit", str(report)], report)


def lab() -> Count:
    """the machine model, records and the plugin"""
    build.lab()
    qemu.ensure()
    qemu_arm.ensure()
    packages.ensure(packages.ARM_TOOLS)  # small guests of the plugin's tests
    crates.seed("test")
    command = [
        "cargo",
        "test",
        "--release",
        "--locked",
        "--manifest-path",
        str(paths.LAB / "Cargo.toml"),
        "--target-dir",
        str(paths.CARGO_TARGET),
    ]
    process = subprocess.Popen(
        command, cwd=paths.ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    count = Count()
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        match = re.match(r"test result: \w+\. (\d+) passed; (\d+) failed", line)
        if match:
            count += Count(int(match.group(1)), int(match.group(2)))
    return _at_least_one_failed(count, process.wait())


def command() -> Count:
    """the command: arguments, set-up, checks, results and report"""
    # all at first: a test whose command waits for another one's compiler would look like one that stalls
    build.all_images()
    build.lab()
    packages.ensure(packages.BROWSER)
    return _pytest("command")


def system() -> Count:
    """the kernel and its programs on the emulators"""
    proofs.emulators_and_kernels()
    build.network(boards.find("pc"))
    build.store(boards.find("pc"))
    packages.ensure(packages.BROWSER, packages.GDB, packages.GDB_ARM, packages.IPERF)
    return _pytest("system", f"--ignore-glob=*/{OF_LINUX}")


def linux() -> Count:
    """Linux as a server, with fast switching on ARM, and as it is in the laboratory"""
    proofs.emulators_and_kernels()
    packages.ensure(packages.BROWSER)
    guest.ensure()
    foreign.make_all()
    return _pytest("linux", files=sorted((paths.ROOT / "tests" / "system").glob(OF_LINUX)))


def long(chosen: Sequence[proofs.AnyProof]) -> Count:
    """experiments in full and longer forms of tests that prove something, one after the other"""
    verdicts = [proofs.make(proof) for proof in chosen]
    return Count(verdicts.count(True), verdicts.count(False))


def _pytest(part: str, *more: str, files: Sequence[Path] = ()) -> Count:
    """Runs a part's tests: those of its folder, or of `files`; `more` are options of pytest's."""
    report = RESULTS / f"{part}.xml"
    # two for each processor: a test waits half of its time for a clock, a cable or a disk, and what it may take is
    # processor time, so that they do not disturb each other
    workers = min(MOST_WORKERS, 2 * (os.cpu_count() or 1))
    options = [
        "-p",
        "no:cacheprovider",
        "-q",
        "-n",
        str(workers),
        "--dist",
        "worksteal",
        f"--junitxml={report}",
        *more,
    ]
    places = map(str, files or [paths.ROOT / "tests" / part])
    return _junit([sys.executable, "-m", "pytest", *options, *places], report)


def _junit(command: list[str], report: Path) -> Count:
    """Runs `command` with its output shown, and counts what its JUnit report says."""
    report.unlink(missing_ok=True)
    status = subprocess.run(command, cwd=paths.ROOT, stdin=subprocess.DEVNULL, check=False).returncode
    if not report.exists():
        return Count(failed=1)
    count = Count()
    root = ElementTree.parse(report).getroot()
    _show_dearest(root)
    for suite in root.iter("testsuite"):
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        left_out = int(suite.get("skipped", 0)) + int(suite.get("disabled", 0))
        count += Count(int(suite.get("tests", 0)) - bad - left_out, bad)
    return _at_least_one_failed(count, status)


def _show_dearest(report: ElementTree.Element) -> None:
    """Which tests take most of the processor, which other work on the machine does not change as it does their time."""
    seconds = {
        f"{case.get('classname')}::{case.get('name')}": float(found.get("value", 0))
        for case in report.iter("testcase")
        for found in case.iter("property")
        if found.get("name") == USED_SECONDS
    }
    if not seconds:
        return
    print(f"{sum(seconds.values()):.0f} s of processor time, most of it in")
    for name in sorted(seconds, key=lambda name: -seconds[name])[:DEAREST]:
        print(f"{seconds[name]:8.1f} s {name}")


def _at_least_one_failed(count: Count, status: int) -> Count:
    """A runner that reports failure without a failed test failed outside of one."""
    return Count(count.passed, 1) if status != 0 and count.failed == 0 else count


PARTS: dict[str, Callable[[], Count]] = {
    "lint": lint,
    "unit": unit,
    "lab": lab,
    "command": command,
    "system": system,
    "linux": linux,
}
