# SPDX-License-Identifier: GPL-2.0-or-later
"""An apt of our own, with lists, a cache and a state below one folder: packages of any release and architecture are
downloaded and checked as every package is, and nothing is installed. Its mirror is the system's own.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cobnut import apt_sources, packages
from cobnut.errors import CobnutError
from cobnut.process import run_logged

# no lists, no cache and no installed packages are shared with the system's own apt
CONFIG = """APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Sandbox::User "";
APT::Install-Recommends "false";
Acquire::Languages "none";
Dir::State "{folder}/state";
Dir::State::status "{folder}/state/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/debian.sources";
Dir::Etc::sourceparts "-";
Dir::Etc::preferencesparts "-";
"""
UPDATE = ("apt-get", "update", "-q", "--error-on=any")
RELEASE = "bookworm"  # the last release of Debian with a kernel for 32-bit PCs


@dataclass(frozen=True)
class Apt:
    """Lists that are up to date, in `folder`."""

    folder: Path

    def run(self, *command: str) -> str:
        """Runs a program of apt's on these lists, and returns what it says."""
        environment = {**os.environ, "APT_CONFIG": str(self.folder / "apt.conf"), "LC_ALL": "C"}
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if line.startswith("E: ")] or ["no reason given"]
            raise CobnutError(f"{' '.join(command)} failed: {errors[0]}")
        return done.stdout

    def versions(self, package: str) -> list[str]:
        """The versions of a package that the mirror has, newest first."""
        rows = [line.split("|") for line in self.run("apt-cache", "madison", package).splitlines()]
        return list(dict.fromkeys(row[1].strip() for row in rows if len(row) == 3))

    def download(self, *names: str) -> list[Path]:
        """The archives of these packages and of no others; NAME=VERSION asks for a version."""
        self.run("apt-get", "download", "-q", *names)
        return sorted(self.folder.glob("*.deb"))

    def download_source(self, name: str) -> list[Path]:
        """The files of a source package, as they are; nothing is unpacked."""
        self.run("apt-get", "source", "-q", "--download-only", name)
        return sorted(path for path in self.folder.glob(f"{name}_*") if path.is_file())

    def download_all(self, names: Sequence[str]) -> list[Path]:
        """The archives of these packages and of all that they depend on."""
        self.run("apt-get", "install", "--download-only", "-q", "-y", *names)
        return sorted((self.folder / "cache" / "archives").glob("*.deb"))


def unpack(archives: Iterable[Path], folder: Path, log: str) -> Path:
    """Puts the files of these packages below `folder`, which it returns; nothing is installed."""
    for archive in archives:
        run_logged(["dpkg-deb", "-x", str(archive), str(folder)], log)
    return folder


@contextmanager
def lists(
    wanted: str,
    *,
    architecture: str = "i386",
    security: bool = False,
    components: str = "main",
    sources: bool = False,
) -> Iterator[Apt]:
    """Downloads the release's lists of these `components` into a folder that goes when the `with` ends; `wanted` says
    for people what is to be downloaded. With `security` its security updates are among the lists, if the system asks a
    mirror for its own. With `sources` they are the lists of source packages.
    """
    if shutil.which("apt-get") is None:
        raise CobnutError(f"this machine has no apt-get to download Debian's {wanted} with")
    if os.environ.get("COBNUT_NO_INSTALL"):
        raise CobnutError(f"not downloaded, as COBNUT_NO_INSTALL is set: {wanted}")
    packages.say(f"downloading {wanted} (apt)")
    with tempfile.TemporaryDirectory(prefix="cobnut-apt-") as name:
        apt = Apt(Path(name))
        for part in ("state/lists/partial", "cache/archives/partial"):
            (apt.folder / part).mkdir(parents=True)
        (apt.folder / "state/status").touch()
        _configure(apt.folder, architecture, components, security, sources)
        try:
            apt.run(*UPDATE)
        except CobnutError:
            if not security:
                raise
            # a mirror of these that is being filled is no reason to do without the release
            _configure(apt.folder, architecture, components, False, sources)
            apt.run(*UPDATE)
            packages.say("the lists of Debian's security updates could not be read, so none is used")
        yield apt


def _configure(folder: Path, architecture: str, components: str, security: bool, sources: bool) -> None:
    there, codename = apt_sources.read_sources(), apt_sources.codename()
    stanzas = [apt_sources.repeated(there, codename, RELEASE, components)]
    if security and any(f"{codename}-security" in source.suites for source in there):
        stanzas.append(apt_sources.repeated(there, f"{codename}-security", f"{RELEASE}-security", components))
    text = "\n".join(stanzas)
    if sources:
        text = text.replace("Types: deb\n", "Types: deb-src\n")
    (folder / "debian.sources").write_text(text)
    (folder / "apt.conf").write_text(CONFIG.format(folder=folder, architecture=architecture))
