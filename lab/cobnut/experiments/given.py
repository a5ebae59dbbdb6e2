# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel that --image gives to an experiment: how it is booted, for `ipc/trace`, `lab/replay` and `lab/cost`."""

from dataclasses import replace
from pathlib import Path

from cobnut import images, linux_guest
from cobnut.emulators import Boot, Outcome
from cobnut.emulators.ending import NEVER
from cobnut.errors import CobnutError
from cobnut.experiments import Lab, Setting
from cobnut.guests import Guest

IMAGE = "image"  # what it is called among guests
TIMEOUT_SECONDS = 3600
MEMORY = Setting(256, 256, range(16, 2049), "main memory for the images given, MB")


def boot_of(lab: Lab, guest: Guest) -> Boot:
    """The guest's boot on the lab's machine."""
    return replace(guest.boot, cpu=cpu_for(lab, guest.boot.kernel), memory_mb=lab.settings["memory"])


def cpu_for(lab: Lab, kernel: Path) -> str:
    """The emulator's processor for a given kernel: the machine's, but for Linux, whose kernels want one that is not too
    old.
    """
    if images.kind(kernel.read_bytes()) == "linux":
        return linux_guest.CPU if has_sysenter(lab) else f"{linux_guest.CPU},-sep"
    return lab.cpu


def has_sysenter(lab: Lab) -> bool:
    return "entry.sysenter_sysexit_cycles" in lab.machine.parameters


def check_repeatable(lab: Lab, guest: Guest) -> None:
    """Refuses a guest of which no two runs are the same."""
    if guest.end != NEVER:
        raise CobnutError(f"--seconds, --until: {lab.experiment} compares runs, which have to end by themselves")


def failure(outcome: Outcome) -> str | None:
    """Why a run of it did not come to its end, or None."""
    return f"the guest has not ended after {TIMEOUT_SECONDS} s of processor time" if outcome.timed_out else None
