# SPDX-License-Identifier: GPL-2.0-or-later
"""Booting under the sanitizer: the plugin's arguments, and its reports in words."""

from collections.abc import Iterable
from pathlib import Path

from cobnut import paths
from cobnut.emulators.qemu import Plugin
from cobnut.findings import Findings

ELF_MAGIC = b"\x7fELF"


def plugin(
    kernel: Path,
    out: Path,
    *,
    stop_at_first: bool = False,
    stop_after: int | None = None,
    watch: Iterable[tuple[int, int]] = (),
) -> Plugin:
    """The plugin as a sanitizer, writing to `out`. Names come from a kernel that is an ELF file.

    The run can end at the first report, and after `stop_after` accesses. `watch` (ARM only): addresses and sizes in
    bytes to which stores are noted.
    """
    names = (("kernel", str(kernel.resolve())),) if kernel.read_bytes().startswith(ELF_MAGIC) else ()
    stops = [("stop", "first")] if stop_at_first else []
    stops += [("stop", str(stop_after))] if stop_after is not None else []
    watched = (("watch", f"{address:x}:{size:x}") for address, size in watch)
    return Plugin(paths.PLUGIN, (("mode", "sanitize"), *names, ("out", str(out)), *stops, *watched))


def plugin_for(
    names: Iterable[tuple[str, str]], out: Path, *, ignore: str | None = None, to_the_end: bool = False
) -> Plugin:
    """The same for any kernel, whose code has these `names` (`guests.Guest`).

    The invalidation at the address `ignore` is taken to have no effect; the run then ends at the first report, unless
    it is to go on `to_the_end`.
    """
    ignored = (("ignore", ignore),) if ignore else ()
    stop = (("stop", "first"),) if ignore and not to_the_end else ()
    return Plugin(paths.PLUGIN, (("mode", "sanitize"), *names, ("out", str(out)), *ignored, *stop))


def say(findings: Findings) -> str:
    """The reports as lines, and a last one that counts them."""
    accesses, many = findings.counts["accesses"], len(findings.reports)
    verdict = f"sanitizer: {many} report{'' if many == 1 else 's'} in {accesses:,} accesses"
    return "\n".join([*(f"sanitizer: {line}" for line in findings.lines), verdict])
