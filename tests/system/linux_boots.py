# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots of Linux as a server in which its root server is told more than the command would tell it."""

from dataclasses import replace

from cobnut.emulators import Boot, bochs, qemu
from conftest import LIMIT_SECONDS


def with_root(boot: Boot, words: str) -> Boot:
    """The same with these words more for linux-root (linux/root/main.cc)."""
    sigma0, root, *rest = boot.modules
    return replace(boot, modules=(sigma0, replace(root, arguments=f"{root.arguments} {words}"), *rest))


def console_of(boot: Boot, emulator: str) -> str:
    """What it says until it ends."""
    if emulator == "bochs":
        ended = bochs.run(boot, timeout=LIMIT_SECONDS)
    else:
        ended = qemu.run(boot, timeout=LIMIT_SECONDS)
    assert not ended.timed_out, ended.console
    return ended.console.replace("\r", "")
