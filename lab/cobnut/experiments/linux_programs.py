# SPDX-License-Identifier: GPL-2.0-or-later
"""One program for Linux under several kernels: Debian's own natively, and Linux as a server on this kernel.

The program, Linux's version and its options are the same everywhere; so is the emulated processor. Loops in the program
are measured where its file says that they begin and end (docs/plugin.md): it holds no marks.
"""

import shutil
import statistics
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cobnut import linux_guest, paths
from cobnut import measured as written
from cobnut.checks import Check, exactly, judge
from cobnut.emulators import Boot, qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Lab, Setting, runner
from cobnut.linux import guest, images, native, os_layer, server, uml, verdict
from cobnut.linux.guest import Wish
from cobnut.results import LedgerRow, Result, Series

TIMEOUT_SECONDS = 900
NATIVE, LARGE, SMALL, SERVERS, ALL, UML = "native", "large", "small", "servers", "all", "uml"
# the server has no mitigations of newer processors' faults, so its peer runs without them, too
DEBIANS = Wish(kernel="native", append="mitigations=off")
PEERS = {
    NATIVE: DEBIANS,
    LARGE: Wish(small="none"),
    SMALL: Wish(small="server"),
    SERVERS: Wish(small="all"),  # programs, too, but for those that ask for more than a small space has
    ALL: Wish(small="all"),
    UML: DEBIANS,  # and User-Mode Linux on it
}
PROGRAM, SERVER, OS_LAYER = "program", "server", "os"  # parts of the code, as the plugin names them
PROCESSES = paths.ROOT / "lab" / "guests" / "linux-server.toml"
BEGIN, END = "the next one", "that was all"  # of turns
WARMUP = 1  # turns before the measured one, after which all files are in memory
CACHES = ("cache_refill", "write_back")  # of the ledger
# of boots that are to differ in where pages lie: a file of so many more bytes in each, before all others
PADDING, PADDING_BYTES = "0", 11 * 4096
BOOTS = Setting(3, 1, range(1, 101), "of each kernel, in each of which pages lie elsewhere")
NO_SYMBOL = "no symbol "  # without symbols of ours all user code counts as such, which is right for Debian's kernel


@dataclass(frozen=True)
class Loop:
    """A loop of a program, between two of its symbols."""

    name: str
    first: str
    behind: str

    @property
    def where(self) -> str:
        """As the plugin takes it (docs/plugin.md)."""
        return f"{PROGRAM}/{self.first}..{self.behind}"


@dataclass(frozen=True)
class Printed(Loop):
    """What happens between two prints of the text `first`; the text `behind` ends it."""

    @property
    def where(self) -> str:
        return f"console={self.first}..{self.behind}"


@dataclass(frozen=True)
class Work:
    """A program of lab/guests if there is one, what the guest's shell does, and its loops, of which some turns are not
    measured. `files` are in the guest's /files, where the command begins, and `others`, programs of which the plugin is
    not told; the rest of its files is the image. An instruction takes 2^`instruction_log2_ns` ns of virtual time. With
    `processes` the plugin tells processes apart, of Linux as a server. `commands` are what the guest's shell does under
    the kernels that have another one, and `seconds` of the emulator's processor time it may take.
    """

    program: str | None
    command: str
    loops: tuple[Loop, ...]
    warmup: int
    boot_options: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    image: str = images.DEFAULT
    instruction_log2_ns: int = 0
    processes: bool = False
    others: tuple[Path, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    seconds: int = TIMEOUT_SECONDS


def in_turns(name: str, turn: str, first: str = "") -> tuple[str, tuple[Printed, ...]]:
    """What a shell is told for two turns, of which the first is for getting files into memory, and the loop `name`.
    Where a turn takes long, `first` does that in its place.
    """
    turns = f"for turn in 1 2; do echo {BEGIN}; {turn}; done"
    if first:
        turns = f"echo {BEGIN}; {first}; echo {BEGIN}; {turn}"
    return f"{turns}; echo {END}", (Printed(name, BEGIN, END),)


@dataclass(frozen=True)
class Turns:
    """What was measured of a loop under one kernel, as the plugin writes it."""

    peer: str
    loop: str
    region: written.Region
    parts: Mapping[str, Mapping[str, Sequence[float]]]  # instructions and cycles of each turn in parts of the code
    switches: Sequence[written.Switch]

    @property
    def name(self) -> str:
        return f"{self.loop}.{self.peer}"

    @property
    def iterations(self) -> int:
        return self.region["iterations"]

    def count(self, *counters: str) -> float:
        """The median turn's. What a machine does not have is not counted on it."""
        rows = [self.region["per_iteration"].get(counter, [0]) for counter in counters]
        return sum(float(statistics.median(row)) for row in rows)

    def own(self, part: str) -> float:
        """Modelled cycles of the median turn's instructions in a part of the code, without what they miss."""
        return self._part(part, "cycles")

    def booked(self, *categories: str) -> float:
        """Mean modelled cycles of a turn in these categories of the ledger."""
        return sum(self.region["ledger"][category] for category in categories) / self.iterations

    @property
    def cycles(self) -> float:
        return self.count("cycles")

    @property
    def without_caches(self) -> float:
        """The mean turn's without what caches refill and write back, which depends on where pages lie in physical
        memory.
        """
        return statistics.mean(self.region["per_iteration"]["cycles"]) - self.booked(*CACHES)

    def _part(self, name: str, what: str = "instructions") -> float:
        return float(statistics.median(self.parts[name][what])) if name in self.parts else 0

    @property
    def shares(self) -> dict[str, float]:
        """How the instructions of the median turn are divided among the parts of the code."""
        if self.peer == UML:  # the kernel is its host's
            program = self._part(PROGRAM)
            kernel, user = self.count("instructions_kernel"), self.count("instructions_user")
            return {"kernel": kernel, "os": 0, "linux": user - program, "program": program}
        if self.peer == NATIVE:
            return {
                "kernel": 0,
                "os": 0,
                "linux": self.count("instructions_kernel"),
                "program": self.count("instructions_user"),
            }
        return {
            "kernel": self.count("instructions_kernel", "instructions_stub", "instructions_trampoline"),
            "os": self._part(OS_LAYER),
            "linux": self._part(SERVER) - self._part(OS_LAYER),
            "program": self._part(PROGRAM),
        }

    def row(self) -> LedgerRow:
        return LedgerRow.of(self.name, self.region, self.switches)


@dataclass(frozen=True)
class Peer:
    """All that was measured under one kernel, what was said on the console, and what the plugin did not understand.
    `measured` is the whole of what it wrote.
    """

    name: str
    loops: dict[str, Turns]
    console: str
    doubts: tuple[str, ...]
    measured: written.Measured = field(default_factory=lambda: written.NOTHING)


SHARES = ("kernel", "os", "linux", "program")
COUNTED = (
    ("cycles", "modelled cycles"),
    ("itlb_misses", "misses"),
    ("dtlb_misses", "misses"),
    ("trace_misses", "misses"),
    ("cr3_writes", "writes"),
    ("segment_loads", "loads"),
    ("limit_faults", "faults"),
)


def measure(lab: Lab, work: Work, peers: Sequence[str], boots: int = 1) -> dict[str, Peer]:
    """Boots each of the peers with the program, so often: in each boot pages lie elsewhere in physical memory, so that
    other lines collide in the caches.
    """
    wanted = [(name, number) for name in peers for number in range(boots)]
    found = runner.mapped(lab, wanted, lambda one: _measured(lab, work, *one), note=lambda one: one[0])
    return {name: joined([found[name, number] for number in range(boots)]) for name in peers}


def joined(boots: Sequence[Peer]) -> Peer:
    """A kernel's boots as one, with the turns of all."""
    first = boots[0]
    if len(boots) == 1:
        return first
    loops = {name: _turns_of_all([one.loops[name] for one in boots]) for name in first.loops}
    doubts = tuple(doubt for one in boots for doubt in one.doubts)
    return Peer(first.name, loops, "".join(one.console for one in boots), doubts, first.measured)


def _turns_of_all(boots: Sequence[Turns]) -> Turns:
    regions, switches = [], list[written.Switch]()
    for one in boots:
        regions.append(written.shifted(one.region, len(switches)))
        switches += one.switches
    parts = {
        part: {what: [value for one in boots for value in one.parts[part][what]] for what in counted}
        for part, counted in boots[0].parts.items()
    }
    return Turns(boots[0].peer, boots[0].loop, written.joined(regions), parts, switches)


def _measured(lab: Lab, work: Work, name: str, boot_number: int) -> Peer:
    with tempfile.TemporaryDirectory(prefix="cobnut-") as given:
        folder = Path(given)
        files = folder / "files"
        files.mkdir()
        _fill(files, work)
        if boot_number:
            (files / PADDING).write_bytes(bytes(boot_number * PADDING_BYTES))
        wish = PEERS[name]
        options = f"{wish.append} {work.boot_options}".strip()
        command, image = work.commands.get(name, work.command), work.image
        if name == UML:
            command, image = uml.around(command, files), uml.IMAGES[image]
        boot = guest.prepare(replace(wish, image=image, run=command, files=files, append=options), folder)
        out = folder / "measured.json"
        plugin = qemu.Plugin(paths.PLUGIN, tuple(_arguments(lab, work, name, boot, files, out)))
        boot = replace(boot, cpu=cpu_for(lab), instruction_log2_ns=work.instruction_log2_ns)
        outcome = qemu.run(boot, timeout=work.seconds, plugin=plugin)
        if outcome.timed_out:
            raise CobnutError(f"{name}: '{work.command}' had not ended after {work.seconds} s")
        if status := verdict.status(outcome.console, outcome.code):
            raise CobnutError(f"{name}: '{work.command}' ended with status {status}")
        found = written.read(out.read_bytes())
    parts = {one["case"]: one["per_iteration"] for one in found.get("ranges", [])}
    loops = {}
    for number, loop in enumerate(work.loops):
        region = next((one for one in found["regions"] if one["case"] == number and one["iterations"]), None)
        if region is None:
            raise CobnutError(f"{name}: the loop {loop.name} of '{work.command}' was not seen")
        loops[loop.name] = Turns(name, loop.name, region, parts.get(number, {}), found["switches"])
    doubts = tuple(doubt for doubt in found["warnings"] if not doubt.startswith(NO_SYMBOL))
    return Peer(name, loops, outcome.console, doubts, found)


def _fill(folder: Path, work: Work) -> None:
    """What the guest has in /files."""
    if work.program:
        shutil.copy2(linux_guest.program(work.program), folder / work.program)
    for path in work.others:
        shutil.copy2(path, folder / path.name)
    write_files(folder, work.files)


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes them there, by their names, which may have folders."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _arguments(lab: Lab, work: Work, name: str, boot: Boot, files: Path, out: Path) -> list[tuple[str, str]]:
    """The plugin's arguments."""
    words = [("machine", str(lab.machine.path)), ("out", str(out)), ("from", "begin")]
    words += [("set", change) for change in lab.changes]
    if work.program:
        words.append(("program", f"{PROGRAM}:{files / work.program}"))
    words += [("region", f"{number}:{loop.where}@{work.warmup}") for number, loop in enumerate(work.loops)]
    if PEERS[name] is not DEBIANS:
        layer = os_layer.addresses(server.LINK)
        words.append(("kernel", str(boot.kernel)))
        words.append(("program", f"{SERVER}:{server.LINK}"))
        if work.processes:
            words.append(("processes", str(PROCESSES)))
        words.append(("range", f"{OS_LAYER}:{SERVER}/{layer.start:#x}..{layer.stop:#x}"))
    return words


def versions() -> str:
    """Of Linux, natively and as a server."""
    return f"Linux {native.ensure().version} natively, {server.ensure().version} as a server"


def cpu_for(lab: Lab) -> str:
    """The emulator's processor: one that Debian's kernel takes, but on machines from before sysenter
    without that and without the global pages that came with it.
    """
    is_old = "entry.sysenter_sysexit_cycles" not in lab.machine.parameters
    return f"{linux_guest.CPU},-sep,-pge" if is_old else linux_guest.CPU


def judge_peer(peer: Peer, turns: int) -> list[Check]:
    """What holds whatever the figures are."""
    found = [loop.iterations for loop in peer.loops.values()]
    return [
        judge(
            f"{peer.name}.turns",
            min(found, key=lambda count: -abs(count - turns)),
            "turns",
            exactly(turns),
            "Each loop was measured as often as the program makes it.",
        ),
        judge(
            f"{peer.name}.doubts",
            len(peer.doubts),
            "warnings",
            exactly(0),
            f"What the plugin did not understand. {' '.join(peer.doubts)}".strip(),
        ),
    ]


def judge_peers(peers: Mapping[str, Peer], turns: int) -> list[Check]:
    return [check for peer in peers.values() for check in judge_peer(peer, turns)]


def result(lab: Lab, peers: Mapping[str, Peer], series: Iterable[Series], checks: Iterable[Check]) -> Result:
    """What the peers have shown, with the ledgers of their loops and the versions of Linux."""
    return lab.result(series, checks, ledger_of(peers), emulator=f"{lab.emulator}, {versions()}")


def series_of(peers: Mapping[str, Peer]) -> list[Series]:
    """A turn's counts under each kernel, a row for each loop and count."""
    names = list(peers)
    rows = []
    for loop in next(iter(peers.values())).loops:
        turns = [peers[name].loops[loop] for name in names]
        for share in SHARES:
            rows.append(Series(f"{loop}.{share}", "instructions", names, [one.shares[share] for one in turns]))
        rows += [
            Series(f"{loop}.{counter}", unit, names, [one.count(counter) for one in turns]) for counter, unit in COUNTED
        ]
    return rows


def ledger_of(peers: Mapping[str, Peer]) -> list[LedgerRow]:
    return [turns.row() for peer in peers.values() for turns in peer.loops.values()]
