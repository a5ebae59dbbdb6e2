# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of an experiment and its JSON form, which docs/json.md describes key by key."""

import datetime
import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from cobnut import causes, paths
from cobnut.causes import Charge
from cobnut.checks import Check
from cobnut.measured import Region, Switch


@dataclass(frozen=True)
class Series:
    """A measured curve, or a row of bars when `x` holds names."""

    name: str
    unit: str
    x: Sequence[float] | Sequence[str]
    y: Sequence[float | None]


@dataclass(frozen=True)
class LedgerRow:
    """Where the modelled cycles of one measured case went: `entries` adds up to `total` exactly, over `rounds` round
    trips.

    `causes` says what its refills are charged to, `space` which space was measured.
    """

    name: str
    x: float | None
    rounds: int
    unit: str
    entries: dict[str, float]
    total: float
    space: str | None = None
    causes: list[Charge] = field(default_factory=list)

    @classmethod
    def of(cls, name: str, region: Region, switches: Sequence[Switch]) -> "LedgerRow":
        """That of a region in the plugin's output, whose switches these are."""
        return cls(
            name,
            None,
            region["iterations"],
            "cycles",
            region["ledger"],
            region["cycles_total"],
            space=region["space"],
            causes=causes.read(region, list(switches)),
        )


@dataclass(frozen=True)
class Provenance:
    """What has to be known to get the same numbers again."""

    revision: str
    machine_file_sha256: str | None
    emulator: str
    date: str
    board: str = ""
    quick: bool = False
    settings: dict[str, int | str] = field(default_factory=dict)  # of the experiment, those of the kernel included
    machine_changes: dict[str, str] = field(default_factory=dict)  # the machine's numbers that were set
    command: str = ""


@dataclass(frozen=True)
class Result:
    """All that a run of an experiment found."""

    experiment: str
    machine: str | None
    provenance: Provenance
    series: list[Series]
    checks: list[Check]
    ledger: list[LedgerRow]

    @property
    def ok(self) -> bool:
        """A result without checks is none."""
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def failed(self) -> bool:
        """Whether a check is neither ok nor a known miss."""
        return not self.checks or any(check.verdict == "failed" for check in self.checks)

    def find(self, name: str) -> Series | None:
        """The series called `name`."""
        return next((series for series in self.series if series.name == name), None)

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"


def provenance() -> Provenance:
    """The provenance of a run that starts now, from this source tree, with nothing of what it runs on."""
    now = datetime.datetime.now(datetime.UTC)
    return Provenance(revision(), None, "", now.isoformat(timespec="seconds"))


def revision() -> str:
    """The commit of this source tree, with -dirty where it has changes; unknown outside of a git clone."""
    git = ["git", "-c", f"safe.directory={paths.ROOT}", "-C", str(paths.ROOT)]
    try:
        answer = subprocess.run(
            [*git, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True, check=False
        )
    except OSError:
        return _head_without_git()
    return answer.stdout.strip() if answer.returncode == 0 else "unknown"


def _head_without_git() -> str:
    head = paths.ROOT / ".git" / "HEAD"
    if not head.is_file():
        return "unknown"
    text = head.read_text().strip()
    reference = paths.ROOT / ".git" / text.removeprefix("ref: ")
    commit = reference.read_text().strip() if text.startswith("ref: ") and reference.is_file() else text
    return commit[:12]


def number(value: float | str | None) -> str:
    """A number as a person reads it, a dash where there is none, a word as it is."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.1f}"
