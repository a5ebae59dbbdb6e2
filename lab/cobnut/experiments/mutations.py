# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/mutations`: the kernel with one of its invalidations removed, each in turn: does the sanitizer notice?

The list is derived. Every `invlpg` and every write of CR3 or CR4 in the kernel's disassembly is one, outside of the boot and of
the switches between spaces; and every store that was seen to clear a directory entry or a global bit in the code that owns page
tables. A mutant is the built kernel with that instruction replaced by nops.
"""

import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cobnut import results, sanitizing
from cobnut.checks import Check, above, exactly, judge
from cobnut.emulators import Boot, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Lab, Plot, Setting
from cobnut.modules import ELF_HEADER, PROGRAM_HEADER, PT_LOAD, Module
from cobnut.results import Result, Series
from cobnut.sanitizing import Findings

AT_ONCE = 2
TIMEOUT_SECONDS = 300
PROGRAM = "kinds=small"
WITH_GLOBAL, WITHOUT_GLOBAL = "pentium3", "486"
NOP = 0x90

INVALIDATES = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*(invlpg\s.*|mov\s+%\w+,%cr[34])$")
FUNCTION = re.compile(r"^([0-9a-f]+) <(.*)>:$")
# before the first user runs, there is nothing to forget
BOOT = re.compile(r"boot_|::initialise")
# a CR3 write here changes the space: without it the wrong space runs, which is no question of what is cached
SWITCH = re.compile(r"large_to_large|small_to_large|sysenter_|arch::enter_space")
OWNERS = re.compile(r"small_space::|page_tables::")


@dataclass(frozen=True)
class Mutant:
    """An instruction to remove."""

    name: str
    address: int
    length: int
    text: str

    @property
    def is_control_write(self) -> bool:
        """Such writes come in pairs, of which the second takes nothing away any more, and yet is needed by the next pair."""
        return self.text.startswith("mov")


@dataclass(frozen=True)
class Seen:
    """What the unchanged kernel did at that instruction: how often it ran, how often it mattered, on which processor."""

    cpu: str
    executed: int
    needed: int


def run(lab: Lab) -> Result:
    """Boots the kernel as it is, then each mutant."""
    origin = results.provenance(lab.emulator, None)
    listing = disassembly(lab.board.kernel)
    cpus = (WITH_GLOBAL,) if lab.quick else (WITH_GLOBAL, WITHOUT_GLOBAL)
    lab.meter.total(len(cpus))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        baselines = dict(zip(cpus, pool.map(lambda cpu: _boot(lab, lab.board.kernel, cpu), cpus), strict=True))
    mutants = derive(listing, list(baselines.values()))
    seen = {mutant: observe(mutant, baselines) for mutant in mutants}
    tried = [mutant for mutant in mutants if seen[mutant].needed or seen[mutant].executed and mutant.is_control_write]
    if lab.settings["most"]:
        tried = tried[: lab.settings["most"]]
    lab.meter.total(len(cpus) + len(tried))

    def one(mutant: Mutant) -> Findings:
        with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
            kernel = Path(folder) / "cobnut-kernel"
            kernel.write_bytes(without(lab.board.kernel.read_bytes(), mutant))
            found = _boot(lab, kernel, seen[mutant].cpu, stop_at_first=True)
        lab.meter.advance(note=mutant.name)
        return found

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(tried, pool.map(one, tried), strict=True))
    checks = [*(judge_baseline(cpu, baseline) for cpu, baseline in baselines.items())]
    checks += [judge_mutant(mutant, seen[mutant], found[mutant]) for mutant in tried]
    return Result("sanitize/mutations", None, origin, series_of(mutants, seen, found), checks, [])


def disassembly(kernel: Path) -> list[str]:
    """The kernel's code, a line each."""
    done = subprocess.run(["objdump", "-dC", "-w", str(kernel)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CobnutError(f"objdump cannot read {kernel}")
    return done.stdout.splitlines()


def derive(listing: list[str], baselines: list[Findings]) -> list[Mutant]:
    """Everything that invalidates or takes away, in the order of addresses."""
    stores = {
        int(erasure["instruction"], 16): "clears a directory entry" if erasure["directory_entries"] else "clears global"
        for baseline in baselines
        for erasure in baseline.erasures
    }
    function, start, mutants = "", 0, []
    for line in listing:
        head = FUNCTION.match(line)
        if head:
            start, function = int(head.group(1), 16), re.sub(r"\(.*", "", head.group(2))
            continue
        parts = line.split("\t")
        if len(parts) < 3 or BOOT.search(function):
            continue
        address, length = int(parts[0].strip(" :"), 16), len(parts[1].split())
        where = f"{function}+{address - start:#x}"
        if INVALIDATES.match(line.rstrip()) and not SWITCH.search(function):
            mutants.append(Mutant(where, address, length, " ".join(parts[2].split())))
        elif address in stores and OWNERS.search(function):
            mutants.append(Mutant(where, address, length, stores[address]))
    return mutants


def observe(mutant: Mutant, baselines: dict[str, Findings]) -> Seen:
    """On which processor the instruction matters most."""
    best = Seen(next(iter(baselines)), 0, 0)
    for cpu, baseline in baselines.items():
        for one in baseline.invalidations:
            if int(one["instruction"], 16) == mutant.address and one["needed"] >= best.needed:
                best = Seen(cpu, one["executed"], one["needed"])
        for one in baseline.erasures:
            many = one["directory_entries"] + one["global_bits"]
            if int(one["instruction"], 16) == mutant.address and many > best.needed:
                best = Seen(cpu, many, many)
    return best


def without(image: bytes, mutant: Mutant) -> bytes:
    """The kernel's file with the instruction replaced by nops of the same length."""
    header = ELF_HEADER.unpack_from(image)
    for index in range(header[10]):
        kind, offset, virtual, _, size, *_ = PROGRAM_HEADER.unpack_from(image, header[5] + index * header[9])
        if kind == PT_LOAD and virtual <= mutant.address and mutant.address + mutant.length <= virtual + size:
            at = offset + mutant.address - virtual
            return image[:at] + bytes([NOP]) * mutant.length + image[at + mutant.length :]
    raise CobnutError(f"no bytes of the kernel at {mutant.address:#x}")


def judge_baseline(cpu: str, baseline: Findings) -> Check:
    return judge(
        f"unchanged.{cpu}",
        len(baseline.reports),
        "reports",
        exactly(0),
        "The kernel as it is forgets nothing. " + " ".join(baseline.lines[:1]),
    )


def judge_mutant(mutant: Mutant, seen: Seen, found: Findings) -> Check:
    why = f"Without it ({mutant.text}; it mattered {seen.needed} times of {seen.executed} on {seen.cpu}) something stale is used. "
    return judge(
        f"caught.{mutant.name}", len(found.reports), "reports", above(0), why + " ".join(found.lines[:1])
    )


def series_of(mutants: list[Mutant], seen: dict[Mutant, Seen], found: dict[Mutant, Findings]) -> list[Series]:
    """How often each ran, and how soon its absence was noticed. What never mattered here was not tried, and shows as such."""
    names = [mutant.name for mutant in mutants]
    soon = [found[m].counts["accesses"] / 1e6 if m in found and found[m].reports else None for m in mutants]
    return [
        Series("executed", "times", names, [seen[mutant].executed for mutant in mutants]),
        Series("needed", "times", names, [seen[mutant].needed for mutant in mutants]),
        Series("caught_after", "million accesses", names, soon),
    ]


def plots(result: Result) -> list[Plot]:
    return [
        Plot(
            "bars",
            "How soon a missing invalidation is noticed",
            "removed instruction",
            "million accesses from the start",
            {"caught_after": "accesses"},
            caption="An instruction without a bar was not tried: x2test never executes it, or never has anything stale when it does.",
        )
    ]


def _boot(lab: Lab, kernel: Path, cpu: str, *, stop_at_first: bool = False) -> Findings:
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        out = Path(folder) / "reports.json"
        modules = (Module(lab.board.program("sigma0")), Module(lab.board.program("x2test"), PROGRAM))
        plugin = sanitizing.plugin(kernel, out, stop_at_first=stop_at_first)
        outcome = qemu.run(Boot(kernel, modules, cpu=cpu), timeout=TIMEOUT_SECONDS, plugin=plugin)
        if not stop_at_first:
            lab.meter.advance(note=cpu)
        if outcome.timed_out:
            return Findings([], [], [], {"accesses": 0})
        return sanitizing.read(out)


EXPERIMENT = Experiment(
    name="sanitize/mutations",
    title="Each invalidation removed in turn: the sanitizer notices",
    source="mutation of the built kernel",
    machine="pentium4-1400",
    settings={"most": Setting(0, 4, 0, "try only so many of the mutants; 0: all")},
    run=run,
    plots=plots,
    story=(
        "A kernel that forgets an invalidation runs perfectly on an emulator, and on most processors for most of the time. Here each "
        "invalidation is taken out of the built kernel in turn, the system tests run on what is left, and the sanitizer has to notice. "
        "The unchanged kernel has to pass without a report."
    ),
    cannot_say=(
        "An invalidation that the tests never execute, or never with anything stale cached, is not judged: the rows without a bar.",
        "Stores that only add rights need no invalidation by the processor's manual; removing one after them changes nothing.",
        "The machine model is not used here.",
    ),
)
