# SPDX-License-Identifier: GPL-2.0-or-later
"""Test suites of others on an ARM board (docs/linux-suites.md): what passes with Debian's Linux as it is has to pass
with fast address-space switching, or is named in linux/suites.toml with the reason why it does not.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cobnut import boards
from cobnut.emulators import Boot, Outcome, qemu_arm
from cobnut.linux import armel, board, cases, compilers, initrd, suites
from cobnut.linux.cases import Guest
from cobnut.linux.initrd import Extra
from cobnut.linux.suites import Differing, Suite
from cobnut.modules import Module

BOARD = boards.find("versatilepb")
OPTIONS = "rootfstype=ramfs"  # a tmpfs would take no more than half of the memory
SETTING = "export MEMORY_MB=40"  # beside the RAM disk there is room for less than on a PC
FOLDER = "linux-arm/suites"  # of the proofs' names
NAMES = ("with the standard kernel", "with fast switching")
# those for PCs that run here, and what is different of them
CHANGES: dict[str, dict[str, Any]] = {
    "programs": {},
    "stress": {"cases": partial(suites.stress_cases, "arm-stress", 1)},
    "busybox": {},
    "bash": {"tools": compilers.for_armel},
    "kernel": {"tools": compilers.for_armel, "seconds": 30},
}
SUITES: dict[str, Suite] = {
    f"arm-{name}": replace(suites.SUITES[name], name=f"arm-{name}", **changed) for name, changed in CHANGES.items()
}


def run(name: str) -> Differing:
    """Makes what is missing of a suite, and runs it with both kernels."""
    suite = SUITES[name]
    both = {"standard": guest(suite.image, ()), "fast": guest(suite.image, board.fast_series())}
    return suites.compare(suite, both, NAMES)


def guest(image: str, patches: Sequence[Path]) -> Guest:
    """A board with an image of linux/guests and a kernel with these patches."""

    def started(command: str, files: Path) -> Outcome:
        linux = board.ensure(BOARD, patches, for_debian=True)
        with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
            archive = Path(folder) / "initrd"
            # unpacked, it does not fit in memory twice
            initrd.write(armel.image(image), Extra(f"{SETTING}\n{command}", files), archive, most=0)
            options = f"console={board.PORTS[BOARD.name].console} quiet {OPTIONS}"
            boot = Boot(linux.kernel, (Module(archive),), options, memory_mb=armel.MOST_MB, as_initrd=True)
            return qemu_arm.run(boot, BOARD.name, timeout=cases.LIMIT_SECONDS)

    return started
