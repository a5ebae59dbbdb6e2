# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading Debian's package sources, to repeat one of them for the backports suite.

QEMU below 10 lacks plugin functions that the laboratory needs; Debian 12 has QEMU 10 in its backports. The mirror that
the machine is already set up with is used again with the same key and options, whichever of the two file formats it is
written in, so that a private mirror stays the only one asked.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from cobnut.errors import CobnutError

APT = Path("/etc/apt")
OS_RELEASE = Path("/etc/os-release")
KEPT = ("signed-by", "trusted")  # options of a source that its backports need as well


@dataclass(frozen=True)
class Source:
    """One archive with its suites: a deb822 stanza, or a line of the older format."""

    uri: str
    suites: tuple[str, ...]
    options: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NewSource:
    """A source file to write: where, with what in it, and the suite it adds."""

    path: Path
    text: str
    suite: str


def codename(os_release: Path = OS_RELEASE) -> str:
    """Debian's name of the release, such as bookworm."""
    match = (
        re.search(r'^VERSION_CODENAME="?(\w+)"?$', os_release.read_text(), re.MULTILINE)
        if os_release.exists()
        else None
    )
    if match is None:
        raise CobnutError("cannot tell which Debian release this is (/etc/os-release has no VERSION_CODENAME)")
    return match.group(1)


def read_sources(etc_apt: Path = APT) -> list[Source]:
    """All package sources below `etc_apt`, of both formats."""
    sources: list[Source] = []
    for path in [etc_apt / "sources.list", *sorted((etc_apt / "sources.list.d").glob("*"))]:
        if not path.is_file():
            continue
        if path.suffix == ".sources":
            sources += parse_deb822(path.read_text())
        elif path.suffix == ".list":
            sources += parse_one_line(path.read_text())
    return sources


def parse_deb822(text: str) -> list[Source]:
    """The enabled `deb` stanzas of a .sources file."""
    sources = []
    for stanza in re.split(r"\n\s*\n", re.sub(r"^#.*\n?", "", text, flags=re.MULTILINE)):
        fields: dict[str, str] = {}
        key = ""
        for line in stanza.splitlines():
            if line[:1] in " \t" and key:
                fields[key] += "\n" + line
            elif ":" in line:
                key, _, value = line.partition(":")
                key = key.strip().lower()
                fields[key] = value.strip()
        if "deb" not in fields.get("types", "").split() or fields.get("enabled", "yes").lower() == "no":
            continue
        kept = {name: value for name, value in fields.items() if name in KEPT}
        for uri in fields.get("uris", "").split():
            sources.append(Source(uri, tuple(fields.get("suites", "").split()), kept))
    return sources


def parse_one_line(text: str) -> list[Source]:
    """The `deb` lines of a .list file."""
    sources = []
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)", line)
        if match:
            given = dict(pair.split("=", 1) for pair in (match.group(1) or "").split() if "=" in pair)
            kept = {name: value for name, value in given.items() if name in KEPT}
            sources.append(Source(match.group(2), (match.group(3),), kept))
    return sources


def backports_of(sources: list[Source], release: str) -> NewSource:
    """A source file for the backports of `release`, on the mirror that serves `release` itself."""
    suite = f"{release}-backports"
    text = f"# written by cobnut: QEMU 10\n{repeated(sources, release, suite)}"
    return NewSource(APT / "sources.list.d" / "cobnut-backports.sources", text, suite)


def repeated(sources: list[Source], release: str, suite: str, components: str = "main") -> str:
    """A stanza for `suite` on the mirror that serves `release`."""
    for source in sources:
        if release in source.suites:
            options = "".join(f"{name.title()}: {value}\n" for name, value in source.options.items())
            return f"Types: deb\nURIs: {source.uri}\nSuites: {suite}\nComponents: {components}\n{options}"
    raise CobnutError(f"no package source for Debian {release} found below {APT}, so none to repeat for {suite}")
