# SPDX-License-Identifier: GPL-2.0-or-later
"""The long proofs: experiments in full, on every board that they know, and tests in a longer form, as tests that pass
or fail one by one.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cobnut import boards, build, experiments, packages, paths, running, tables
from cobnut.checks import in_words
from cobnut.emulators import bochs, qemu, qemu_arm
from cobnut.errors import CobnutError, Skipped, unknown
from cobnut.linux import arm_suites, endurance, guest, suites, workplace


@dataclass(frozen=True)
class Proof:
    """An experiment in full, on a board."""

    name: str
    board: str

    @property
    def words(self) -> str:
        """What names it behind `./cobnut test long`."""
        return f"{self.name} --board {self.board}"

    def run(self) -> tuple[bool, str]:
        """Whether it holds, and how it ended."""
        result = running.run(
            self.name, board=self.board, machine=None, given=[], quick=False, report_folder=paths.REPORTS
        ).result
        if result.failed:
            tables.show_checks(result)
        return not result.failed, in_words(result.checks)


@dataclass(frozen=True)
class LongTest:
    """A test, for which a variable of the environment asks for more. It runs on no board."""

    name: str
    test: str
    variable: str
    value: int
    board: None = None

    @property
    def words(self) -> str:
        return self.name

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, self.variable: str(self.value)}

    @property
    def outcome(self) -> str:
        return f"{self.test} with {self.variable}={self.value}"


class UnitProof(LongTest):
    """A unit test of the kernel's on this machine."""

    def run(self) -> tuple[bool, str]:
        """Whether it holds, and how it ended."""
        build.host_tests()
        done = subprocess.run(
            [str(paths.BUILD / "host/kernel/tests/kernel_tests"), f"--gtest_filter={self.test}"],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        holds = done.returncode == 0 and "[  PASSED  ] 1 test." in done.stdout
        if not holds:
            print(done.stdout, end="")
        return holds, self.outcome


@dataclass(frozen=True)
class SystemProof(LongTest):
    """A test of tests/system, of what `prepare` builds or fetches; or of a folder, those with `word` in their names."""

    prepare: Callable[[], object] = guest.ensure
    word: str = ""
    seed: str = ""  # a variable of the environment: what it says is tried, or else what nobody has tried before

    @property
    def environment(self) -> dict[str, str]:
        given = super().environment
        return {self.seed: str(random.randrange(1 << 32)), **given} if self.seed else given

    def run(self) -> tuple[bool, str]:
        """Whether it holds, and how it ended."""
        self.prepare()
        environment = self.environment
        chosen = [str(paths.ROOT / "tests" / self.test), "-k", self.word]  # without a word it is all
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *chosen],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            print(done.stdout, end="")
        seed = f" and {self.seed}={environment[self.seed]}" if self.seed else ""
        return done.returncode == 0, f"{self.outcome}{seed}"


def emulators_and_kernels() -> None:
    """What tests/system boots of ours, without Linux as a server."""
    for board in boards.BOARDS.values():
        build.images(board)
    build.lab()
    qemu.ensure()
    qemu_arm.ensure()
    bochs.ensure(display=True)


def network_systems() -> None:
    """The same, with the TCP/IP server and who asks it from outside."""
    emulators_and_kernels()
    for board in ("pc", "versatilepb"):
        build.network(boards.find(board))
    packages.ensure(packages.IPERF)


@dataclass(frozen=True)
class SuiteProof:
    """A test suite of others (docs/linux-suites.md): what passes on Debian's kernel passes in Linux as a server, or on
    an ARM board with fast address-space switching.
    """

    suite: str
    folder: str = "linux/suites"
    run_suite: Callable[[str], suites.Differing] = suites.run
    board: None = None

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.suite.removeprefix('arm-')}"

    @property
    def words(self) -> str:
        return self.name

    def run(self) -> tuple[bool, str]:
        """Whether it holds, and how it ended."""
        found = self.run_suite(self.suite)
        return not found.unknown, found.words


@dataclass(frozen=True)
class PiecesProof:
    """A long run of Linux in pieces, which goes on where it was interrupted. `run_pieces` raises if it fails."""

    name: str
    seed: str  # a variable of the environment, as for other tests
    run_pieces: Callable[[int | None], str]
    board: None = None

    @property
    def words(self) -> str:
        return self.name

    def run(self) -> tuple[bool, str]:
        """Whether it holds, and how it ended."""
        given = os.environ.get(self.seed)
        if given is not None and not given.isdecimal():
            raise CobnutError(f"{self.seed}={given}: is no number")
        return True, self.run_pieces(int(given) if given else None)


AnyProof = Proof | UnitProof | SystemProof | SuiteProof | PiecesProof
ENDURANCE = "system/test_linux_endurance.py"
SYSTEM_PROOFS = (
    SystemProof("linux/forks", f"{ENDURANCE}::test_forks_leave_nothing_in_the_books", "FORKS", 10000),
    SystemProof("linux/fuzz", f"{ENDURANCE}::test_no_call_harms_the_system", "FUZZ_ROUNDS", 2000),
    SystemProof(
        "latency/area",
        "system/test_latency.py::test_no_group_makes_the_clock_slow",
        "AREA_MB",
        2048,
        prepare=emulators_and_kernels,
    ),
    SystemProof(
        "net/frames",
        "system/test_network.py::test_frames_of_all_kinds",
        "FRAMES",
        10000,
        prepare=network_systems,
    ),
    SystemProof("net/throughput", "system/test_throughput.py", "IPERF_MB", 100, prepare=network_systems),
    SystemProof("x2test", "system", "X2TEST_WHOLE", 1, prepare=emulators_and_kernels, word="x2test"),
    SystemProof("linux/sharers", f"{ENDURANCE}::test_many_map_the_same_and_live_at_once", "SHARERS", 200),
    SystemProof(
        "linux/crowd", "system/test_linux_applications.py::test_a_crowd_of_connections_is_served", "CROWD", 10000
    ),
    SystemProof("linux/crash", "system/test_linux_crash.py", "CRASH_POINTS", 50, seed="CRASH_SEED"),
    SystemProof("linux/series", "system/test_linux_fass.py::test_the_series_can_end_with_each_patch", "PATCHES", 5),
)
SUITE_PROOFS = (
    *(SuiteProof(name) for name in suites.SUITES),
    *(SuiteProof(name, arm_suites.FOLDER, arm_suites.run) for name in arm_suites.SUITES),
)
PIECES_PROOFS = (
    PiecesProof("linux/endurance", "ENDURANCE_SEED", endurance.run),
    PiecesProof("linux/workplace", "WORKPLACE_SEED", workplace.run),
)
UNIT_PROOFS = (UnitProof("groups/starts", "Groups.AreFoundFromAnyStartAndKept", "STARTS", 100),)


def names() -> list[str]:
    """What can be chosen."""
    tests: tuple[AnyProof, ...] = (*SYSTEM_PROOFS, *SUITE_PROOFS, *PIECES_PROOFS, *UNIT_PROOFS)
    return [*experiments.long_proofs(), *(each.name for each in tests)]


def all_proofs() -> list[AnyProof]:
    """All of them, in the order in which they are made."""
    of_experiments = (
        Proof(each.name, board) for each in experiments.long_proofs().values() for board in each.all_boards
    )
    return [*of_experiments, *SYSTEM_PROOFS, *SUITE_PROOFS, *PIECES_PROOFS, *UNIT_PROOFS]


def choose(wanted: Sequence[str], board: str | None) -> list[AnyProof]:
    """Those named, or all, on `board`, or on all; a test runs on no board."""
    known = names()
    for name in wanted:
        if name not in known:
            raise unknown("long proof", name, known)
    if board is not None:
        boards.find(board)
    chosen = [each for each in all_proofs() if each.name in (wanted or known) and board in (None, each.board)]
    for name in wanted:
        if not any(each.name == name for each in chosen):
            raise CobnutError(f"--board {board}: {name} does not run there")
    return chosen


def make(proof: AnyProof) -> bool | None:
    """Makes one and says in a line how it ended. Whether it holds; None if it cannot be made on this machine."""
    start = time.monotonic()
    holds: bool | None = False
    try:
        holds, outcome = proof.run()
    except Skipped as reason:
        holds, outcome = None, str(reason)
    except CobnutError as error:
        outcome = str(error)
    verdict = {True: "ok", False: "not ok", None: "left out"}[holds]
    print(f"{verdict}: {proof.words}: {outcome}, {time.monotonic() - start:.0f} s", flush=True)
    return holds
