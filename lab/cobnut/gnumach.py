# SPDX-License-Identifier: GPL-2.0-or-later
"""GNU Mach of Debian as a guest: two of its kernels, the ordinary one and the one for debugging, which has symbols; and
a program of ours for its first task (lab/guests/gnumach).

The kernels are downloaded and unpacked into the cache (cobnut.cache), and nothing is installed.
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

from cobnut import cache, guest_programs, paths, private_apt
from cobnut.cache import Recipe
from cobnut.emulators import Boot
from cobnut.errors import CobnutError
from cobnut.modules import Module
from cobnut.private_apt import RELEASE
from cobnut.process import alone

PACKAGE = "gnumach-image-1.8-486"
KERNELS = {PACKAGE: "kernel", f"{PACKAGE}-dbg": "kernel-dbg"}  # what each package's is called in the entry
PROGRAM = "primitives"
SOURCES = guest_programs.SOURCES / "gnumach"
# The package is compiled for processors with cmov. Of one that has it, what older ones lack besides is left out.
CPU = "pentium3"
OLDER = f"{CPU},-pge,-sep"
OPTIONS = "console=com0"
# what GNU Mach does with a module, and tells it, in the language of its boot scripts
SCRIPT = "${host-port} ${device-port} $(task-create) $(task-resume)"
INSTRUCTION_LOG2_NS = 4  # a Pentium at 133 MHz takes some 16 ns for one: so often it is interrupted by the clock


@dataclass(frozen=True)
class GnuMach:
    """The kernel, and the one with symbols, which is compiled with a debugger."""

    kernel: Path
    debugging: Path


def recipe() -> Recipe:
    """What is asked of Debian: a newer version is not looked for."""
    return Recipe("gnumach", {"release": RELEASE, "packages": " ".join(KERNELS)})


def ensure() -> GnuMach:
    """Makes sure of the kernels, downloading them if they are missing."""
    entry = cache.get(recipe(), lambda folder, _: _download(folder))
    return GnuMach(*(entry / name for name in KERNELS.values()))


def program() -> Path:
    """The program, built if it is not or if its sources have changed."""
    folder = paths.BUILD / "gnumach"
    folder.mkdir(parents=True, exist_ok=True)
    with alone(paths.LOCKS / "gnumach"):
        sources = (SOURCES / f"{PROGRAM}.cc", SOURCES / "traps.S")
        return guest_programs.built(folder / PROGRAM, guest_programs.CXX_COMPILER, sources, SOURCES.glob("*.h"))


def boot(cpu: str, memory_mb: int) -> Boot:
    """The kernel with the program, which ends the machine, on the emulator's processor `cpu` or one like it."""
    module = Module(program(), SCRIPT)
    like = CPU if cpu == CPU else OLDER
    return Boot(ensure().kernel, (module,), OPTIONS, like, memory_mb, instruction_log2_ns=INSTRUCTION_LOG2_NS)


def _download(target: Path) -> None:
    with private_apt.lists("GNU Mach for i386") as apt:
        apt.download(*KERNELS)
        for package, name in KERNELS.items():
            archives = apt.folder.glob(f"{package}_*.deb")
            files = private_apt.unpack(archives, apt.folder / package, "gnumach-unpack.log")
            kernels = list(files.glob("boot/gnumach-*.gz"))
            if len(kernels) != 1:
                raise CobnutError(f"{package} does not hold one kernel")
            (target / name).write_bytes(gzip.decompress(kernels[0].read_bytes()))
