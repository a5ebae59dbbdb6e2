# SPDX-License-Identifier: GPL-2.0-or-later
"""`attack/compose`: random sequences of the calls that change a space's shape; after each step attackers tell what they
can reach.

user/compose takes the steps and judges them. Bochs enforces segment limits and has a Pentium (int, iret) and a Pentium
4 (sysenter); the kernel's options, and an area with few slots, make variants of both. A seed gives the same run each
time.
"""

from dataclasses import dataclass

from cobnut import composed, sheets
from cobnut.composed import Composed
from cobnut.emulators import Boot, Outcome, bochs
from cobnut.experiments import Experiment, Kind, Lab, Setting, runner
from cobnut.modules import alone
from cobnut.results import Result

SHEET = sheets.beside(__file__)

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
        return Boot(
            lab.board.kernel,
            alone(lab.board, "compose", f"limits=1 area={self.area_mb} {arguments}"),
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
    episodes = max(1, lab.settings["steps"] // (composed.STEPS_EACH * len(VARIANTS)))
    steps = lab.settings["steps"]
    runs = runner.each(
        lab, VARIANTS, lambda variant: one(lab, variant, episodes), lambda variant: variant.name, at_once=1
    )
    checks = composed.judge_runs(runs, steps, LEAST_PAIRS if steps >= ALL_PAIRS_FROM else LEAST_PAIRS_QUICK)
    return lab.result(composed.series_of(runs), checks, emulator=f"Bochs {bochs.version()}")


def one(lab: Lab, variant: Variant, episodes: int) -> Composed:
    """One boot."""

    def boot(arguments: str, timeout: float) -> Outcome:
        return bochs.run(variant.boot(lab, arguments), timeout=timeout)

    def replay(arguments: str) -> str:
        return variant.replay(arguments, checked=lab.board.checked)

    return composed.look(variant.name, lab.settings["seed"] + VARIANTS.index(variant), episodes, boot, replay)


EXPERIMENT = Experiment(
    name="attack/compose",
    sheet=SHEET,
    kind=Kind.PROOF,
    settings={
        "seed": Setting(1, 1, range(1 << 26), "the first boot's; each further boot takes the next"),
        "steps": Setting(
            100_000,
            6_000,
            range(1, 100_000_001),
            f"in all; episodes of {composed.STEPS_EACH}, shared by {len(VARIANTS)} boots",
        ),
    },
    long_proof=True,
    run=run,
    plots=SHEET.all_plots,
    checkable=True,
)
