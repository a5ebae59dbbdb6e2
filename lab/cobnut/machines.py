# SPDX-License-Identifier: GPL-2.0-or-later
"""Machine files: finding them, having them checked, and what of them an experiment needs.

What a parameter means and which values are absurd is the model's business (lab/model); its own tool `cobnut-machine` is
asked.
"""

import hashlib
import re
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cobnut import paths
from cobnut.boards import Board
from cobnut.errors import CobnutError, unknown

SOURCE, CONTINUED = re.compile(r"#   (\w+) {2,}(\S.*)"), re.compile(r"#   {7,}(\S.*)")


@dataclass(frozen=True)
class Parameter:
    """A number or a choice of a machine. `low` and `high` are given where its source leaves it open."""

    value: float | str
    source: str
    low: float | str | None = None
    high: float | str | None = None

    @property
    def open(self) -> bool:
        return self.low is not None and self.high is not None and self.low != self.high

    def text(self, which: str) -> str:
        """The value, low or high end as a setting is written."""
        given = getattr(self, which)
        return given if isinstance(given, str) else f"{given:g}"


@dataclass(frozen=True)
class Machine:
    """A machine file that has passed its check."""

    name: str
    description: str
    path: Path
    sha256: str
    parameters: dict[str, Parameter]  # by dotted name, such as itlb.entries
    architecture: str = "ia32"  # or arm

    def __getitem__(self, name: str) -> float:
        """A parameter that is a number; not every machine has every one."""
        if name not in self.parameters:
            raise CobnutError(f"machine {self.name} has no {name}, which this experiment needs")
        return float(self.parameters[name].value)


def known(architecture: str | None = None) -> dict[str, Path]:
    """The machines that come with the project, by name; only those of one architecture if that is given."""
    found = {path.stem: path for path in sorted(paths.MACHINES.glob("*.toml"))}
    if architecture is None:
        return found
    return {name: path for name, path in found.items() if architecture_of(_parsed(path.read_text())) == architecture}


def architecture_of(tree: Mapping[str, object]) -> str:
    """The architecture that a machine file says it is about."""
    return str(tree.get("architecture", "ia32"))


def describe(path: Path) -> str:
    """The description in a machine file, for a listing."""
    try:
        return str(_parsed(path.read_text()).get("description", ""))
    except (OSError, tomllib.TOMLDecodeError):
        return "(cannot be read)"


def sources(path: Path) -> dict[str, str]:
    """What the short names of a machine file's sources stand for, by what its first lines say: a name, two blanks or
    more, the source, which may go on in lines without a name.
    """
    found: dict[str, str] = {}
    try:
        head = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return found
    for line in head.splitlines():
        if match := SOURCE.match(line):
            name, text = match.groups()
            found[name] = text
        elif found and (match := CONTINUED.match(line)):
            found[next(reversed(found))] += " " + match.group(1)
    return found


def locate(name: str) -> Path:
    """The file of the machine `name`, which is one of `known` or the path of a machine file."""
    if "/" in name or name.endswith(".toml"):
        path = Path(name)
        if path.exists() and not path.is_file():
            raise CobnutError(f"machine file {name}: is not a file")
        if not path.is_file():
            raise CobnutError(f"machine file {name}: no such file")
        return path.resolve()
    if name not in known():
        raise unknown("machine", name, known())
    return known()[name]


def load(name: str) -> Machine:
    """Finds the machine `name`, has it checked by the model, and reads it."""
    check(locate(name))
    return read(name)


def read(name: str) -> Machine:
    """The machine `name` as its file has it, unchecked: for what has to be known before anything is built."""
    path = locate(name)
    data = path.read_bytes()
    tree = _parsed(data.decode())
    return Machine(
        name=str(tree.get("name", path.stem)),
        description=str(tree.get("description", "")),
        path=path,
        sha256=hashlib.sha256(data).hexdigest(),
        parameters=_flatten(tree),
        architecture=architecture_of(tree),
    )


def check_architecture(name: str, board: Board) -> None:
    """Refuses a machine whose processor is none of the board's family. What cannot be read is left to `check`."""
    try:
        architecture = read(name).architecture
    except (OSError, ValueError, AttributeError):
        return
    processor = board.processor
    if architecture != processor.architecture:
        there = ", ".join(known(processor.architecture))
        raise CobnutError(
            f"--machine {name}: board {board.name} has an {processor.name} processor, which that is not (there are"
            f" {there})"
        )


def change(pair: str) -> tuple[str, str]:
    """A parameter's name and its new value, from K=V."""
    key, separator, value = pair.partition("=")
    if not separator or not key or not value:
        raise CobnutError(f"--set {pair}: is not of the form K=V")
    return key, value


def check(path: Path, changes: Mapping[str, str] | None = None) -> None:
    """Has the model judge a machine file with `changes` of its numbers; its complaint becomes ours, in one line."""
    sets = [word for name, value in (changes or {}).items() for word in ("--set", f"{name}:{value}")]
    done = subprocess.run(
        [paths.MACHINE_TOOL, "check", path, *sets],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"machine file {path}: refused"]
        raise CobnutError(lines[0].removeprefix("cobnut-machine: "))


@cache
def _parsed(text: str) -> Mapping[str, object]:
    """The tree of a machine file. A listing asks for each of the few files hundreds of times; what is in one decides,
    so that a file that changes is read anew.
    """
    return tomllib.loads(text)


def _flatten(tree: Mapping[str, object], prefix: str = "") -> dict[str, Parameter]:
    found: dict[str, Parameter] = {}
    for key, value in tree.items():
        if not isinstance(value, dict):
            continue
        if "value" not in value:
            found |= _flatten(value, f"{prefix}{key}.")
        elif not isinstance(value["value"], bool):
            source = str(value.get("source", ""))
            found[prefix + key] = Parameter(value["value"], source, value.get("low"), value.get("high"))
    return found
