# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things are. Build products live under `build/` and nowhere else."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "log"
REPORTS = BUILD / "reports"
RUNS = BUILD / "run"
LOCKS = BUILD / "lock"

GDB_SCRIPT = ROOT / "kernel" / "gdb" / "cobnut.py"
TEMPLATES = ROOT / "user" / "templates"
LAB = ROOT / "lab"
MACHINES = LAB / "machines"
CARGO_TARGET = BUILD / "cargo"
PLUGIN = CARGO_TARGET / "release" / "libcobnut_plugin.so"
MACHINE_TOOL = CARGO_TARGET / "release" / "cobnut-machine"
REPLAYER = CARGO_TARGET / "release" / "cobnut-replay"
PATH_COST = CARGO_TARGET / "release" / "cobnut-path"


def shown(path: Path) -> str:
    """`path` as a person would type it: relative to the current directory where it lies below it."""
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
