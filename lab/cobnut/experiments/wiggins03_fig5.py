# SPDX-License-Identifier: GPL-2.0-or-later
"""`wiggins03/fig5`: a server calls clients at random, each in a space of its own, with the standard and with the fast
kernel.

W03's figure 5. The server and up to 14 clients have a domain each; beyond that domains are taken away and given again.
The clients lie at different addresses, or all at the same one below 32 MB, where the processor relocates them.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cobnut import published
from cobnut.checks import (
    Check,
    KnownMiss,
    Rule,
    at_most,
    between,
    exactly,
    judge,
    named,
    no_less_than,
    no_more_than,
    reproduces,
)
from cobnut.experiments import Experiment, Kind, Lab, Setting, crowd
from cobnut.experiments.crowd import FLUSHES, SWITCH_WRITES, Counted, Crowd, measure
from cobnut.experiments.pingpong import Region, raise_if_all_failed
from cobnut.plots import Ledger, Lines, Mark, Plot
from cobnut.results import LedgerRow, Result, Series

CLIENTS = (1, 2, 4, 6, 8, 10, 12, 14, 15, 16, 18, 20, 32, 48, 64)
QUICK = (1, 14, 20, 32, 64)
LAST = published.W03_LAST_CLIENTS
KERNELS = {"standard": False, "fast": True}
PLACES = {"different": "apart", "same": "alike"}
TITLES = {
    ("standard", "different"): "standard kernel, different addresses",
    ("standard", "same"): "standard kernel, the same address",
    ("fast", "different"): "fast switching, different addresses",
    ("fast", "same"): "fast switching, the same address",
}
PAPERS_MACHINE = "sa1100-200"

WARM_LIMIT, TWENTY, TWENTY_LIMIT = 60, 20, 160  # instructions one way: up to LAST clients, with 20
CROWDED, CROWDED_SHARE = (32, 48, 64), 0.4  # of the standard kernel's modelled cycles
SAME_OVER_DIFFERENT = 0.1
ROUND_TRIP_LIMIT = published.W03_OPTIMAL_US * published.W03_CLOCK_MHZ

FLUSHING = (
    "The paper's is 27,000 cycles, and 2,000 with nothing flushed. This kernel's path is a tenth of that, and finds"
    " less to load again after a flush: by the ledger, of some 8,100 cycles, 5,100 are 72 lines of the caches, 600 TLB"
    " misses, 2,400 instructions, most of them the loops of the two flushes, at 1,290 cycles near the least that the"
    " paper has, 1,000. These read the bank of zeros, which needs no memory (SA-1100 Developer's Manual, 6.2.3, which"
    " does not say how many cycles it takes; with 10 a line, the machine file's upper end, it is 66 us). With 256 lines"
    " of memory read instead, at the paper's 70 cycles, it would be 220 us. The paper's 135 are what 135 lines"
    " more than the 36 of each switch here would take: (27,000 - 8,100) / 2 / 70."
)
NO_COMPETITION = (
    "The paper explains its 400 cycles more by competition for TLB entries and cache lines. Here 14 clients, their"
    " server and the kernel fit both: a client takes a page of code, one of stack and interface and few lines."
)
KNOWN_MISSES = {
    **{f"standard.us.{n}": KnownMiss(38, 68, FLUSHING) for n in (CLIENTS[0], CLIENTS[-1])},
    f"fast.growth.{LAST}": KnownMiss(0, 0.1, NO_COMPETITION),
}


@dataclass(frozen=True)
class Curve:
    """One kernel and one placement: what was counted for each number of clients."""

    kernel: str
    place: str
    counted: Mapping[int, Counted]
    clock_mhz: float

    def region(self, n: int) -> Region | None:
        return self.counted[n].at(n) if n in self.counted else None

    def cycles(self, n: int) -> float | None:
        """Of a round trip."""
        return crowd.cycles(self.region(n))

    def us(self, n: int) -> float | None:
        cycles = self.cycles(n)
        return None if cycles is None else cycles / self.clock_mhz

    def instructions(self, n: int) -> float | None:
        """Of an IPC, in kernel and stub."""
        return crowd.instructions(self.region(n))

    def each(self, n: int, *counters: str) -> float | None:
        """For an IPC."""
        return crowd.each(self.region(n), counters)

    def why(self, n: int, text: str) -> str:
        failure = self.counted[n].failure if n in self.counted else None
        return f"{text} {failure or ''}".rstrip()


def run(lab: Lab) -> Result:
    """Both kernels, both placements, every number of clients."""
    chosen, sizes = lab.settings, QUICK if lab.quick else CLIENTS
    specs = {
        (kernel, place, n): Crowd("calls", where, n, chosen["rounds"], chosen["warmup"], tags=tags)
        for kernel, tags in KERNELS.items()
        for place, where in PLACES.items()
        for n in sizes
    }
    counted = dict(zip(specs, measure(lab, list(specs.values())), strict=True))
    raise_if_all_failed(list(counted.values()))
    clock = lab.machine["processor.clock_mhz"]
    curves = {
        (kernel, place): Curve(kernel, place, {n: counted[kernel, place, n] for n in sizes}, clock)
        for kernel, place in TITLES
    }
    checks = judge_counts(curves, sizes) + judge_cycles(curves, sizes)
    if lab.machine.name == PAPERS_MACHINE:
        checks += judge_paper(curves, sizes)
    return lab.result(
        [series for curve in curves.values() for series in series_of(curve, sizes)] + peers(sizes),
        checks,
        [row for curve in curves.values() for row in ledger_of(curve)],
    )


def judge_counts(curves: dict[tuple[str, str], Curve], sizes: tuple[int, ...]) -> list[Check]:
    """Instructions and flushes of an IPC: counted, not modelled."""
    checks = []
    for place in PLACES:
        fast = curves["fast", place]
        for n in sizes:
            if n <= LAST or n == TWENTY:
                peer = published.PISTACHIO_ARM[max(n, LAST)] - published.PISTACHIO_ARM_USER
                beside = f"; the best peer has {peer:g}" if place == "different" else ""
                rule = at_most(WARM_LIMIT if n <= LAST else TWENTY_LIMIT)
                text = (
                    f"Kernel and stub of an IPC one way, {n} client{'s' * (n > 1)} at {place}"
                    f" address{'es' * (place == 'different')}{beside}."
                )
                checks.append(
                    judge(
                        f"fast.{place}.instructions.{n}", fast.instructions(n), "instructions", rule, fast.why(n, text)
                    )
                )
            if n <= LAST:
                text = (
                    "W03 section 5: with domains for all nothing is flushed; TLBs, caches and single lines of both, an"
                    f" IPC, {n} clients."
                )
                checks.append(
                    judge(f"fast.{place}.flushes.{n}", fast.each(n, *FLUSHES), "flushes", exactly(0), fast.why(n, text))
                )
    return checks


def judge_cycles(curves: dict[tuple[str, str], Curve], sizes: tuple[int, ...]) -> list[Check]:
    """Modelled cycles against those of the other kernel and of the other placement."""
    standard, fast, same = curves["standard", "different"], curves["fast", "different"], curves["fast", "same"]
    checks = []
    for n in sizes:
        if n <= LAST:
            checks.append(
                judge(
                    f"same_over_different.{n}",
                    _over(same.cycles(n), fast.cycles(n)),
                    "times",
                    between(1 - SAME_OVER_DIFFERENT, 1 + SAME_OVER_DIFFERENT),
                    same.why(
                        n,
                        f"Modelled cycles of a round trip with {n} clients at the same address, over those at different"
                        " ones.",
                    ),
                )
            )
        if n in CROWDED:
            checks.append(
                judge(
                    f"fast_over_standard.{n}",
                    _over(fast.cycles(n), standard.cycles(n)),
                    "times",
                    at_most(CROWDED_SHARE),
                    fast.why(n, f"Modelled cycles of a round trip among {n} clients, over the standard kernel's."),
                )
            )
    return checks


def judge_paper(curves: dict[tuple[str, str], Curve], sizes: tuple[int, ...]) -> list[Check]:
    """What W03 section 4.2 says about the figure; the machine is the paper's."""
    standard, fast = curves["standard", "different"], curves["fast", "different"]
    first, last = sizes[0], sizes[-1]
    growth = _less(fast.us(LAST), fast.us(first))
    checks = [
        judge(
            f"fast.cycles.{first}",
            fast.cycles(first),
            "modelled cycles",
            no_more_than(ROUND_TRIP_LIMIT),
            fast.why(
                first,
                "A round trip with one warm client; W03: an optimised one should be around"
                f" {published.W03_OPTIMAL_US} us.",
            ),
        ),
        judge(
            f"fast.us.{first}",
            fast.us(first),
            "modelled us",
            no_more_than(published.W03_FAST_US),
            fast.why(first, "W03: the least that it measured, with a mostly unoptimised kernel."),
        ),
        judge(
            f"fast.us.{LAST}",
            fast.us(LAST),
            "modelled us",
            no_more_than(published.W03_FAST_14_US),
            fast.why(LAST, f"W03: with {LAST} clients."),
        ),
        judge(
            f"fast.growth.{LAST}",
            growth,
            "modelled us",
            reproduces(published.W03_FAST_14_US - published.W03_FAST_US),
            f"From {first} to {LAST} clients; W03: it rises slowly, by competition for TLB entries and cache lines.",
        ),
        *(
            judge(
                f"standard.us.{n}",
                standard.us(n),
                "modelled us",
                reproduces(published.W03_STANDARD_US),
                standard.why(
                    n,
                    f"A round trip of the standard kernel, which flushes at both switches, with {n}"
                    f" client{'s' * (n > 1)}.",
                ),
            )
            for n in (first, last)
        ),
        judge(
            "standard.flatness",
            _over(standard.us(last), standard.us(first)),
            "times",
            reproduces(1),
            f"The standard kernel with {last} clients over one; W03: quite independent of the number of processes.",
        ),
        judge(
            f"gain.{first}",
            _over(standard.us(first), fast.us(first)),
            "times",
            no_less_than(published.W03_FAST_GAIN),
            "W03: more than thirteen-fold.",
        ),
        judge(
            f"gain.{LAST}",
            _over(standard.us(LAST), fast.us(LAST)),
            "times",
            no_less_than(published.W03_FAST_14_GAIN),
            f"W03: with {LAST} clients still more than eleven-fold.",
        ),
    ]
    return checks + judge_beyond(fast, sizes)


def judge_beyond(fast: Curve, sizes: tuple[int, ...]) -> list[Check]:
    """How it goes on where domains run out: faster, and then slower again."""
    beyond = [n for n in sizes if n > LAST]
    early, middle, late = _slope(fast, sizes[0], LAST), _slope(fast, LAST, TWENTY), _slope(fast, beyond[-2], beyond[-1])
    return [
        judge(
            "growth.beyond_domains",
            middle,
            "modelled us a client",
            Rule(
                f"above {early or 0:.3g}, what it is up to {LAST} clients",
                lambda value: early is not None and value > early,
            ),
            f"From {LAST} to {TWENTY} clients; W03: from 15 the cost rises faster, because there are more processes"
            " than domains.",
        ),
        judge(
            "growth.late",
            late,
            "modelled us a client",
            Rule(
                f"below {middle or 0:.3g}, what it is up to {TWENTY} clients",
                lambda value: middle is not None and value < middle,
            ),
            f"From {beyond[-2]} to {beyond[-1]} clients; W03: the increase slows down, for a flush makes all domains"
            " clean.",
        ),
    ]


def _over(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _less(end: float | None, start: float | None) -> float | None:
    return None if end is None or start is None else end - start


def _slope(curve: Curve, first: int, last: int) -> float | None:
    growth = _less(curve.us(last), curve.us(first))
    return None if growth is None else growth / (last - first)


def series_of(curve: Curve, sizes: tuple[int, ...]) -> list[Series]:
    """A kernel and placement over the number of clients; counts are for an IPC one way."""
    name = f"{curve.kernel}.{curve.place}"
    counters = (*SWITCH_WRITES, *FLUSHES, "itlb_misses", "dtlb_misses", "icache_misses", "dcache_misses", "write_backs")
    return [
        Series(f"{name}.us", "modelled us", sizes, [curve.us(n) for n in sizes]),
        Series(f"{name}.cycles", "modelled cycles", sizes, [curve.cycles(n) for n in sizes]),
        Series(f"{name}.instructions", "instructions", sizes, [curve.instructions(n) for n in sizes]),
        *(
            Series(f"{name}.{counter}", "an IPC", sizes, [curve.each(n, counter) for n in sizes])
            for counter in counters
        ),
    ]


def peers(sizes: tuple[int, ...]) -> list[Series]:
    """What was counted of another kernel, without its user code; only for some numbers of clients."""
    known = {n: published.PISTACHIO_ARM.get(max(n, LAST)) for n in sizes}
    counts = [None if total is None else total - published.PISTACHIO_ARM_USER for total in known.values()]
    return [Series("peer.instructions", "instructions", sizes, counts)]


def ledger_of(curve: Curve) -> list[LedgerRow]:
    """Where the modelled cycles of the round trips go."""
    return [
        region.row(f"{curve.kernel}.{curve.place}", n)
        for n, counted in curve.counted.items()
        for region in counted.regions.values()
    ]


def plots(result: Result) -> list[Plot]:
    curves = {f"{kernel}.{place}": title for (kernel, place), title in TITLES.items()}
    fast = {name: title for name, title in curves.items() if name.startswith("fast")}
    return [
        Lines(
            "Round trip of an IPC",
            "clients",
            "modelled us",
            {f"{name}.us": title for name, title in curves.items()},
            marks=(
                Mark(f"W03: standard, {published.W03_STANDARD_US} us", y=published.W03_STANDARD_US),
                Mark(f"W03: fast, {published.W03_FAST_US} us", x=1, y=published.W03_FAST_US),
                Mark(f"W03: fast, {published.W03_FAST_14_US} us", x=LAST, y=published.W03_FAST_14_US),
            ),
            wide=True,
        ),
        Lines(
            "Instructions of an IPC, one way",
            "clients",
            "instructions",
            (
                {f"{name}.instructions": title for name, title in fast.items()}
                | {"peer.instructions": "best peer, different addresses"}
            ),
            caption="Kernel and stub. The peer is L4Ka::Pistachio with fast switching and its assembly path.",
        ),
        Lines(
            "TLB flushes of an IPC",
            "clients",
            "flushes",
            {f"{name}.tlb_flushes": title for name, title in curves.items()},
        ),
        Lines(
            "Flushes of the data cache of an IPC",
            "clients",
            "flushes",
            {f"{name}.dcache_flushes": title for name, title in curves.items()},
        ),
        Ledger(
            "Where the modelled cycles of a round trip go",
            "clients",
            "modelled cycles",
            {"standard.different": "S", "fast.different": "F", "fast.same": "A"},
            caption="S: standard kernel, F: fast switching, A: fast switching, all clients at the same address.",
            wide=True,
        ),
    ]


EXPERIMENT = Experiment(
    name="wiggins03/fig5",
    title="A server and many clients, with fast address-space switching and without",
    source="Wiggins, Tuch, Uhlig, Heiser 2003, figure 5",
    kind=Kind.REPRODUCTION,
    machine=PAPERS_MACHINE,
    boards=("collie", "versatilepb"),
    settings={
        "rounds": Setting(4000, 1000, crowd.ROUNDS, "round trips measured"),
        "warmup": Setting(1000, 500, crowd.ROUNDS, "round trips before the measured ones"),
    },
    long_proof=True,
    run=run,
    plots=plots,
    checks=(
        named("fast", PLACES, ("instructions", "flushes"), "CLIENTS"),
        named(("same_over_different", "fast_over_standard", "gain"), "CLIENTS"),
        named(KERNELS, "us.CLIENTS"),
        named("fast", ("cycles", "growth"), "CLIENTS"),
        "standard.flatness",
        named("growth", ("beyond_domains", "late")),
    ),
    story=(
        "A server sends an empty message to one of its clients, chosen at random, and waits for the answer. Server and"
        " clients have a space each. The standard kernel changes the page directory at each switch of spaces and"
        " flushes TLBs and caches. The fast one keeps one page directory for all: a domain tells whose a translation"
        " is, and the PID register moves what lies below 32 MB. There are 15 domains for users: a server and 14"
        " clients."
    ),
    cannot_say=(
        (
            "Counts are exact for this kernel on QEMU's instruction set. Cycles and microseconds are modelled from them"
            " by the machine file, with no overlap between instructions and memory, and a write buffer that"
            " makes the processor wait when it is full or drained."
        ),
        (
            "The paper's figure is known here by what its text says: 135 us, 10 us, 12 us with 14 clients, and how the"
            " curve goes on."
        ),
        (
            "The paper measured a kernel that it calls mostly unoptimised, with the generic IPC path in C++; the fast"
            " path here is assembly. What the two have in common is what a switch flushes."
        ),
        "Clients and server are a few instructions each; the program of the paper was larger by an unknown amount.",
        (
            f"Only {published.W03_CLOCK_MHZ} MHz and the SA-1100's TLBs and caches are the paper's: with another"
            " machine the published values are not judged."
        ),
    ),
    has_curves=True,
    known_misses=KNOWN_MISSES,
)
