# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Linux for 32-bit PCs as a guest: a kernel that is not ours, for the sanitizer and for `ipc/trace`.

Nothing is installed. apt downloads the kernel and a static busybox for i386 with lists and a cache of its own below
build/linux, checks them as it checks every package, and they are unpacked there. The flavour is 686, which has page
tables without PAE: those of the 686-pae flavour are not understood by the plugin. Programs of our own (lab/guests) go
with busybox into an initial file system whose script is the guest's only user.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut import apt_sources, cpio, packages, paths
from cobnut.emulators import Boot, Outcome, qemu
from cobnut.errors import CobnutError
from cobnut.modules import Module
from cobnut.process import alone, run_logged

RELEASE = "bookworm"  # the last release of Debian with a kernel for 32-bit PCs
FLAVOUR = "linux-image-686"
FOLDER = paths.BUILD / "linux"
SOURCES = paths.LAB / "guests"
CPU = "pentium3"  # the flavour needs cmov; sysenter and global pages are there
MEMORY_MB = 256
# addresses of the kernel stay those of its symbols, and the console carries nothing but what the guest's script says
OPTIONS = "console=ttyS0 nokaslr quiet"
REACHED, DONE = "guest: shell", "guest: done"
BOOT_SECONDS = 300

# no lists, no cache and no installed packages are shared with the system's own apt
APT_CONFIG = """APT::Architecture "i386";
APT::Architectures {{ "i386"; }};
APT::Sandbox::User "";
Acquire::Languages "none";
Dir::State "{folder}/state";
Dir::State::status "{folder}/state/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/debian.sources";
Dir::Etc::sourceparts "-";
"""
PROGRAMS = {
    "pipe": ("-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"),
    "memory": (),
}
SCRIPT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
echo "{REACHED}"
%s
echo "{DONE}"
poweroff -f
"""


@dataclass(frozen=True)
class LinuxGuest:
    """A kernel (bzImage) with the symbols of its code, and what an initial file system is made of."""

    version: str
    kernel: Path
    symbols: Path
    busybox: Path
    programs: tuple[Path, ...]

    def symbol_at(self, address: int) -> str | None:
        """`symbol+offset` of the kernel's code at `address`, or None below it."""
        best = max((entry for entry in self._code() if entry[0] <= address), default=None)
        return f"{best[1]}+{address - best[0]:#x}" if best else None

    def _code(self) -> Iterator[tuple[int, str]]:
        for line in self.symbols.read_text().splitlines():
            place, _, name = line.split()[:3]
            yield int(place, 16), name


def ensure() -> LinuxGuest:
    """Makes sure of the guest, downloading and building what is missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with alone(paths.LOCKS / "linux"):
        if not _kernels():
            _download()
        kernel = _kernels()[0]
        programs = tuple(_built(name) for name in PROGRAMS)
        version = kernel.name.removeprefix("vmlinuz-")
        guest = LinuxGuest(version, kernel, FOLDER / f"symbols-{version}", FOLDER / "busybox", programs)
        if not guest.symbols.exists():
            _read_symbols(guest)
    return guest


def boot(guest: LinuxGuest, folder: Path, commands: str) -> Boot:
    """A boot whose shell runs `commands` and switches the machine off; its initial file system is written to
    `folder`.
    """
    image = folder / "initrd"
    devices = (("console", 5, 1), ("null", 1, 3), ("zero", 1, 5), ("ttyS1", 4, 65))
    image.write_bytes(
        cpio.archive(
            [
                *(cpio.folder(name) for name in ("bin", "dev", "proc", "tmp")),
                *(cpio.device(f"dev/{name}", major, minor) for name, major, minor in devices),
                cpio.program("bin/busybox", guest.busybox.read_bytes()),
                *(cpio.program(f"bin/{path.name}", path.read_bytes()) for path in guest.programs),
                cpio.program("init", (SCRIPT % commands).encode()),
            ]
        )
    )
    return Boot(guest.kernel, (Module(image),), OPTIONS, CPU, MEMORY_MB)


def failure(outcome: Outcome) -> str | None:
    """Why a guest did not come to the end of its script, or None."""
    if outcome.timed_out:
        return "Linux did not come to its end in time"
    lines = outcome.console.splitlines()
    if REACHED not in lines:
        return "Linux did not reach its shell"
    wrong = [line for line in lines if "FAIL" in line or "BUG:" in line or "Oops" in line]
    if wrong:
        return f"in Linux: {wrong[0].strip()}"
    return None if DONE in lines else "Linux did not come to the end of its script"


def _kernels() -> list[Path]:
    return sorted(FOLDER.glob("vmlinuz-*"))


def _download() -> None:
    if shutil.which("apt-get") is None:
        raise CobnutError(f"this machine has no apt-get to download Debian's {FLAVOUR} with")
    if os.environ.get("COBNUT_NO_INSTALL"):
        raise CobnutError(f"not downloaded, as COBNUT_NO_INSTALL is set: {FLAVOUR} and busybox-static for i386")
    packages.say(f"downloading {FLAVOUR} and busybox-static for i386, to {paths.shown(FOLDER)} (apt)")
    with tempfile.TemporaryDirectory(prefix="apt-", dir=FOLDER) as name:
        folder = Path(name)
        _configure(folder)
        _apt(folder, "apt-get", "update", "-q")
        depends = _apt(folder, "apt-cache", "depends", FLAVOUR)
        image = re.search(r"Depends: (linux-image-\S+)", depends)
        if image is None:
            raise CobnutError(f"Debian {RELEASE} has no kernel behind {FLAVOUR}")
        _apt(folder, "apt-get", "download", "-q", image.group(1), "busybox-static")
        for archive in folder.glob("*.deb"):
            run_logged(["dpkg-deb", "-x", str(archive), str(folder / "files")], "linux-unpack.log")
        _keep(folder / "files")


def _configure(folder: Path) -> None:
    for part in ("state/lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True)
    (folder / "state/status").touch()
    sources = apt_sources.repeated(apt_sources.read_sources(), apt_sources.codename(), RELEASE)
    (folder / "debian.sources").write_text(sources)
    (folder / "apt.conf").write_text(APT_CONFIG.format(folder=folder))


def _apt(folder: Path, *command: str) -> str:
    """Runs a program of apt's on the lists in `folder`, and returns what it says."""
    environment = {**os.environ, "APT_CONFIG": str(folder / "apt.conf"), "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or ["no reason given"]
        raise CobnutError(f"{' '.join(command)} failed: {errors[0]}")
    return done.stdout


def _keep(files: Path) -> None:
    """Moves what is needed of the unpacked packages to where it stays, the kernel last: it says that all is there."""
    kernels, configs = list(files.glob("boot/vmlinuz-*")), list(files.glob("boot/config-*"))
    busybox = files / "bin/busybox"
    if len(kernels) != 1 or len(configs) != 1 or not busybox.exists():
        raise CobnutError(f"{FLAVOUR} or busybox-static does not hold what is wanted of it")
    if "CONFIG_X86_PAE=y" in configs[0].read_text():
        raise CobnutError(f"{kernels[0].name} uses PAE page tables, which the plugin does not understand")
    busybox.rename(FOLDER / "busybox")
    kernels[0].rename(FOLDER / kernels[0].name)


def _built(name: str) -> Path:
    """One of our programs for Linux, built if its source is newer."""
    source, target = SOURCES / f"{name}.c", FOLDER / name
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        packages.ensure(packages.BUILD_TOOLS)
        options = ["-m32", "-O2", "-static", "-no-pie", "-fno-pie", "-Wall", "-Wextra", "-Werror"]
        run_logged(["gcc", *options, *PROGRAMS[name], "-o", str(target), str(source)], f"guest-{name}.log")
    return target


def _read_symbols(guest: LinuxGuest) -> None:
    """Debian's package has no map of the kernel's symbols: the kernel itself is asked, once, by its second serial
    port.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-", dir=FOLDER) as name:
        folder = Path(name)
        listing = folder / "symbols"
        what = boot(guest, folder, "stty -F /dev/ttyS1 raw\ngrep -i ' t ' /proc/kallsyms | grep -v '\\[' > /dev/ttyS1")
        outcome = qemu.run(what, timeout=BOOT_SECONDS, repeatable=True, second_serial=listing)
        reason = failure(outcome)
        if reason:
            raise CobnutError(f"the kernel's symbols could not be read: {reason}")
        listing.rename(guest.symbols)
