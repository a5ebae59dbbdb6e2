# SPDX-License-Identifier: GPL-2.0-or-later
"""The emulators, and what a boot is to all of them.

QEMU is fast, takes the laboratory's plugin and lets a guest end with a status; Bochs enforces segment limits and has
processors that QEMU lacks. docs/security.md (emulators) says which of the two shows what.
"""

import os
import re
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cobnut.emulators.disk import Disk
from cobnut.emulators.nic import Nic
from cobnut.errors import unknown
from cobnut.modules import Module

NAMES = ("qemu", "bochs")
# a run's status, by the guest's console and the number that it ended with
Judge = Callable[[str, int | None], int]
CHECK_FAILED = re.compile(r"^cobnut: (check failed: .*)$", re.MULTILINE)


@dataclass(frozen=True)
class Boot:
    """What to boot: modules in the order sigma0, root server, payload. `options` is the kernel's command line.

    Where virtual time follows the instruction count, an instruction takes 2^`instruction_log2_ns` ns of it. `words`
    stand last on QEMU's command line. With `as_initrd` an ARM guest finds its one module as it is, as an initial RAM
    disk, and not in an archive. With `second_serial` the board's second serial line is on the terminal, too.
    `disk` and `display` are for PCs. QEMU shows a display, also one that a board has, where `display_at` says.
    """

    kernel: Path
    modules: tuple[Module, ...]
    options: str = ""
    cpu: str = "pentium3"
    memory_mb: int = 64
    instruction_log2_ns: int = 0
    words: tuple[str, ...] = ()
    as_initrd: bool = False
    second_serial: bool = False
    disk: Disk | None = None
    display: bool = False
    display_at: str = "none"
    nic: Nic | None = None


@dataclass(frozen=True)
class Outcome:
    """How a run without a person at the console ended.

    `code` is the number that the guest ended with (0: success), None when it did not end by itself or, on Bochs,
    always: there only the console tells.
    """

    code: int | None
    console: str
    errors: str
    seconds: float
    timed_out: bool = False

    @property
    def kernel_message(self) -> str | None:
        """The kernel's own line about why it could not go on, if there is one."""
        return kernel_message(self.console)


def kernel_message(console: str) -> str | None:
    """The kernel's own last words: its lines, if the console ends with any, about why it could not go on.

    A check that has failed is told before the fault that it led to (kernel/core/check.cpp).
    """
    words: list[str] = []
    for line in reversed([line for line in console.splitlines() if line.strip()]):
        if not line.startswith("cobnut: "):
            break
        words.insert(0, line.removeprefix("cobnut: "))
    failed = CHECK_FAILED.search(console)
    if words and failed:
        words.insert(0, failed.group(1))
    return "; ".join(words) or None


def check_name(name: str) -> None:
    """Refuses an emulator that is not known."""
    if name not in NAMES:
        raise unknown("emulator", name, NAMES)


def own(name: str) -> str:
    """A file of an emulator's run in the folder where its modules are: no module is staged under such a name."""
    return f"{name}~"


def staged_name(module: Module) -> str:
    """What a guest sees as the module's name, but for a number in front of it that tells it from another one."""
    return "".join(letter if letter.isalnum() or letter in "._-+" else "_" for letter in module.name)


def stage(boot: Boot, folder: Path) -> list[str]:
    """Puts `boot`'s modules into `folder` under their plain names and returns their command lines, name first.

    The names are what a guest sees; without this they would be paths of this machine, blanks and commas included.
    """
    lines = []
    for index, module in enumerate(boot.modules):
        name = staged_name(module)
        place = folder / name
        if place.exists() and place.resolve() != module.path.resolve():
            name = f"{index}-{name}"
            place = folder / name
        if not place.exists():
            place.symlink_to(module.path.resolve())
        lines.append(f"{name} {module.arguments}".strip())
    return lines


def carry(console: int, seen: Callable[[bytes], None], seconds: float | None) -> tuple[bytes, bool]:
    """Reads a pipe that holds a guest's console to its end, and calls `seen` with what comes as it comes. Returns all
    of it, and whether `seconds` were over before.
    """
    text, end = b"", None if seconds is None else time.monotonic() + seconds
    while True:
        left = None if end is None else end - time.monotonic()
        if left is not None and (left <= 0 or not select.select([console], [], [], left)[0]):
            return text, True
        data = os.read(console, 1 << 16)
        if not data:
            return text, False
        text += data
        seen(data)


def has_desktop() -> bool:
    """Whether a window can be seen."""
    return "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
