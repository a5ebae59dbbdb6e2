# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting our programs from a test: on either emulator, without the command's own checks of modules in the way."""

import os
import re
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
LIKE_USUAL = QEMU[2]
KINDS = ("large", "small", "automatic")  # of x2test's agents' spaces
# x2test runs so under the sanitizer: every kind of spaces, and every kind of processor
SANITIZED = (*((kinds, USUAL) for kinds in KINDS), ("automatic", QEMU[0]))
THIRDS = tuple(f"part={k} parts=3" for k in (1, 2, 3))  # of x2test: every third of its tests
# A variation of a run repeats one third, each another one; all of them as the long proof `x2test`.
WHOLE = os.environ.get("X2TEST_WHOLE") == "1"


def thirds(variation: int) -> tuple[str, ...]:
    """The thirds of x2test that its variation of this number repeats, each as words of its command line."""
    return THIRDS if WHOLE else (THIRDS[variation % 3],)


def program(name: str, arguments: str = "") -> Module:
    """A built program as a module."""
    return Module(PC.program(name), arguments)


def boot(
    *modules: Module, options: str = "", on: Processor = USUAL, memory_mb: int = 64, sigma0: Module | None = None
) -> Outcome:
    """Boots sigma0 and `modules` (the root server first) on the processor `on` until the run ends."""
    what = Boot(PC.kernel, (sigma0 or program("sigma0"), *modules), options, on.cpu, memory_mb)
    return run(what, on)


def x2test(arguments: str, *, options: str = "", cpu: str = USUAL.cpu) -> Boot:
    """A boot of x2test. On QEMU an instruction takes 4 ns: where threads count for milliseconds to see who runs
    how often, a processor of 1 GHz only counts further, and the clock ticks once in a million instructions.
    """
    modules = (program("sigma0"), program("x2test", arguments))
    return Boot(PC.kernel, modules, options, cpu, instruction_log2_ns=2)


def assert_passed(outcome: Outcome) -> None:
    """Every test of x2test has passed, and it was not just a few of them."""
    failed = [line for line in outcome.console.splitlines() if line.startswith("FAIL")]
    assert not failed, "\n".join(failed)
    verdict = re.search(r"^x2test: (\d+) passed, 0 failed$", outcome.console, re.MULTILINE)
    assert verdict, outcome.console[-2000:]
    assert int(verdict.group(1)) > 30
    assert outcome.kernel_message is None
    assert outcome.code in (0, None)


def run(what: Boot, on: Processor = USUAL) -> Outcome:
    """Runs `what` until it ends, and fails if it does not."""
    outcome = (
        bochs.run(what, timeout=TIMEOUT_SECONDS)
        if on.emulator == "bochs"
        else qemu.run(what, timeout=TIMEOUT_SECONDS, repeatable=True)
    )
    assert not outcome.timed_out, f"no end after {TIMEOUT_SECONDS} s; console:\n{outcome.console}"
    return outcome
