# SPDX-License-Identifier: GPL-2.0-or-later
"""strace's own tests, from Debian's source: scripts that compare what the image's strace says of programs of theirs,
which are compiled for 32 bits.
"""

import shutil
import subprocess
from pathlib import Path

from cobnut.linux import compilers
from cobnut.linux.cases import Case
from cobnut.linux.compilers import LOG, Tools
from cobnut.process import run_logged

LIST = "names"  # of the tests, one in each line
# what their Makefile would say; the strace that they run is the image's
SETTING = (
    "STRACE=/usr/bin/strace STRACE_ARCH=i386 STRACE_NATIVE_ARCH=i386 SIZEOF_KERNEL_LONG_T=4 SIZEOF_LONG=4 MIPS_ABI="
    " srcdir=. TIMEOUT_DURATION=150"
)
# whatever libraries this machine has, the tests are the same
WITHOUT = ("--disable-mpers", "--enable-stacktrace=no", "--without-libselinux")
OF_ALL = ("test_trace_expr", "qualify_personality.sh")  # in scripts that run the other tests' programs, for minutes
NOT_READ = ("*.c", "*.o", "*.a", "*.m4", "*.log", "Makefile*", ".deps")  # by any test


def folder(tree: Path, target: Path, tools: Tools) -> None:
    """The tests but for those of OF_ALL, their programs, and the list of their names."""
    compilers.configure(tree, " ".join(tools.command), *WITHOUT)
    compilers.make(tree)
    tests = tree / "tests"
    compilers.make(tests, "check", "TESTS=")
    show = ["make", "-s", "-C", str(tests), "--eval", "cobnut-list: ; @echo $(TESTS)", "cobnut-list"]
    found = subprocess.run(show, capture_output=True, text=True, check=True).stdout.split()
    names = [name for name in found if not any(word in (tests / name).read_text() for word in OF_ALL)]
    (target / LIST).write_text("".join(f"{name}\n" for name in names))
    shutil.copytree(tests, target / "tests", ignore=shutil.ignore_patterns(*NOT_READ))
    (target / "src").mkdir()
    shutil.copy(tree / "src" / "strace-log-merge", target / "src")
    programs = [path for path in (target / "tests").iterdir() if path.is_file() and _is_program(path)]
    run_logged(["strip", *map(str, programs)], LOG)


def _is_program(path: Path) -> bool:
    with path.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def cases(files: Path) -> list[Case]:
    """One for each script; what it leaves in the folder goes."""
    command = "cd tests; {} ./run.sh ./{}; status=$?; rm -rf -- {}.dir; exit $status"
    names = (files / LIST).read_text().split()
    return [
        Case(name.removesuffix(".test"), command.format(SETTING, name, name.removesuffix(".test").removesuffix(".gen")))
        for name in names
    ]
