# SPDX-License-Identifier: GPL-2.0-or-later
"""A run with the kernel's trace on, and its trace as a file for Perfetto."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cobnut import boards, chrome_trace, kernel_trace
from cobnut.chrome_trace import FIRST_PAYLOAD, ROOT, SIGMA0, Program
from cobnut.emulators import Boot, qemu, staged_name
from cobnut.emulators.ending import End
from cobnut.errors import CobnutError
from cobnut.kernel_trace import Trace
from cobnut.payloads import given_names
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
            code = qemu.interact(boot, repeatable=True, memory=memory, end=End(seconds))
        except CobnutError as error:
            failure = error
        if failure and not memory.exists():
            raise failure
        try:
            trace = kernel_trace.read(memory, Symbols(boot.kernel))
        except CobnutError as error:
            raise failure or error from None
    # only names of events' arguments repeat: without blanks a file of many events is half the size
    output.write_text(json.dumps(chrome_trace.convert(trace, programs(boot)), separators=(",", ":")) + "\n")
    return Run(trace, code, failure)


def programs(boot: Boot) -> list[Program]:
    """What runs in a boot. Which program a thread starts is known of the initial servers, and of payloads where `root`
    is the root server.
    """
    _, root, *payloads = boot.modules
    ours = root.path.resolve() == boards.find("pc").program("root").resolve()
    threads = [SIGMA0, ROOT, *(FIRST_PAYLOAD + index if ours else None for index in range(len(payloads)))]
    return [
        Program(next(iter(given_names(module)), staged_name(module)), Symbols(module.path).function_at, thread)
        for module, thread in zip(boot.modules, threads, strict=True)
    ]
