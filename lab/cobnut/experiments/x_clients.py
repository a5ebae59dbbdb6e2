# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients of an X server under Linux, for `uhlig02/table3` and `uhlig02/fig8`: of two runs, one of which repeats what
it draws more often, the difference is these repetitions alone.
"""

import statistics
from collections.abc import Iterable, Mapping
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
        """The mean turn's without what caches refill and write back, which depends on where pages lie in physical
        memory.
        """
        return sum(cycles for category, cycles in self.ledger.items() if category not in CACHES)


def drawn(once: Region, often: Region, more: int) -> Drawn:
    """One of the `more` repetitions that an iteration of `often` has beyond one of `once`: counts are the median
    iterations', ledgers the mean ones'.
    """

    def of(counter: str) -> float:
        names = INSTRUCTIONS if counter == "instructions" else (counter,)
        before, after = (_median(region, names) for region in (once, often))
        return (after - before) / more

    before, after = (_mean_ledger(region, region["iterations"]) for region in (once, often))
    ledger = {category: (after[category] - cycles) / more for category, cycles in before.items()}
    return Drawn({counter: of(counter) for counter in COUNTED}, ledger)


def quickest(region: Region, turns: int) -> Region:
    """Of the first `turns` the one with the fewest cycles, as if it alone had been measured; its ledger is the mean
    one's.
    """
    counts = region["per_iteration"]
    at = min(range(turns), key=lambda turn: counts["cycles"][turn])
    found = region.copy()
    found["iterations"] = 1
    found["per_iteration"] = {name: [row[at]] for name, row in counts.items()}
    found["ledger"] = _mean_ledger(region, turns)
    return found


def _mean_ledger(region: Region, turns: int) -> dict[str, float]:
    return {category: cycles / turns for category, cycles in region["ledger"].items()}


def _median(region: Region, counters: Iterable[str]) -> float:
    """Of the counters' sum in an iteration. What a machine does not have is not counted on it."""
    rows = [row for counter in counters if (row := region["per_iteration"].get(counter))]
    return float(statistics.median(map(sum, zip(*rows, strict=True)))) if rows else 0
