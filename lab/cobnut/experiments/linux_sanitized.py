# SPDX-License-Identifier: GPL-2.0-or-later
"""`sanitize/linux`: Debian's Linux from its start to a shell and off again under the sanitizer: does it raise false
alarms?

Linux invalidates late on purpose. What it took away and when it was invalidated is listed by the function that did it,
and each such function has to belong to a known way of being late. That the silence means something is shown by taking
one of Linux's own invalidations at a time to be without effect.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cobnut import linux_guest, sanitizing, sheets
from cobnut.checks import Check, above, exactly
from cobnut.emulators import qemu
from cobnut.errors import CobnutError
from cobnut.experiments import Experiment, Kind, Lab, Setting, ignored, runner
from cobnut.findings import Findings, Invalidation, read
from cobnut.linux_guest import LinuxGuest
from cobnut.results import Result, Series

SHEET = sheets.beside(__file__)

TIMEOUT_SECONDS = 900
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


# ways in which Linux invalidates later than it stores, by the functions that are known to do so; why is in the sheet
LAZINESS = {
    "vmalloc": re.compile(r"v(un)?map_|purge_"),
    "unmap": re.compile(r"unmap_page_range|zap_|free_pgd_range|free_pgtables|move_page_tables"),
    "fork": re.compile(r"copy_page_range|copy_p[tmud]"),
    "protect": re.compile(r"change_p(rotection|te_range|md_range)"),
    "rights": re.compile(r"set_access_flags"),
    "kernel": re.compile(r"change_page_attr|set_pmd_pte|kernel_physical_mapping_init|split_large_page"),
    "page": re.compile(
        r"ptep_clear_flush|set_pte_vaddr|early_set_fixmap|kunmap|kmap|text_poke|try_to_unmap|page_mkclean"
    ),
}


def run(lab: Lab) -> Result:
    """Boots Linux as it is, then with one of its invalidations at a time ignored."""
    guest = linux_guest.ensure()
    lab.meter.total(1)
    stock, reason = _boot(lab, guest)
    lab.meter.advance(note="stock")
    tried = useful = ignored.candidates(stock)
    if lab.settings["most"]:
        tried = tried[: lab.settings["most"]]

    def one(invalidation: Invalidation) -> Findings:
        found, _ = _boot(lab, guest, ignore=ignored.argument(invalidation))
        return found

    without = runner.each(lab, tried, one, lambda invalidation: invalidation.where)
    checks = [*judge_stock(stock, reason), ignored.judge_candidates(SHEET, useful, LEAST_TRIED)]
    for invalidation, found in zip(tried, without, strict=True):
        checks.append(ignored.judge_noticed(SHEET, invalidation, found.lines))
    return lab.result(series_of(stock), checks, emulator=f"{lab.emulator}, Linux {guest.version}")


def laziness_of(symbol: str | None) -> str | None:
    """The known way of being late that the function belongs to."""
    function = (symbol or "").partition("+")[0]
    return next((way for way, functions in LAZINESS.items() if functions.search(function)), None)


def judge_stock(stock: Findings, reason: str | None) -> Iterator[Check]:
    """The run as it is: it came to its end, gave no report, and invalidated late only where that is known."""
    unknown = [loss.where for loss in stock.losses if laziness_of(loss.symbol) is None]
    told, where = reason or SHEET.texts["reached"], f": {', '.join(unknown)}" if unknown else ""
    yield SHEET.judge("shell.reached", 0 if reason else 1, exactly(1), told=told)
    yield SHEET.judge("accesses", stock.counts["accesses"], above(LEAST_ACCESSES))
    yield SHEET.judge("reports", len(stock.reports), exactly(0), told=" ".join(stock.lines[:3]))
    yield SHEET.judge("late.unexplained", len(unknown), exactly(0), where=where)


def series_of(stock: Findings) -> list[Series]:
    """Who took translations away, for how long they could have been used, and how often each invalidation mattered."""
    late = sorted(stock.losses, key=lambda loss: -loss.longest)
    names = [loss.where for loss in late]
    ways = [laziness_of(loss.symbol) for loss in late]
    labels = [f"{way or '?'}: {name}" for way, name in zip(ways, names, strict=True)]
    return [
        Series("late.longest", "million accesses", labels, [loss.longest / 1e6 for loss in late]),
        Series("late.losses", "translations", labels, [loss.losses for loss in late]),
        *ignored.series_of(stock),
    ]


def _boot(lab: Lab, guest: LinuxGuest, ignore: str | None = None) -> tuple[Findings, str | None]:
    """One run under the sanitizer, until the first report if an invalidation is ignored; and why it did not come to its
    end.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        out = folder / "reports.json"
        what = linux_guest.boot(guest, folder, COMMANDS.format(rounds=lab.settings["rounds"]), quick=lab.quick)
        plugin = sanitizing.plugin_for([("symbols", str(guest.symbols))], out, ignore=ignore)
        outcome = qemu.run(what, timeout=TIMEOUT_SECONDS, plugin=plugin)
        if outcome.timed_out:
            raise CobnutError(f"Linux under the sanitizer: no end after {TIMEOUT_SECONDS} s")
        return read(out), linux_guest.failure(outcome)


EXPERIMENT = Experiment(
    name="sanitize/linux",
    sheet=SHEET,
    kind=Kind.PROOF,
    settings={
        "rounds": Setting(20, 2, range(1, 10_001), "rounds of mapping, unmapping and sharing memory"),
        "most": Setting(0, 1, range(100), "ignore only so many of Linux's invalidations; 0: each that matters"),
    },
    run=run,
    plots=SHEET.all_plots,
)
