# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/server`: Linux as a server under the sanitizer: its start, a storm of forks, memory that is mapped and
taken away, and pipes. Does the microkernel forget an invalidation?
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cobnut import linux_guest, sanitizing, sheets
from cobnut.checks import Check, above, exactly
from cobnut.emulators import Boot, qemu
from cobnut.experiments import Experiment, Kind, Lab, Setting, ignored, runner
from cobnut.findings import Findings, Invalidation, read
from cobnut.linux import guest, server, verdict
from cobnut.linux.guest import Wish
from cobnut.results import Result

SHEET = sheets.beside(__file__)

TIMEOUT_SECONDS = 1800
PLACEMENTS = {"large": "none", "small": "server", "all": "all"}
# Linux has unmapped its pages before a space gives up its slot: what is left there has the same frame in each space
OF_SAME_FRAMES = ("small_space::release",)
LEAST_ACCESSES = 300_000_000  # fewer were not a boot
LEAST_TRIED = 1
PROGRAMS = ("memory", "rounds")
SAID = "all of it was done"

# a chain of processes that wait for each other, many at once, and programs that are started one after the other
COMMANDS = """set -e
nest() {{ if [ $1 -gt 0 ]; then (nest $(($1 - 1))); fi; }}
turn=0
while [ $turn -lt {rounds} ]; do
    nest 8
    for each in 1 2 3 4 5 6 7 8; do (ls -l / | tail -1) > /dev/null & done
    wait
    turn=$((turn + 1))
done
./memory {rounds} plain
./rounds 500 {rounds} nops 4096 jumps 64 reads 64
yes | head -c 100000 | sort | uniq -c
echo {said}"""


@dataclass(frozen=True)
class Run:
    """One boot: how it failed, if it did, and what was found."""

    placement: str
    failure: str | None
    findings: Findings

    @property
    def reports(self) -> list[str]:
        """Those about something stale: programs reach to both sides of their segment for thread-local storage, and the
        microkernel turns the segment (docs/lab.md).
        """
        return self.findings.of_the_kernel


def run(lab: Lab) -> Result:
    """Boots each placement as it is, then one of them with one of the microkernel's invalidations at a time ignored."""
    server.ensure()

    def placed(placement: str) -> Run:
        return _boot(lab, placement)

    runs = runner.each(lab, PLACEMENTS, placed)
    useful = [(one.placement, seen) for one in runs for seen in candidates(one.findings)]
    tried = list({seen.instruction: (placement, seen) for placement, seen in reversed(useful)}.values())
    if lab.settings["most"]:
        tried = sorted(tried, key=lambda pair: -pair[1].needed)[: lab.settings["most"]]

    def without_it(pair: tuple[str, Invalidation]) -> Run:
        placement, seen = pair
        return _boot(lab, placement, ignore=ignored.argument(seen))

    found = runner.each(lab, tried, without_it, lambda pair: pair[1].where)
    checks = [check for one in runs for check in judge_run(one)]
    checks.append(ignored.judge_candidates(SHEET, [seen for _, seen in tried], LEAST_TRIED))
    for (placement, seen), without in zip(tried, found, strict=True):
        checks.append(ignored.judge_noticed(SHEET, seen, without.reports, placement=placement))
    series = [one for run in runs for one in ignored.series_of(run.findings, f"{run.placement}.")]
    return lab.result(series, checks, emulator=f"{lab.emulator}, Linux {server.ensure().version}")


def candidates(found: Findings) -> list[Invalidation]:
    """Invalidations that took something stale away that could be used, the busiest first."""
    return [one for one in ignored.candidates(found) if not same_frames(one)]


def same_frames(one: Invalidation) -> bool:
    """Whether who comes after has the same translations again."""
    return (one.symbol or "").partition("+")[0] in OF_SAME_FRAMES


def judge_run(one: Run) -> Iterator[Check]:
    """It came to its end, and nothing stale was used."""
    told = one.failure or SHEET.texts["reached"]
    yield SHEET.judge(f"{one.placement}.reached", 0 if one.failure else 1, exactly(1), told=told)
    yield SHEET.judge(f"{one.placement}.accesses", one.findings.counts["accesses"], above(LEAST_ACCESSES))
    told = " ".join(one.reports[:3])
    yield SHEET.judge(f"{one.placement}.reports", len(one.reports), exactly(0), told=told)


def _boot(lab: Lab, placement: str, ignore: str | None = None) -> Run:
    """One run under the sanitizer, with an invalidation ignored or not."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as given:
        folder = Path(given)
        boot = _prepared(lab, placement, folder)
        out = folder / "reports.json"
        plugin = sanitizing.plugin_for([("kernel", str(boot.kernel))], out, ignore=ignore, to_the_end=True)
        outcome = qemu.run(boot, timeout=TIMEOUT_SECONDS, plugin=plugin)
        failure = "it had not ended in time" if outcome.timed_out else None
        if not failure and (status := verdict.status(outcome.console, outcome.code)):
            failure = f"the shell ended with status {status}"
        if not failure and SAID not in outcome.console:
            failure = "the shell did not come to its end"
        return Run(placement, failure, read(out))


def _prepared(lab: Lab, placement: str, folder: Path) -> Boot:
    files = folder / "files"
    files.mkdir()
    for name in PROGRAMS:
        shutil.copy2(linux_guest.program(name), files / name)
    commands = COMMANDS.format(rounds=lab.settings["rounds"], said=SAID)
    return guest.prepare(Wish(small=PLACEMENTS[placement], run=commands, files=files), folder)


EXPERIMENT = Experiment(
    name="sanitize/server",
    sheet=SHEET,
    kind=Kind.PROOF,
    settings={
        "rounds": Setting(20, 2, range(1, 10_001), "rounds of forks, of mapping memory, and through each pipe"),
        "most": Setting(0, 1, range(100), "ignore only so many of the invalidations; 0: each that matters"),
    },
    run=run,
    plots=SHEET.all_plots,
    long_proof=True,
)
