# SPDX-License-Identifier: GPL-2.0-or-later
"""`attack/compose`: random sequences of the calls that change a space's shape; after each step attackers tell what they
can reach.

user/compose takes the steps and judges them. Bochs enforces segment limits and has a Pentium (int, iret) and a Pentium
4 (sysenter); the kernel's options, and an area with few slots, make variants of both. A seed gives the same run each
time.
"""

from dataclasses import dataclass

from cobnut import composed, results
from cobnut.checks import Check, at_least, exactly, judge
from cobnut.composed import Composed
from cobnut.emulators import Boot, Outcome, bochs
from cobnut.experiments import Experiment, Lab, Plot, Setting
from cobnut.modules import Module
from cobnut.results import Result, Series

TIMEOUT_SECONDS = 3600
SHORT_TIMEOUT_SECONDS = 60
ALL_PAIRS_FROM = 20_000  # steps: with fewer, some operations never follow some others
LEAST_PAIRS, LEAST_PAIRS_QUICK = 600, 350


@dataclass(frozen=True)
class Variant:
    """A processor, the kernel's small-space area and its other options."""

    name: str
    cpu: str
    area_mb: int = 512
    options: str = ""

    def boot(self, lab: Lab, arguments: str) -> Boot:
        program = Module(lab.board.program("compose"), f"limits=1 area={self.area_mb} {arguments}")
        return Boot(
            lab.board.kernel,
            (Module(lab.board.program("sigma0")), program),
            f"small={self.area_mb} {self.options}".strip(),
            self.cpu,
        )

    def replay(self, arguments: str, *, checked: bool = False) -> str:
        """The command that runs it once more."""
        program = f'"compose limits=1 area={self.area_mb} {arguments}"'
        options = f"small={self.area_mb} {self.options}".strip()
        kernel = "--set checked=on " * checked
        return f'./cobnut boot {kernel}--emulator bochs --cpu {self.cpu} --append "{options}" --root {program}'


VARIANTS = (
    Variant("int", "pentium"),
    Variant("sysenter", "p4_willamette"),
    Variant("int.few_slots", "pentium", area_mb=64),
    Variant("sysenter.few_slots", "p4_willamette", area_mb=64),
    Variant("int.eager", "pentium", area_mb=64, options="revocation=eager"),
    Variant("sysenter.no_groups", "p4_willamette", area_mb=64, options="groups=off"),
    Variant("int.no_sysenter", "p4_willamette", options="sysenter=off"),
    Variant("int.by_hand", "pentium", options="automatic=off"),
)


def run(lab: Lab) -> Result:
    """Boots the program on each variant for its share of the steps."""
    bochs.ensure()
    origin = results.provenance(f"Bochs {bochs.version()}", None)
    lab.meter.total(len(VARIANTS))
    episodes = max(1, lab.settings["steps"] // (composed.STEPS_EACH * len(VARIANTS)))
    runs = []
    for variant in VARIANTS:
        runs.append(one(lab, variant, episodes))
        lab.meter.advance(note=variant.name)
    return Result("attack/compose", None, origin, series_of(runs), judge_runs(runs, lab.settings["steps"]), [])


def one(lab: Lab, variant: Variant, episodes: int) -> Composed:
    """One boot. Where the kernel stops, the shortest part of the episode that it stops in is looked for."""
    seed = lab.settings["seed"] + VARIANTS.index(variant)
    outcome = bochs.run(variant.boot(lab, f"seed={seed} episodes={episodes}"), timeout=TIMEOUT_SECONDS)
    episode = composed.last_episode(outcome.console)
    if not outcome.kernel_message or episode is None or composed.END.search(outcome.console):
        return _read(lab, variant, outcome)

    def stops(arguments: str) -> bool:
        again = bochs.run(variant.boot(lab, arguments), timeout=SHORT_TIMEOUT_SECONDS)
        return again.kernel_message is not None

    arguments = composed.shortest(seed, episode, stops)
    return _read(lab, variant, outcome, arguments or f"seed={seed} episodes={episode + 1}")


def _read(lab: Lab, variant: Variant, outcome: Outcome, again: str | None = None) -> Composed:
    done = composed.read(variant.name, outcome, again)
    return Composed(
        **{
            **done.__dict__,
            "again": tuple(variant.replay(arguments, checked=lab.board.checked) for arguments in done.again),
        }
    )


def judge_runs(runs: list[Composed], steps: int) -> list[Check]:
    """Nothing found in any run, no kernel stopped, and enough was tried."""
    checks = []
    for each in runs:
        said = "; ".join([*each.findings, *(f"again: {command}" for command in each.again)])
        checks.append(
            judge(
                f"{each.name}.findings",
                len(each.findings),
                "episodes",
                exactly(0),
                f"Each segment ends with its slot, nothing is lost or touched. {said}",
            )
        )
        bad = int(each.failure is not None)
        checks.append(
            judge(
                f"{each.name}.failed",
                bad,
                "boots",
                exactly(0),
                f"No kernel fault and no panic. {each.failure or ''} {said if bad else ''}",
            )
        )
        checks.append(
            judge(
                f"{each.name}.book_faults",
                each.book_faults,
                "faults",
                exactly(0),
                "The kernel's books agree at the end.",
            )
        )
    taken = sum(each.episodes for each in runs) * composed.STEPS_EACH
    asked = len(runs) * composed.STEPS_EACH * max(1, steps // (composed.STEPS_EACH * len(runs)))
    checks.append(judge("steps", taken, "steps", at_least(asked), f"In {len(runs)} boots."))
    pairs = set().union(*(each.pairs for each in runs))
    wanted = LEAST_PAIRS if steps >= ALL_PAIRS_FROM else LEAST_PAIRS_QUICK
    checks.append(
        judge(
            "pairs",
            len(pairs),
            "pairs",
            at_least(wanted),
            "Operations that came one right after the other, for one space.",
        )
    )
    return checks


def series_of(runs: list[Composed]) -> list[Series]:
    names = list(dict.fromkeys(name for each in runs for name in each.operations))
    pairs = set().union(*(each.pairs for each in runs))
    boots = [each.name for each in runs]
    return [
        Series("operations", "times", names, [sum(each.operations.get(name, 0) for each in runs) for name in names]),
        Series("followers", "operations", names, [sum(first == name for first, _ in pairs) for name in names]),
        Series("episodes", "episodes", boots, [each.episodes for each in runs]),
        Series("findings", "findings", boots, [len(each.findings) for each in runs]),
    ]


def plots(result: Result) -> list[Plot]:
    return [
        Plot(
            "bars",
            "What the steps were",
            "operation",
            "times",
            {"operations": "steps"},
            caption="Every operation follows every other one on the same space sooner or later.",
        )
    ]


EXPERIMENT = Experiment(
    name="attack/compose",
    title="Sequences of calls that change a space's shape: no segment ever reaches past its slot",
    source="random testing with an oracle for isolation",
    machine="pentium4-1400",
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "steps": Setting(
            100_000,
            6_000,
            range(1, 100_000_001),
            f"in all; episodes of {composed.STEPS_EACH}, shared by {len(VARIANTS)} boots",
        ),
    },
    run=run,
    plots=plots,
    checkable=True,
    story=(
        "Three attackers' spaces between victims are given slots by name, by size, by the kernel's choice, in groups,"
        " or none; their threads get segments of their own, go to addresses of each other's choice, wait in IPC while"
        " their pages are taken or their space becomes another, migrate, and get map items with nothing behind them."
        " Most steps concern one thread, so that each meets what the one before it has left. After each, a thread of"
        " the space says what its segments are, and the controller looks at slots, at the victims' memory and at what"
        " was read."
    ),
    cannot_say=(
        "One attacker runs at a time: races are the business of fuzz and sanitize/stress.",
        "An emulator's processor does not speculate (docs/security.md).",
        "The machine model is not used here.",
    ),
)
