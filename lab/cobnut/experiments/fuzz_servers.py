# SPDX-License-Identifier: GPL-2.0-or-later
"""`fuzz/servers`: malformed requests to init and to the servers of some systems, made at random from the declarations
of their interfaces. Nothing is measured: each server must refuse what is not a request, and go on with what it had.
"""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut import build, sheets, systems
from cobnut.boards import ARM, IA32, Board
from cobnut.checks import Check, at_least, exactly
from cobnut.emulators import Boot, Outcome, qemu, qemu_arm
from cobnut.emulators.disk import Disk
from cobnut.emulators.nic import Nic
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.modules import Module
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

PROGRAM, KEEPER = "fuzzservers", "keeper"
# by board, and how the servers of one are called that another one has, too
SYSTEMS: dict[str, dict[str, dict[str, str]]] = {
    "pc": {
        "fuzztest": {},
        "fuzzdevices": {},
        "fuzzcard": {"init": "init beside e1000", "nic": "e1000", "network": "network over e1000"},
    },
    "versatilepb": {"fuzzboard": {"nic": "smc91c111"}},
}
DISK_BYTES = 1 << 20
# as the program names them
SERVERS_OF_PC = (
    "init",
    "init beside e1000",
    "adder",
    "files",
    "clock",
    "display",
    "console",
    "drain",
    "mach's boot",
    "mach",
    "disk",
    "input",
    "nic",
    "network",
    "e1000",
    "network over e1000",
    "store",
)
SERVERS = {
    "pc": SERVERS_OF_PC,
    "versatilepb": ("init", "clock", "display", "console", "input", "smc91c111", "network"),
}
KINDS = ("answered", "refused", "unanswered", "undelivered")
TIMEOUT_SECONDS = 1800  # of processor time
LINE = re.compile(
    rf"^{PROGRAM}: (.+): (\d+) requests, "
    + ", ".join(rf"(\d+) {kind}" for kind in KINDS)
    + r", (\d+) wrong, (\d+) lost\r?$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Tally:
    """What one server made of its requests."""

    requests: int
    kinds: tuple[int, ...]
    wrong: int
    lost: int


@dataclass(frozen=True)
class Run:
    """One boot; `servers` has those that the program came to."""

    seed: int
    servers: dict[str, Tally]
    failure: str | None

    def sum(self, what: str) -> int:
        return sum(getattr(one, what) for one in self.servers.values())


def boot(lab: Lab, seed: int) -> Run:
    """Runs each system once with that seed."""
    servers: dict[str, Tally] = {}
    failures = []
    for name, called in SYSTEMS[lab.board.name].items():
        console, code = boot_system(lab, name, seed)
        servers |= {called.get(server, server): tally for server, tally in read(console).items()}
        if f"{KEEPER}: 0 failed" not in console or code:
            failures.append(f"{name} with seed {seed} ended with {code}: {last_line(console)}")
    return Run(seed, servers, failures[0] if failures else None)


def boot_system(lab: Lab, name: str, seed: int) -> tuple[str, int | None]:
    """What it has said, and its code."""
    arguments = f"seed={seed} requests={lab.settings['requests']}"
    system = systems.load(name).changed(**{PROGRAM: {"arguments": arguments}})
    memory_mb = 64
    chosen = (Module(lab.board.program("sigma0")), *system.modules(lab.board, memory_mb))
    cards = system.cards(lab.board.name)
    with tempfile.NamedTemporaryFile(prefix="cobnut-disk-") as image:
        image.truncate(DISK_BYTES)
        what = Boot(
            lab.board.kernel,
            chosen,
            memory_mb=memory_mb,
            display=system.has_display(lab.board),
            disk=Disk(Path(image.name)),
            nic=Nic(cards[0]) if cards else None,
        )
        outcome = run_repeatable(lab.board, what)
    return outcome.console, outcome.code


def run_repeatable(board: Board, what: Boot) -> Outcome:
    """With the same clock in every run, on the emulator of the board's processor."""
    if board.processor is ARM:
        return qemu_arm.run(what, board.name, timeout=TIMEOUT_SECONDS)
    return qemu.run(what, timeout=TIMEOUT_SECONDS, repeatable=True)


def read(console: str) -> dict[str, Tally]:
    """What the program has printed, by server."""
    found = {}
    for name, *numbers in LINE.findall(console):
        requests, *kinds, wrong, lost = map(int, numbers)
        found[name] = Tally(requests, tuple(kinds), wrong, lost)
    return found


def last_line(console: str) -> str:
    lines = [line.strip() for line in console.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was said"


def run(lab: Lab) -> Result:
    """Boots once for each seed."""
    build.network(lab.board)
    if lab.board.processor is IA32:
        build.store(lab.board)
    first, boots = lab.settings["seed"], lab.settings["boots"]
    runs = runner.each(lab, range(first, first + boots), lambda seed: boot(lab, seed), lambda seed: f"seed {seed}")
    return lab.result(series_of(lab, runs), judge(lab, runs))


def judge(lab: Lab, runs: list[Run]) -> Iterator[Check]:
    """Every server got its requests, answered none of them wrongly, and served rightly in between."""
    wanted = lab.settings["requests"]
    for name in SERVERS[lab.board.name]:
        made = sum(one.servers[name].requests for one in runs if name in one.servers)
        yield SHEET.judge(f"requests.{name.replace(chr(39), '').replace(' ', '_')}", made, at_least(wanted * len(runs)))
    failures = [one.failure for one in runs if one.failure]
    yield SHEET.judge("failed", len(failures), exactly(0), failures[0] if failures else None)
    yield SHEET.judge("wrong", sum(one.sum("wrong") for one in runs), exactly(0))
    yield SHEET.judge("lost", sum(one.sum("lost") for one in runs), exactly(0))


def series_of(lab: Lab, runs: list[Run]) -> Iterator[Series]:
    """What the requests came to, by server."""
    servers = SERVERS[lab.board.name]
    for place, kind in enumerate(KINDS):
        counts = [sum(one.servers[name].kinds[place] for one in runs if name in one.servers) for name in servers]
        yield Series(kind, "requests", list(servers), counts)


EXPERIMENT = Experiment(
    name="fuzz/servers",
    sheet=SHEET,
    kind=Kind.PROOF,
    boards=("pc", "versatilepb"),
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "boots": Setting(8, 1, range(1, 1001), "boots"),
        "requests": Setting(20_000, 1_000, range(100, 10_000_001), "to each server in each boot"),
    },
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
)
