# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Linux for 32-bit PCs as a guest: a kernel that is not ours, for the sanitizer and for traces.

Nothing is installed: the kernel and a static busybox for i386 are downloaded (cobnut.private_apt) and unpacked into an
entry of the cache (cobnut.cache). The flavour is 686, which has page tables without PAE: those of the 686-pae flavour
are not understood by the plugin. Programs of our own (lab/guests) go with busybox into an initial file system whose
script is the guest's only user.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, cpio, guest_programs, paths, private_apt
from cobnut.cache import Recipe
from cobnut.emulators import Boot, Outcome, qemu
from cobnut.errors import CobnutError
from cobnut.guest_programs import COMPILER, FREESTANDING, SOURCES
from cobnut.modules import Module
from cobnut.private_apt import RELEASE
from cobnut.process import alone

FLAVOUR, BUSYBOX = "linux-image-686", "busybox-static"
FOLDER = paths.BUILD / "linux"  # of our own programs
CPU = "pentium3"  # the flavour needs cmov; sysenter and global pages are there
MEMORY_MB = 256
# addresses of the kernel stay those of its symbols, and the console carries nothing but what the guest's script says
OPTIONS = "console=ttyS0 nokaslr quiet"
REACHED, DONE = "guest: shell", "guest: done"
BOOT_SECONDS = 300
# Linux counts for less long at its start, until some time is over, where an instruction takes more of it: with 2^3 ns a
# start takes half the processor time that it takes with 1. For short forms of experiments.
QUICK_LOG2_NS = 3

PROGRAMS = {"pipe": FREESTANDING, "memory": ()}  # that go into a guest's file system
MEASURED = {
    "rounds": FREESTANDING,
    "syscalls": FREESTANDING,
    "users": (),
    "visitor": (),
}  # that are given to guests as files
SCRIPT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
echo "{REACHED}"
%s
echo "{DONE}"
poweroff -f
"""
LIST_SYMBOLS = "stty -F /dev/ttyS1 raw\ngrep -i ' t ' /proc/kallsyms | grep -v '\\[' > /dev/ttyS1"


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


def recipe() -> Recipe:
    """What is asked of Debian, and how its kernel is booted for its symbols: a newer version is not looked for."""
    boots = f"{CPU} {MEMORY_MB} {OPTIONS}\n{SCRIPT % LIST_SYMBOLS}"
    return Recipe("linux", {"release": RELEASE, "packages": f"{FLAVOUR} {BUSYBOX}", "symbols": boots})


def kernel() -> LinuxGuest:
    """The guest without programs of ours, downloaded if it is missing."""
    return _guest(cache.get(recipe(), _fill))


def ensure() -> LinuxGuest:
    """Makes sure of the guest, downloading and building what is missing."""
    folder = cache.get(recipe(), _fill)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with alone(paths.LOCKS / "linux"):
        return _guest(folder, tuple(_built(name) for name in PROGRAMS))


def program(name: str) -> Path:
    """One of our programs, built if it is not or if its source has changed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with alone(paths.LOCKS / "linux"):
        return _built(name)


def boot(guest: LinuxGuest, folder: Path, commands: str, *, quick: bool = False) -> Boot:
    """A boot whose shell runs `commands` and switches the machine off; its initial file system is written to
    `folder`. With `quick` the guest counts for less long where it waits.
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
    nanoseconds = QUICK_LOG2_NS if quick else 0
    return Boot(guest.kernel, (Module(image),), OPTIONS, CPU, MEMORY_MB, instruction_log2_ns=nanoseconds)


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


def _guest(folder: Path, programs: tuple[Path, ...] = ()) -> LinuxGuest:
    """The guest of an entry's folder."""
    kernel = next(folder.glob("vmlinuz-*"))
    version = kernel.name.removeprefix("vmlinuz-")
    return LinuxGuest(version, kernel, folder / f"symbols-{version}", folder / "busybox", programs)


def _fill(folder: Path, _: Path) -> None:
    _download(folder)
    _read_symbols(_guest(folder))


def _download(target: Path) -> None:
    with private_apt.lists(f"{FLAVOUR} and {BUSYBOX} for i386") as apt:
        image = re.search(r"Depends: (linux-image-\S+)", apt.run("apt-cache", "depends", FLAVOUR))
        if image is None:
            raise CobnutError(f"Debian {RELEASE} has no kernel behind {FLAVOUR}")
        files = private_apt.unpack(apt.download(image.group(1), BUSYBOX), apt.folder / "files", "linux-unpack.log")
        _keep(files, target)


def _keep(files: Path, target: Path) -> None:
    """Copies what is needed of the unpacked packages to where it stays."""
    kernels, configs = list(files.glob("boot/vmlinuz-*")), list(files.glob("boot/config-*"))
    busybox = files / "bin/busybox"
    if len(kernels) != 1 or len(configs) != 1 or not busybox.exists():
        raise CobnutError(f"{FLAVOUR} or busybox-static does not hold what is wanted of it")
    if "CONFIG_X86_PAE=y" in configs[0].read_text():
        raise CobnutError(f"{kernels[0].name} uses PAE page tables, which the plugin does not understand")
    shutil.copy2(busybox, target / busybox.name)
    shutil.copy2(kernels[0], target / kernels[0].name)


def _built(name: str) -> Path:
    """One of our programs for Linux."""
    compiler = (*COMPILER, *(PROGRAMS | MEASURED)[name])
    return guest_programs.built(FOLDER / name, compiler, [SOURCES / f"{name}.c"], SOURCES.glob("*.h"))


def _read_symbols(guest: LinuxGuest) -> None:
    """Debian's package has no map of the kernel's symbols: the kernel itself is asked, once, by its second serial
    port.
    """
    qemu.ensure()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        listing = folder / "symbols"
        what = boot(guest, folder, LIST_SYMBOLS)
        outcome = qemu.run(what, timeout=BOOT_SECONDS, repeatable=True, second_serial=listing)
        reason = failure(outcome)
        if reason:
            raise CobnutError(f"the kernel's symbols could not be read: {reason}")
        shutil.copyfile(listing, guest.symbols)
