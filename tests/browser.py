# SPDX-License-Identifier: GPL-2.0-or-later
"""Opening a page in headless Chromium: what it drew, what it complained about, a picture of it."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from conftest import run_limited

# one browser for one page, without the services that would look for a network
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--hide-scrollbars",
    "--virtual-time-budget=10000",
)

LIMIT_SECONDS = 180


@dataclass(frozen=True)
class Rendered:
    dom: str
    complaints: list[str]


def render(page: Path, *, dark: bool = False) -> Rendered:
    """The page's document after its scripts ran, and what they wrote to the console."""
    done = _chromium(["--enable-logging=stderr", "--v=0", "--dump-dom", *_theme(dark)], page)
    return Rendered(done.stdout, re.findall(r"CONSOLE.*", done.stderr))


def picture(page: Path, into: Path, *, width: int = 1280, height: int = 2400, dark: bool = False) -> None:
    """A PNG of the page."""
    _chromium([f"--screenshot={into}", f"--window-size={width},{height}", *_theme(dark)], page)


def _theme(dark: bool) -> list[str]:
    return ["--blink-settings=preferredColorScheme=0"] if dark else ["--blink-settings=preferredColorScheme=1"]


def _chromium(options: list[str], page: Path) -> "subprocess.CompletedProcess[str]":
    with tempfile.TemporaryDirectory(prefix="cobnut-") as profile:
        command = ["chromium", *OPTIONS, f"--user-data-dir={profile}", *options, page.resolve().as_uri()]
        done = run_limited(command, seconds=LIMIT_SECONDS)
        done.check_returncode()
        return done
