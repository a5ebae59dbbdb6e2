# SPDX-License-Identifier: GPL-2.0-or-later
"""build/venv, where Python finds the packages of lab/requirements.txt: a link to an entry of the cache.

Run by lab/bootstrap.sh with the system's Python, which has none of them: nothing but the standard library is imported.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from cobnut import cache, paths
from cobnut.cache import Recipe
from cobnut.errors import CobnutError

VENV = paths.BUILD / "venv"
REQUIREMENTS = paths.LAB / "requirements.txt"
LOG = paths.LOGS / "venv.log"


def recipe() -> Recipe:
    """The packages, and the interpreter for which they are installed."""
    return Recipe(
        "venv",
        {
            "requirements": REQUIREMENTS.read_text(encoding="utf-8"),
            "python": sys.version,
            "platform": sysconfig.get_platform(),
            "prefix": sys.base_prefix,
        },
    )


def ensure() -> None:
    """Makes build/venv lead to the packages, installing them into the cache if they are not there."""
    entry = cache.get(recipe(), _fill)
    if VENV.is_dir() and not VENV.is_symlink():
        shutil.rmtree(VENV)
    link = VENV.with_name("venv-new")
    link.unlink(missing_ok=True)
    link.symlink_to(entry)
    link.replace(VENV)


def _fill(folder: Path, entry: Path) -> None:
    print("cobnut: installing the packages of lab/requirements.txt (once)", file=sys.stderr, flush=True)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    LOG.write_text("")
    _run("could not make build/venv", [sys.executable, "-m", "venv", str(folder)])
    pip = [str(folder / "bin/python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    _run("pip could not install lab/requirements.txt", [*pip, "-r", str(REQUIREMENTS)])
    for script in (folder / "bin").iterdir():
        text = script.read_bytes() if not script.is_symlink() else b""
        if bytes(folder) in text and not text.startswith(b"\x7fELF"):  # they name their interpreter
            script.write_bytes(text.replace(bytes(folder), bytes(entry)))
    shutil.copyfile(REQUIREMENTS, folder / REQUIREMENTS.name)  # for ../../cobnut to compare with


def _run(complaint: str, command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with open(LOG, "ab") as log:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        raise CobnutError(f"{complaint}; see build/log/venv.log")


if __name__ == "__main__":
    try:
        ensure()
    except (CobnutError, OSError) as error:
        print(f"cobnut: {error}", file=sys.stderr)
        sys.exit(2)
