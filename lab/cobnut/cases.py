# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of guests that mark none, by the options --region, --program and --processes (docs/plugin.md)."""

from collections.abc import Sequence
from pathlib import Path

from cobnut import paths
from cobnut.errors import CobnutError, unknown

DESCRIPTIONS = paths.LAB / "guests"
Arguments = tuple[tuple[str, str], ...]


def arguments(regions: Sequence[str], programs: Sequence[str], processes: str | None) -> Arguments:
    """The plugin's arguments; whether a region makes sense it says itself, before the guest starts."""
    words = [("program", _program(text)) for text in programs]
    if processes is not None:
        words.append(("processes", str(_description(processes))))
    words += [("region", text) for text in regions]
    return tuple(words)


def _program(text: str) -> str:
    name, colon, path = text.partition(":")
    if not (name and colon and path):
        raise CobnutError(f"--program {text}: must be NAME:FILE")
    if not Path(path).is_file():
        raise CobnutError(f"--program {text}: no such file")
    return f"{name}:{Path(path).resolve()}"


def _description(text: str) -> Path:
    """A description by its name, or any file."""
    named = DESCRIPTIONS / f"{text}.toml"
    if named.is_file():
        return named
    if Path(text).is_file():
        return Path(text).resolve()
    raise unknown("kernel of processes", text, known())


def known() -> list[str]:
    return sorted(path.stem for path in DESCRIPTIONS.glob("*.toml"))
