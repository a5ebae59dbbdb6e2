# SPDX-License-Identifier: GPL-2.0-or-later
"""Test suites of others, from Debian's sources and packages: each is run natively and in the server, test by test.

What passes natively has to pass here, or is named in linux/suites.toml with the reason why it does not.
"""

import re
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cobnut import cache, paths, private_apt
from cobnut.cache import Recipe
from cobnut.errors import CobnutError
from cobnut.linux import cases, compilers, database_suites, kbuild, source, strace_suite
from cobnut.linux.cases import LEFT_OUT, Case, Ended, Guest
from cobnut.linux.compilers import LOG, Tools
from cobnut.linux.guest import Wish
from cobnut.process import run_logged

KNOWN = paths.ROOT / "linux" / "suites.toml"
FORMAT = "4"  # another number where a suite's folder is made in another way
SCRIPTS = paths.ROOT / "linux" / "guests"
SSH = SCRIPTS / "ssh.sh"  # of two of them
# functions of these that others call
HELPERS = (
    *("ask", "rhino", "page", "within", "with_root", "small_root", "a_group", "container", "nspawned"),
    *("by_r", "by_octave", "film", "pages", "share", "clean", "found", "mailbox"),
)
REPORTS = paths.BUILD / "reports" / "suites"
LIBRARIES = ("-pthread", "-lrt", "-lm", "-ldl")
DEVELOPMENT = ("libcap-dev", "libpopt-dev")  # whose static libraries some of the kernel's tests need


@dataclass(frozen=True)
class Suite:
    """`make` fills a folder, which the guest has as /files, and `cases` finds the tests there. `source` is a source
    package of Debian's, or empty; each test may take so many seconds of the guest's time.
    """

    name: str
    title: str
    image: str
    source: str
    make: Callable[[Path, Path, Tools], None]
    cases: Callable[[Path], list[Case]]
    seconds: int = 60
    compared: bool = False  # what a test says is to be the same, as well
    script: Path = SCRIPTS / "programs.sh"  # of ours, that is in the folder
    tools: Callable[[], Tools] = compilers.for_pc  # what compiles, where something is


def bash_folder(tree: Path, target: Path, tools: Tools) -> None:
    """Bash's own tests, with the helpers that their Makefile compiles."""
    shutil.copytree(tree / "tests", target / "tests", symlinks=True)
    for name in ("recho", "zecho", "printenv", "xcase"):
        has = [f"-DHAVE_{header}_H" for header in ("STRING", "STDLIB", "UNISTD")]
        include = (f"-I{tree}", f"-I{tree / 'include'}")
        _compile(tools, tree / "support" / f"{name}.c", target / "tests" / name, *include, *has)


def bash_cases(files: Path) -> list[Case]:
    """One for each script run-NAME, which compares outputs."""
    names = sorted(path.name for path in (files / "tests").glob("run-*"))
    setting = "export THIS_SH=/bin/bash BUILD_DIR=/files TMPDIR=/tmp BASH_TSTOUT=/tmp/bash-out PATH=.:$PATH"
    left_out = ("run-all", "run-minimal", "run-gprof")  # which run the others
    return [Case(name, f"cd tests; {setting}; sh ./{name}") for name in names if name not in left_out]


def busybox_folder(tree: Path, target: Path, _: Tools) -> None:
    """Busybox' own tests; the busybox is the image's, with the configuration of Debian's static one."""
    shutil.copytree(tree / "testsuite", target / "testsuite", symlinks=True)
    shutil.copy(tree / "debian" / "config" / "pkg" / "static", target / ".config")
    (target / "busybox").symlink_to("/bin/busybox")


def busybox_cases(files: Path) -> list[Case]:
    """One for each applet that has tests."""
    tests = files / "testsuite"
    names = {path.stem for path in tests.glob("*.tests") if not path.stem.startswith("all_")}
    names |= {path.name for path in tests.iterdir() if path.is_dir()}
    command = 'cd testsuite; export ECHO="busybox echo"; VERBOSE=1 ./runtest {}'
    return [Case(name, command.format(name)) for name in sorted(names)]


# of the kernel's own tests, by folders of tools/testing/selftests: single programs that need no modules, no devices and
# no other machine. In `x86` those for 32 bits.
KERNEL_TESTS: Mapping[str, tuple[str, ...]] = {
    "breakpoints": ("breakpoint_test",),
    "clone3": ("clone3", "clone3_clear_sighand", "clone3_set_tid", "clone3_cap_checkpoint_restore"),
    "core": ("close_range_test",),
    "exec": ("non-regular", "recursion-depth", "load_address", "null-argv"),
    "filesystems": ("devpts_pts", "dnotify_test"),
    "filesystems/epoll": ("epoll_wakeup_test",),
    "futex/functional": (
        *("futex_requeue", "futex_requeue_pi", "futex_requeue_pi_mismatched_ops", "futex_requeue_pi_signal_restart"),
        *("futex_wait", "futex_wait_private_mapped_file", "futex_wait_timeout", "futex_wait_uninitialized_heap"),
        *("futex_wait_wouldblock", "futex_waitv"),
    ),
    "ipc": ("msgque",),
    "kcmp": ("kcmp_test",),
    "landlock": ("base_test", "fs_test", "ptrace_test"),
    "membarrier": ("membarrier_test_single_thread", "membarrier_test_multi_thread"),
    "memfd": ("memfd_test",),
    "mincore": ("mincore_selftest",),
    "mount": ("nosymfollow-test", "unprivileged-remount-test"),
    "mount_setattr": ("mount_setattr_test",),
    "move_mount_set_group": ("move_mount_set_group_test",),
    "mqueue": ("mq_open_tests", "mq_perf_tests"),
    "net": (
        *("bind_bhash", "ipv6_flowlabel", "psock_fanout", "psock_tpacket", "reuseaddr_conflict", "reuseport_addr_any"),
        *("reuseport_bpf", "reuseport_bpf_cpu", "reuseport_dualstack", "sk_bind_sendto_listen", "sk_connect_zero_addr"),
        *("so_netns_cookie", "socket", "tap", "tun", "txring_overwrite"),
    ),
    "net/af_unix": ("test_unix_oob", "unix_connect"),
    "nsfs": ("owner", "pidns"),
    "openat2": ("openat2_test", "resolve_test", "rename_attack_test"),
    "pidfd": (
        "pidfd_test",
        "pidfd_fdinfo_test",
        "pidfd_open_test",
        "pidfd_poll_test",
        "pidfd_wait",
        "pidfd_getfd_test",
        "pidfd_setns_test",
    ),
    "pid_namespace": ("regression_enomem",),
    "prctl": ("disable-tsc-ctxt-sw-stress-test", "disable-tsc-on-off-stress-test", "disable-tsc-test"),
    "proc": (
        *("fd-001-lookup", "fd-002-posix-eq", "fd-003-kthread", "proc-fsconfig-hidepid", "proc-loadavg-001"),
        *("proc-multiple-procfs", "proc-pid-vm", "proc-self-map-files-001", "proc-self-map-files-002"),
        *("proc-self-syscall", "proc-self-wchan", "proc-subset-pid", "proc-tid0", "proc-uptime-001", "proc-uptime-002"),
        *("read", "self", "setns-dcache", "setns-sysvipc", "thread-self"),
    ),
    "ptrace": ("get_syscall_info", "peeksiginfo", "vmaccess"),
    "rlimits": ("rlimits-per-userns",),
    "seccomp": ("seccomp_bpf",),
    "sched": ("cs_prctl_test",),
    "sigaltstack": ("sas",),
    "splice": ("default_file_splice_read", "splice_read"),
    "syscall_user_dispatch": ("sud_test",),
    "timens": ("timens", "timerfd", "timer", "clock_nanosleep", "procfs", "exec", "futex"),
    "timers": (
        *("posix_timers", "nanosleep", "nsleep-lat", "set-timer-lat", "mqueue-lat", "inconsistency-check"),
        *("raw_skew", "threadtest", "rtcpie", "change_skew", "skew_consistency", "adjtick", "set-tz", "valid-adjtimex"),
        *("set-2038", "set-tai"),
    ),
    "tmpfs": ("bug-link-o-tmpfile",),
    "uevent": ("uevent_filtering",),
    "vDSO": ("vdso_test_getcpu", "vdso_test_abi", "vdso_test_clock_getres", "vdso_test_correctness"),
    "vm": (
        *("madv_populate", "map_fixed_noreplace", "map_populate", "mlock-random-test", "mlock2-tests", "mrelease_test"),
        *(
            "mremap_dontunmap",
            "mremap_test",
            "on-fault-limit",
            "soft-dirty",
            "split_huge_page_test",
            "transhuge-stress",
        ),
        *("userfaultfd", "compaction_test", "memfd_secret", "thuge-gen", "virtual_address_range"),
    ),
    "x86": (
        *("check_initial_reg_state", "corrupt_xstate_header", "entry_from_vm86", "fsgsbase_restore", "ioperm", "iopl"),
        *("ldt_gdt", "mov_ss_trap", "ptrace_syscall", "sigaltstack", "sigreturn", "sigtrap_loop"),
        *("single_step_syscall", "syscall_arg_fault", "syscall_nt", "test_FCMOV", "test_FCOMI", "test_FISTTP"),
        *("test_mremap_vdso", "test_syscall_vdso", "unwind_vdso", "vdso_restorer", "test_vsyscall"),
    ),
}
# what else is compiled into one of them, and with which options
KERNEL_HELPERS = {
    "x86/check_initial_reg_state": ("-Wl,-ereal_start", "-static"),
    "x86/ptrace_syscall": ("raw_syscall_helper_32.S",),
    "x86/test_syscall_vdso": ("thunks_32.S",),
    "vm/madv_populate": ("vm_util.c",),
    "memfd/memfd_test": ("common.c",),
    "vm/soft-dirty": ("vm_util.c",),
    "vm/userfaultfd": ("vm_util.c",),
    "vm/split_huge_page_test": ("vm_util.c",),
    "openat2/openat2_test": ("helpers.c",),
    "openat2/resolve_test": ("helpers.c",),
    "openat2/rename_attack_test": ("helpers.c",),
    "vDSO/vdso_test_getcpu": ("parse_vdso.c",),
    "vDSO/vdso_test_abi": ("parse_vdso.c",),
}
NOT_COMPILED = "not-compiled"


def kernel_tests(tools: Tools) -> Mapping[str, tuple[str, ...]]:
    """Those for an architecture."""
    return {folder: names for folder, names in KERNEL_TESTS.items() if folder != "x86" or tools.architecture == "i386"}


def kernel_folder(_: Path, target: Path, tools: Tools) -> None:
    """The kernel's own tests, compiled; NOT_COMPILED names those that this compiler's headers do not fit."""
    given = source.ensure()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        tree = Path(name) / "tree"
        tree.mkdir()
        parts = [f"{source.PACKAGE}/{part}" for part in ("tools/testing/selftests", "mm", "arch/x86/include/asm")]
        run_logged(
            ["tar", "-xf", str(given.archive), "-C", str(tree), "--strip-components=1", "--no-same-owner", *parts],
            LOG,
        )
        libraries = _libraries(Path(name) / "libraries", tools)
        tests, missing = tree / "tools/testing/selftests", []
        for folder, names in kernel_tests(tools).items():
            (target / folder).mkdir(parents=True)
            for one in names:
                helpers = KERNEL_HELPERS.get(f"{folder}/{one}", ())
                others = [word if word[0] == "-" else str(tests / folder / word) for word in helpers]
                program = target / folder / one
                include = tests / folder.partition("/")[0] / "include"
                words = (f"-I{tests}", f"-I{include}", "-no-pie", *others, *libraries)
                try:
                    _compile(tools, tests / folder / f"{one}.c", program, *words)
                except CobnutError:
                    missing.append(f"{folder}/{one}")
    (target / NOT_COMPILED).write_text("".join(f"{one}\n" for one in missing))


def _libraries(folder: Path, tools: Tools) -> tuple[str, ...]:
    """What a compiler is told of DEVELOPMENT, unpacked to `folder`."""
    with private_apt.lists("libraries for the kernel's tests", architecture=tools.architecture) as apt:
        private_apt.unpack(apt.download(*DEVELOPMENT), folder, LOG)
    return (
        f"-I{folder / 'usr/include'}",
        f"-L{folder / 'usr/lib' / tools.libraries}",
        "-Wl,--as-needed",
        "-l:libcap.a",
        "-l:libpopt.a",
    )


def kernel_cases(files: Path) -> list[Case]:
    """One for each program; that it leaves itself out it says with 4."""
    command = "cd {}; ./{}; status=$?; [ $status = 4 ] && exit 77; exit $status"
    return [
        Case(f"{folder}/{name}", command.format(folder, name))
        for folder, names in KERNEL_TESTS.items()
        for name in names
        if (files / folder / name).is_file()
    ]


def stress_cases(listed: str, seconds: int, _: Path) -> list[Case]:
    """One for each stressor that is listed, for a few seconds."""
    limits = "--vm-bytes 8M --mmap-bytes 4M --bigheap-growth 64K --shm-bytes 4M --hdd-bytes 4M --malloc-bytes 4M"
    command = (
        "mkdir -p /tmp/stress; stress-ng --temp-path /tmp/stress --{} 1 {} --verify --timeout {} --no-rand-seed;"
        " status=$?; case $status in 3|4) exit 77;; esac; exit $status"
    )
    return [Case(name, command.format(name, limits, seconds)) for name in _listed(listed)]


def python_cases(_: Path) -> list[Case]:
    """One for each module that leans on the system, or on floating point."""
    command = (
        "cd /tmp; TMPDIR=/tmp HOME=/root python3 -m test -u all,-cpu,-network,-urlfetch,-largefile --timeout 400 {}"
    )
    return [Case(name, command.format(name)) for name in _listed("python")]


def script_folder(script: Path, _: Path, target: Path, _tools: Tools) -> None:
    """A script of linux/guests, with what it may read beside."""
    for one in (script, SSH):
        shutil.copy(one, target)


def script_cases(script: Path, shell: str, files: Path) -> list[Case]:
    """One for each function of a script that is called by no other one."""
    names = re.findall(r"^(\w+)\(\) {", (files / script.name).read_text(), re.MULTILINE)
    command = f"cd /tmp/case; . /files/{script.name}; {{}}"
    return [Case(name, f"{shell} -c '{command.format(name)}'") for name in names if name not in HELPERS]


def sqlite_cases(files: Path) -> list[Case]:
    """One for each file of those that lean on the system, or on floating point."""
    return database_suites.sqlite_cases(files, _listed("sqlite"))


def nothing(_tree: Path, _target: Path, _tools: Tools) -> None:
    """All is in the image."""


def _scripted(name: str, title: str, seconds: int, shell: str = "bash") -> Suite:
    """The functions of a script of that name, for this shell of its image."""
    script = SCRIPTS / f"{name}.sh"
    make, found = partial(script_folder, script), partial(script_cases, script, shell)
    return Suite(name, title, name, "", make, found, seconds, compared=True, script=script)


SUITES = {
    suite.name: suite
    for suite in (
        _scripted("programs", "ordinary programs", 120),
        _scripted("languages", "other languages", 300),
        _scripted("java", "Java", 300, shell="sh"),
        _scripted("services", "servers, file systems, containers", 120),
        _scripted("shares", "servers of shares and directories, repositories, allocators, OCaml", 300),
        _scripted("system", "facilities of the kernel's", 120),
        _scripted("mathematics", "algebra, numbers and solvers", 300),
        _scripted("media", "pictures, sounds and pages", 300),
        _scripted("runtimes", "editors, and languages that have machines of their own", 300),
        _scripted("compilers", "compilers", 600),
        _scripted("browsers", "browsers, and programs in QEMU", 300),
        Suite("bash", "Bash's", "debian", "bash", bash_folder, bash_cases, 120),
        Suite("busybox", "Busybox'", "debian", "busybox", busybox_folder, busybox_cases, 120),
        Suite("kernel", "the kernel's selftests", "debian", "", kernel_folder, kernel_cases, 200),
        Suite("python", "Python's", "python", "", nothing, python_cases, 500),
        Suite("strace", "strace's", "tracing", "strace", strace_suite.folder, strace_suite.cases, 200),
        Suite("sqlite", "SQLite's", "debian", "sqlite3", database_suites.sqlite_folder, sqlite_cases, 300),
        Suite(
            "postgresql",
            "PostgreSQL's",
            "postgresql",
            f"postgresql-{database_suites.POSTGRESQL}",
            database_suites.postgresql_folder,
            database_suites.postgresql_cases,
            300,
            script=database_suites.POSTGRESQL_SCRIPT,
        ),
        Suite(
            "stress", "stress-ng's stressors, with --verify", "stress", "", nothing, partial(stress_cases, "stress", 3)
        ),
    )
}


@dataclass(frozen=True)
class Differing:
    """What one run of a suite says, natively and in the server, or of two other kernels that `names` are for."""

    native: Ended
    here: Ended
    known: Mapping[str, str]
    compared: bool = False
    names: tuple[str, str] = ("natively", "here")

    @property
    def failed(self) -> list[str]:
        """What passes natively and not here."""
        return [name for name, status in self.native.statuses.items() if status == 0 and not self._same(name)]

    def _same(self, name: str) -> bool:
        return self.here.statuses.get(name) == 0 and not (
            self.compared and self.here.said(name) != self.native.said(name)
        )

    @property
    def unknown(self) -> list[str]:
        """Of these, what has no reason that is known."""
        return [name for name in self.failed if name not in self.known]

    @property
    def words(self) -> str:
        """A line for people."""
        statuses = self.native.statuses.values()
        passed = sum(status == 0 for status in statuses)
        left_out = sum(status == LEFT_OUT for status in statuses)
        both, (first, second) = passed - len(self.failed), self.names
        return (
            f"{len(statuses)} tests: {first} {passed} pass, {left_out} are left out,"
            f" {len(statuses) - passed - left_out} fail; of those that pass {both} pass {second},"
            f" {len(self.failed)} do not" + (f" (unknown: {' '.join(self.unknown)})" if self.unknown else "")
        )


def run(name: str, small: str | None = None) -> Differing:
    """Makes what is missing of a suite, and runs it natively and in the server."""
    suite = SUITES[name]
    native, here = Wish(suite.image, kernel="native"), Wish(suite.image, kernel="server", small=small)
    return compare(suite, {"native": cases.of_pc(native), "server": cases.of_pc(here)})


def compare(suite: Suite, guests: Mapping[str, Guest], names: tuple[str, str] = Differing.names) -> Differing:
    """Runs a suite in two guests, the one that says what has to pass first; the consoles of both are in
    build/reports/suites. `names` are for people.
    """
    entry = _ensure(suite)
    REPORTS.mkdir(parents=True, exist_ok=True)
    ended = []
    for kernel, started in guests.items():
        with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
            files = Path(folder) / "files"
            shutil.copytree(entry, files, symlinks=True)
            ended.append(cases.run(started, files, suite.cases(files), seconds=suite.seconds, shows=suite.compared))
        (REPORTS / f"{suite.name}-{kernel}.log").write_text(ended[-1].console)
        if not ended[0].whole:
            raise CobnutError(f"suite {suite.name}: the {kernel} kernel has not come to its end (build/reports/suites)")
    return Differing(ended[0], ended[1], known().get(suite.name, {}), suite.compared, names)


def known(path: Path = KNOWN) -> dict[str, dict[str, str]]:
    """By suite and test: why it fails here, though it passes natively."""
    found: dict[str, dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8")).get("differences", {})
    return found


def _listed(name: str) -> list[str]:
    return [str(one) for one in tomllib.loads(KNOWN.read_text(encoding="utf-8"))["tests"][name]]


def _ensure(suite: Suite) -> Path:
    tools = suite.tools()
    scripts = suite.script.read_text() + SSH.read_text()
    inputs = {
        "format": FORMAT,
        "release": private_apt.RELEASE,
        "suite": suite.name,
        "tests": f"{sorted(KERNEL_TESTS.items())}" if suite.cases is kernel_cases else scripts,
        "compiler": kbuild.first_line(*tools.command, "--version"),
    }
    return cache.get(Recipe("linuxsuite", inputs), lambda folder, _: _make(suite, folder, tools))


def _make(suite: Suite, folder: Path, tools: Tools) -> None:
    if not suite.source:
        return suite.make(folder, folder, tools)
    with private_apt.lists(f"the source of {suite.source}", sources=True) as apt:
        unpacked = _unpacked(suite.source, apt.download_source(suite.source), apt.folder / "tree")
        suite.make(unpacked, folder, tools)
    return None


def _unpacked(name: str, files: list[Path], tree: Path) -> Path:
    """A source package with Debian's part in it; its patches are not applied."""
    tree.mkdir()
    for pattern, options in ((r"\.orig\.tar\.\w+$", ("--strip-components=1",)), (r"\.debian\.tar\.\w+$", ())):
        for archive in [path for path in files if re.search(pattern, path.name)]:
            run_logged(["tar", "-xf", str(archive), "-C", str(tree), "--no-same-owner", *options], LOG)
    if not any(tree.iterdir()):
        raise CobnutError(f"Debian's source of {name} has no archive that is known")
    return tree


def _compile(tools: Tools, program: Path, target: Path, *words: str) -> None:
    command = [*tools.command, f"-I{program.parent}", "-o", str(target), str(program), *words, *LIBRARIES]
    run_logged(command, LOG)
