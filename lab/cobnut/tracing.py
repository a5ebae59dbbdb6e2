# SPDX-License-Identifier: GPL-2.0-or-later
"""A run with the kernel's trace on, and its trace as a file for Perfetto."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cobnut import chrome_trace, kernel_trace
from cobnut.emulators import Boot, qemu
from cobnut.errors import CobnutError
from cobnut.kernel_trace import Trace
from cobnut.symbols import Symbols

LEAST_KB, MOST_KB = 4, 8192  # a page; half of what the kernel takes of a large memory


def check_ring(kb: int) -> None:
    """Refuses a size that no ring can have."""
    if not LEAST_KB <= kb <= MOST_KB:
        raise CobnutError(f"--ring {kb}: must be from {LEAST_KB} to {MOST_KB} (KB)")


@dataclass(frozen=True)
class Run:
    """A traced run: the guest's number, or why the kernel stopped."""

    trace: Trace
    code: int
    failure: CobnutError | None


def run(boot: Boot, output: Path, seconds: float | None = None) -> Run:
    """Boots `boot`, whose options ask for a trace, and writes the trace, also that of a kernel that stopped."""
    code, failure = 2, None
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        memory = Path(folder) / "memory"
        try:
            code = qemu.interact(boot, repeatable=True, memory=memory, seconds=seconds)
        except CobnutError as error:
            failure = error
        if failure and not memory.exists():
            raise failure
        try:
            trace = kernel_trace.read(memory, Symbols(boot.kernel))
        except CobnutError as error:
            raise failure or error from None
    programs = [Symbols(module.path) for module in boot.modules]
    # only names of events' arguments repeat: without blanks a file of many events is half the size
    output.write_text(json.dumps(chrome_trace.convert(trace, names_in(programs)), separators=(",", ":")) + "\n")
    return Run(trace, code, failure)


def names_in(programs: list[Symbols]) -> chrome_trace.FunctionAt:
    """The function at an address where only one program has code there: which program a space runs is not known."""

    def function_at(address: int) -> str | None:
        names = [name for program in programs if (name := program.function_at(address))]
        return names[0] if len(names) == 1 else None

    return function_at
