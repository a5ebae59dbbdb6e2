# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages: which ones each kind of work needs, and installing the missing ones.

A package counts as present when the file or command that is wanted from it is there, so that a machine with its own
builds of these tools is left alone, and the usual case costs a few look-ups instead of a package manager's start.
"""

import glob
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cobnut import apt_sources, paths
from cobnut.errors import CobnutError
from cobnut.process import run_logged

RUST_COMPONENTS = {"rustfmt": "rustfmt", "clippy": "cargo-clippy"}
LOCK_RETRIES = 60
LOCK_PAUSE_SECONDS = 5


@dataclass(frozen=True)
class Package:
    """A Debian package and what is wanted from it: a command's name, or a pattern of a file's path."""

    name: str
    wanted: str

    def present(self) -> bool:
        if "/" in self.wanted:
            return bool(glob.glob(self.wanted))
        return shutil.which(self.wanted) is not None


BUILD_TOOLS = (
    Package("ca-certificates", "/etc/ssl/certs/ca-certificates.crt"),  # cargo fetches crates with them
    Package("cmake", "cmake"),
    Package("ninja-build", "ninja"),
    Package("gcc-multilib", "/usr/lib/gcc/x86_64-linux-gnu/*/32/libgcc.a"),
    Package("g++-multilib", "/usr/lib/gcc/x86_64-linux-gnu/*/32/libstdc++.a"),
)
MAKE = (Package("make", "make"),)  # not needed here, but by programs that `cobnut new` writes
ARM_TOOLS = (Package("gcc-arm-none-eabi", "arm-none-eabi-g++"),)
UNIT_TEST_TOOLS = (Package("libgtest-dev", "/usr/include/gtest/gtest.h"),)
LWIP_TEST_TOOLS = (Package("check", "/usr/include/check.h"),)  # the framework of lwIP's own tests
FUZZING_TOOLS = (
    Package("clang", "clang++"),
    Package("libclang-rt-14-dev", "/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a"),
)
BROWSER = (Package("chromium", "chromium"),)
BOCHS = (
    Package("bochs", "bochs"),
    Package("bochsbios", "/usr/share/bochs/BIOS-bochs-latest"),
    Package("vgabios", "/usr/share/bochs/VGABIOS-lgpl-latest"),
)
BOCHS_DISPLAY = (Package("bochs-sdl", "/usr/lib/*/bochs/plugins/libbx_sdl2_gui.so"),)
CD = (
    Package("grub-common", "grub-mkrescue"),
    Package("grub-pc-bin", "/usr/lib/grub/i386-pc/multiboot.mod"),
    Package("xorriso", "xorriso"),
    Package("mtools", "mformat"),
)
GDB = (Package("gdb", "gdb"),)
GDB_ARM = (Package("gdb-multiarch", "gdb-multiarch"),)
WRK = (Package("wrk", "wrk"),)
IPERF = (Package("iperf3", "iperf3"),)
SSH = (Package("openssh-client", "ssh"),)
GIT = (Package("git", "git"),)
QEMU = Package("qemu-system-x86", "qemu-system-i386")
QEMU_ARM = Package("qemu-system-arm", "qemu-system-arm")


def ensure(*groups: tuple[Package, ...]) -> None:
    """Installs what of `groups` is missing, saying so; returns at once when nothing is."""
    missing = [package.name for group in groups for package in group if not package.present()]
    if missing:
        install(missing)


def ensure_rust() -> None:
    """The Rust toolchain is not ours to choose: say what is missing rather than install one."""
    installed = Path.home() / ".cargo" / "bin"
    if shutil.which("cargo") is None and (installed / "cargo").exists():
        os.environ["PATH"] += f":{installed}"  # rustup puts it there, and on the PATH of later logins only
    if shutil.which("cargo") is None:
        raise CobnutError(
            "cargo is not on the PATH: the laboratory is built with a Rust toolchain (1.88 or newer), please"
            " install one"
        )


def ensure_rust_components() -> None:
    """The toolchain's formatter and linter, which a small installation lacks."""
    missing = [name for name, command in RUST_COMPONENTS.items() if not _works(command)]
    if missing and shutil.which("rustup") is None:
        raise CobnutError(f"the Rust toolchain lacks {' and '.join(missing)}, please install them")
    if missing:
        say(f"adding {' and '.join(missing)} to the Rust toolchain (rustup)")
        run_logged(["rustup", "component", "add", *missing], "rustup.log")


def _works(command: str) -> bool:
    """Whether it says its version; rustup's stand-in for a component that is not installed does not."""
    found = shutil.which(command)
    return found is not None and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0


def install(names: list[str], *, suite: str | None = None) -> None:
    """Installs the packages `names`, from the release `suite` where one is given."""
    if shutil.which("apt-get") is None:
        raise CobnutError(f"this machine has no apt-get: please install what Debian calls {' '.join(names)}")
    if os.environ.get("COBNUT_NO_INSTALL"):
        raise CobnutError(f"missing and not installed, as COBNUT_NO_INSTALL is set: {' '.join(names)}")
    say(f"installing {' '.join(names)} (apt{', ' + suite if suite else ''})")
    apt(["update", "-q"])
    command = ["install", "-q", "-y", "--no-install-recommends"]
    try:
        apt([*command, *(["-t", suite] if suite else []), *names])
    except CobnutError:
        # QEMU may have brought a library from the backports, which others want in the release's version unless theirs
        # are taken from there, too
        if suite or not _backports().path.exists():
            raise
        apt([*command, "-t", _backports().suite, *names])


def _backports() -> apt_sources.NewSource:
    return apt_sources.backports_of(apt_sources.read_sources(), apt_sources.codename())


def add_backports() -> str:
    """Makes the backports of this Debian release a package source, and returns that suite's name."""
    source = _backports()
    if not source.path.exists():
        say(f"adding the package source {source.path} ({source.suite})")
        as_root(["tee", str(source.path)], given=source.text)
    return source.suite


def installed_version(name: str) -> str | None:
    """The version of an installed package, or None."""
    if shutil.which("dpkg-query") is None:
        return None
    answer = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Status}|${Version}", name], capture_output=True, text=True, check=False
    )
    status, _, version = answer.stdout.partition("|")
    return version if status.endswith(" installed") else None


def candidate_version(name: str) -> str | None:
    """The version that apt would install without a suite named, after an update of its lists."""
    apt(["update", "-q"])
    answer = subprocess.run(["apt-cache", "policy", name], capture_output=True, text=True, check=False)
    for line in answer.stdout.splitlines():
        key, _, value = line.strip().partition(": ")
        if key == "Candidate" and value != "(none)":
            return value
    return None


def apt(arguments: list[str]) -> None:
    """Runs apt-get without questions, waiting while another package manager holds a lock."""
    for _ in range(LOCK_RETRIES):
        done = as_root(
            [
                "env",
                "DEBIAN_FRONTEND=noninteractive",
                "LC_ALL=C",
                "apt-get",
                "-o",
                "DPkg::Lock::Timeout=600",
                *arguments,
            ]
        )
        if done.returncode == 0:
            return
        if "Could not get lock" not in done.stderr and "Unable to lock" not in done.stderr:
            break
        time.sleep(LOCK_PAUSE_SECONDS)
    errors = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or ["no reason given"]
    raise CobnutError(
        f"apt-get {arguments[0]} failed: {errors[0]} (all of it in {paths.shown(paths.LOGS / 'apt.log')})"
    )


def as_root(command: list[str], *, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs `command` as root: directly, or by sudo, which may ask for a password only where a person can answer."""
    if os.geteuid() != 0:
        if shutil.which("sudo") is None:
            raise CobnutError(f"this needs root and there is no sudo; please run as root: {' '.join(command)}")
        command = ["sudo", *([] if sys.stdin.isatty() else ["-n"]), *command]
    paths.LOGS.mkdir(parents=True, exist_ok=True)
    where = (
        {"input": given}
        if given is not None
        else {"stdin": None if os.geteuid() and sys.stdin.isatty() else subprocess.DEVNULL}
    )
    done = subprocess.run(command, capture_output=True, text=True, check=False, **where)
    with open(paths.LOGS / "apt.log", "a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}\n")
    return done


def say(text: str) -> None:
    """One line about what is being installed; on stderr, because stdout belongs to the command's answer."""
    print(f"cobnut: {text}", file=sys.stderr, flush=True)
