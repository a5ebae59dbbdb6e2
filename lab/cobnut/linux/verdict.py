# SPDX-License-Identifier: GPL-2.0-or-later
"""How a guest ended, from what its console says: lines of linux/guests/init and session begin with the byte 1E."""

import re

from cobnut.emulators import kernel_message
from cobnut.errors import CobnutError


class Panic(CobnutError):
    """One whose reason is no input's: `trace` is what Linux says about it."""

    trace = ""


MARK = "\x1eguest: "
RUNNING = f"{MARK}running"
STATUS = re.compile(rf"^{MARK}status (\d+)$", re.MULTILINE)
ERROR = re.compile(rf"^{MARK}error (.+)$", re.MULTILINE)
PANIC = re.compile(r"Kernel panic - not syncing: (.+)")
ROOT = re.compile(r"^linux-root: (.+)$", re.MULTILINE)
POWER_DOWN = "reboot: Power down"
# what of Linux's own words needs others
MEANINGS = (
    (re.compile(r"No working init found|Requested init .* failed"), "the image has no init that works"),
    (re.compile(r"VFS: Unable to mount root fs"), "the image has no /init, or is damaged"),
    (re.compile(r"[Oo]ut of memory|System is deadlocked on memory|Failed to allocate|not enough memory"), "memory"),
)
DAMAGED = re.compile(r"Initramfs unpacking failed: (.+)")


def status(console: str, code: int | None, *, attended: bool = False) -> int:
    """The status of the guest's command or shell; raises what kept it from ending. `code` is what the emulator ended
    with, None if that says nothing. A person may have left a guest that is `attended` before its end.
    """
    text = console.replace("\r", "").replace(MARK, f"\n{MARK}")  # what was written before need not end its line
    if error := ERROR.search(text):
        raise CobnutError(error.group(1).strip())
    found = STATUS.search(text)
    rest = text[found.end() :] if found else text
    if panic := PANIC.search(rest):
        raise _explained(panic.group(1).strip(), text)
    if message := kernel_message(rest):
        raise CobnutError(f"the kernel stopped: {message}")
    if code != 0 and not found and (said := ROOT.findall(rest)):
        raise CobnutError(f"linux-root: {said[-1].strip()}")
    if code:
        raise CobnutError(f"the machine ended with code {code}, which is not how Linux switches it off")
    if found:
        return int(found.group(1))
    if not attended and POWER_DOWN not in rest:
        damaged = DAMAGED.search(text)
        why = f", which could not unpack its image: {damaged.group(1).strip()}" if damaged else ""
        raise CobnutError(f"the machine ended before Linux did{why}")
    return 0


def _explained(panic: str, text: str) -> CobnutError:
    for words, meaning in MEANINGS:
        if words.search(panic):
            if meaning == "memory":
                return CobnutError(f"Linux has too little memory (its panic: {panic})")
            damaged = DAMAGED.search(text)
            before = f"; before it: {damaged.group(1).strip()}" if damaged else ""
            return CobnutError(f"{meaning} (its panic: {panic}{before})")
    error = Panic(f"Linux panicked: {panic}")
    error.trace = text[text.rindex(panic) :].partition("\n")[2]
    return error
