# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/linux`: Debian's Linux from its start to a shell and off again under the sanitizer: does it raise false
alarms?

Linux invalidates late on purpose. What it took away and when it was invalidated is listed by the function that did it,
and each such function has to belong to a known way of being late. That the silence means something is shown by taking
one of Linux's own invalidations at a time to be without effect.
"""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cobnut import linux_guest, sanitizing
from cobnut.checks import Check, above, at_least, exactly, judge, named
from cobnut.emulators import qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.findings import Findings, Invalidation, read
from cobnut.linux_guest import LinuxGuest
from cobnut.plots import Bars, Plot
from cobnut.results import Result, Series

TIMEOUT_SECONDS = 900
IGNORABLE = ("invlpg", "cr3")  # what the plugin's argument ignore= knows
LEAST_ACCESSES = 1_000_000_000  # fewer were not a whole boot
LEAST_TRIED = 2  # the kernel has one function that invalidates a page, and one that invalidates all

COMMANDS = """uname -a
memory {rounds}
yes | head -c 100000 | sort | uniq -c
dd if=/dev/zero of=/tmp/file bs=4k count=64
cp /tmp/file /tmp/copy
cmp /tmp/file /tmp/copy && rm /tmp/file /tmp/copy
for each in 1 2 3 4 5 6 7 8; do (ls -l / | tail -1) > /dev/null; done
pipe {rounds} 1
pipe {rounds} 1 int"""


@dataclass(frozen=True)
class Laziness:
    """A way in which Linux invalidates later than it stores, and the functions that are known to do so."""

    name: str
    functions: re.Pattern[str]
    why: str


LAZINESS = (
    Laziness(
        "vmalloc",
        re.compile(r"v(un)?map_|purge_"),
        "areas of the kernel's vmalloc space are unmapped at once and invalidated together, much later; nobody uses an"
        " address in between",
    ),
    Laziness(
        "unmap",
        re.compile(r"unmap_page_range|zap_|free_pgd_range|free_pgtables|move_page_tables"),
        "a range's entries are cleared one by one, invalidated together, and only then are its frames given back",
    ),
    Laziness(
        "fork",
        re.compile(r"copy_page_range|copy_p[tmud]"),
        "the parent's writable pages become read-only one by one and are invalidated together before fork returns",
    ),
    Laziness(
        "protect",
        re.compile(r"change_p(rotection|te_range|md_range)"),
        "an entry is taken out, changed and put back; where no right was lost nothing is invalidated",
    ),
    Laziness(
        "rights",
        re.compile(r"set_access_flags"),
        "rights were added; who has cached the older ones faults once more, forgets them and goes on",
    ),
    Laziness(
        "kernel",
        re.compile(r"change_page_attr|set_pmd_pte|kernel_physical_mapping_init|split_large_page"),
        "the kernel's own mapping is split or write-protected, then invalidated as a whole",
    ),
    Laziness(
        "page",
        re.compile(r"ptep_clear_flush|set_pte_vaddr|early_set_fixmap|kunmap|kmap|text_poke|try_to_unmap|page_mkclean"),
        "one entry, invalidated behind the store or by leaving the temporary address space that it is in",
    ),
)


def run(lab: Lab) -> Result:
    """Boots Linux as it is, then with one of its invalidations at a time ignored."""
    guest = linux_guest.ensure()
    lab.meter.total(1)
    stock, reason = _boot(lab, guest)
    lab.meter.advance(note="stock")
    tried = useful = candidates(stock)
    if lab.settings["most"]:
        tried = tried[: lab.settings["most"]]

    def one(invalidation: Invalidation) -> Findings:
        found, _ = _boot(lab, guest, ignore=f"{invalidation.instruction:#010x}")
        return found

    ignored = runner.each(lab, tried, one, lambda invalidation: invalidation.where)
    checks = [*judge_stock(stock, reason), judge_candidates(useful), *map(judge_ignored, tried, ignored)]
    return lab.result(series_of(stock), checks, emulator=f"{lab.emulator}, Linux {guest.version}")


def candidates(stock: Findings) -> list[Invalidation]:
    """Linux's invalidations that took something stale away, the busiest first."""
    useful = [one for one in stock.invalidations if one.needed and one.by in IGNORABLE]
    return sorted(useful, key=lambda one: -one.needed)


def laziness_of(symbol: str | None) -> Laziness | None:
    """The known way of being late that the function belongs to."""
    function = (symbol or "").partition("+")[0]
    return next((one for one in LAZINESS if one.functions.search(function)), None)


def judge_stock(stock: Findings, reason: str | None) -> list[Check]:
    """The run as it is: it came to its end, gave no report, and invalidated late only where that is known."""
    unknown = [loss for loss in stock.losses if laziness_of(loss.symbol) is None]
    where = ", ".join(loss.where for loss in unknown)
    return [
        judge(
            "shell.reached",
            0 if reason else 1,
            "runs",
            exactly(1),
            reason or "Linux booted, its shell ran every command, and the machine was switched off.",
        ),
        judge(
            "accesses",
            stock.counts["accesses"],
            "accesses",
            above(LEAST_ACCESSES),
            "Each was held against what a processor may have cached.",
        ),
        judge(
            "reports",
            len(stock.reports),
            "reports",
            exactly(0),
            "Linux is taken to be right, so a report is a mistake of the sanitizer until it is explained. "
            + " ".join(stock.lines[:3]),
        ),
        judge(
            "late.unexplained",
            len(unknown),
            "functions",
            exactly(0),
            "Functions that take translations away and belong to no known way of doing"
            f" so{': ' + where if where else ''}.",
        ),
    ]


def judge_candidates(useful: list[Invalidation]) -> Check:
    """Without invalidations that matter none could be ignored, and nothing would be shown by that."""
    names = ", ".join(one.where for one in useful)
    why = f"Invalidations that took something stale away and can be ignored: {names or 'none'}."
    return judge("candidates", len(useful), "invalidations", at_least(LEAST_TRIED), why)


def judge_ignored(invalidation: Invalidation, found: Findings) -> Check:
    why = (
        f"Taken to be without effect (it is {invalidation.by}, needed {invalidation.needed:,} times), "
        "it leaves something stale that Linux goes on to use. "
    )
    return judge(
        f"noticed.{invalidation.symbol}", len(found.reports), "reports", above(0), why + " ".join(found.lines[:1])
    )


def series_of(stock: Findings) -> list[Series]:
    """Who took translations away, for how long they could have been used, and how often each invalidation mattered."""
    late = sorted(stock.losses, key=lambda loss: -loss.longest)
    names = [loss.where for loss in late]
    ways = [laziness_of(loss.symbol) for loss in late]
    labels = [f"{way.name if way else '?'}: {name}" for way, name in zip(ways, names, strict=True)]
    needed = [one for one in stock.invalidations if one.needed]
    places = [one.where for one in needed]
    return [
        Series("late.longest", "million accesses", labels, [loss.longest / 1e6 for loss in late]),
        Series("late.losses", "translations", labels, [loss.losses for loss in late]),
        Series("executed", "times", places, [one.executed for one in needed]),
        Series("needed", "times", places, [one.needed for one in needed]),
    ]


def plots(result: Result) -> list[Plot]:
    ways = " ".join(f"{way.name}: {way.why}." for way in LAZINESS)
    return [
        Bars(
            "For how long a translation outlived its entry",
            "the store that took the entry away",
            "million accesses",
            {"late.longest": "longest"},
            caption=f"From the store to the invalidation. Nobody used such a translation. {ways}",
            wide=True,
        ),
        Bars("Linux's invalidations", "instruction", "times", {"needed": "took something stale away"}),
    ]


def _boot(lab: Lab, guest: LinuxGuest, ignore: str | None = None) -> tuple[Findings, str | None]:
    """One run under the sanitizer, until the first report if an invalidation is ignored; and why it did not come to its
    end.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        out = folder / "reports.json"
        what = linux_guest.boot(guest, folder, COMMANDS.format(rounds=lab.settings["rounds"]))
        plugin = sanitizing.foreign_plugin(out, symbols=guest.symbols, ignore=ignore)
        outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=plugin)
        if outcome.timed_out:
            raise CobnutError(f"Linux under the sanitizer: no end after {TIMEOUT_SECONDS} s")
        return read(out), linux_guest.failure(outcome)


EXPERIMENT = Experiment(
    name="sanitize/linux",
    title="Linux under the sanitizer: no false alarm",
    source="Debian's kernel for 32-bit PCs, unchanged",
    kind=Kind.PROOF,
    settings={
        "rounds": Setting(20, 2, range(1, 10_001), "rounds of mapping, unmapping and sharing memory"),
        "most": Setting(0, 1, range(100), "ignore only so many of Linux's invalidations; 0: each that matters"),
    },
    run=run,
    plots=plots,
    checks=(named(("shell.reached", "accesses", "reports", "late.unexplained", "candidates")), "noticed.FUNCTION"),
    story=(
        "A sanitizer that cries wolf is of no use. Linux has run on real processors for decades and is taken to be"
        " right. Here Debian's kernel boots to a shell, runs programs that map, unmap, protect, share and copy memory,"
        " and is switched off; nothing may be reported. Then one of its own invalidations at a time is taken to be"
        " without effect, which has to be noticed."
    ),
    cannot_say=(
        (
            "One processor, 32-bit page tables without PAE: Debian's flavour 686. What Linux does between processors is"
            " not looked at."
        ),
        "Code that this run never reaches is not judged.",
        "The machine model is not used here.",
    ),
)
