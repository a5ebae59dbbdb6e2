# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting our programs from a test: on either emulator, without the command's own checks of modules in the way."""

from dataclasses import dataclass

from cobnut import boards
from cobnut.emulators import Boot, Outcome, bochs, qemu
from cobnut.modules import Module

PC = boards.find("pc")
TIMEOUT_SECONDS = 60  # of processor time


@dataclass(frozen=True)
class Processor:
    """An emulated processor."""

    emulator: str
    cpu: str

    def __str__(self) -> str:
        return f"{self.emulator}-{self.cpu}"


# from no CPUID features at all to sysenter and global pages
QEMU = tuple(Processor("qemu", cpu) for cpu in ("486", "pentium", "pentium2", "pentium3"))
BOCHS = tuple(Processor("bochs", cpu) for cpu in ("pentium", "p4_willamette"))
USUAL = QEMU[-1]


def program(name: str, arguments: str = "") -> Module:
    """A built program as a module."""
    return Module(PC.program(name), arguments)


def boot(
    *modules: Module, options: str = "", on: Processor = USUAL, memory_mb: int = 64, sigma0: Module | None = None
) -> Outcome:
    """Boots sigma0 and `modules` (the root server first) on the processor `on` until the run ends."""
    what = Boot(PC.kernel, (sigma0 or program("sigma0"), *modules), options, on.cpu, memory_mb)
    return run(what, on)


def run(what: Boot, on: Processor = USUAL) -> Outcome:
    """Runs `what` until it ends, and fails if it does not."""
    outcome = (
        bochs.run(what, timeout=TIMEOUT_SECONDS)
        if on.emulator == "bochs"
        else qemu.run(what, timeout=TIMEOUT_SECONDS, repeatable=True)
    )
    assert not outcome.timed_out, f"no end after {TIMEOUT_SECONDS} s; console:\n{outcome.console}"
    return outcome
