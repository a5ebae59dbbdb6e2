# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients of an X server under Linux, for `uhlig02/table3` and `uhlig02/fig8`: of two runs, one of which repeats what
it draws more often, the difference is these repetitions alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cobnut.experiments.linux_programs import ALL, CACHES, LARGE, NATIVE, SERVERS, SMALL
from cobnut.measured import Region

PEERS = (NATIVE, LARGE, SMALL, SERVERS, ALL)
PAPERS = (SMALL, SERVERS)  # the X server in a large space, and in a small one
MORE_THAN_SMALL = "ulimit -s 65536"  # KB of stack, for which a small space has no place: the client's
COUNTED = {
    "cycles": "modelled cycles",
    "instructions": "instructions",
    "itlb_misses": "misses",
    "dtlb_misses": "misses",
    "trace_misses": "misses",
    "cr3_writes": "writes",
    "segment_loads": "loads",
    "limit_faults": "faults",
}
INSTRUCTIONS = ("instructions_kernel", "instructions_user", "instructions_stub", "instructions_trampoline")


@dataclass(frozen=True)
class Drawn:
    """What one repetition takes under one kernel, of client and X server: by counter, and cycles by category of the
    ledger.
    """

    counted: Mapping[str, float]
    ledger: Mapping[str, float]

    @property
    def cycles(self) -> float:
        return self.counted["cycles"]

    @property
    def without_caches(self) -> float:
        """The same without what caches refill and write back, which depends on where pages lie in physical memory."""
        return self.cycles - sum(self.ledger[category] for category in CACHES)


def drawn(once: Region, often: Region, more: int) -> Drawn:
    """One of the `more` repetitions that `often` has beyond `once`."""

    def of(counter: str) -> float:
        names = INSTRUCTIONS if counter == "instructions" else (counter,)
        before, after = (sum(sum(region["per_iteration"].get(name, ())) for name in names) for region in (once, often))
        return (after - before) / more

    ledger = {category: (often["ledger"][category] - cycles) / more for category, cycles in once["ledger"].items()}
    return Drawn({counter: of(counter) for counter in COUNTED}, ledger)
