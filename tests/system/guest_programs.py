# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for Linux's guests that are compiled here: those of linux/guests."""

from pathlib import Path

from conftest import ROOT, run_limited

GUESTS = ROOT / "linux" / "guests"
# SSE where a program asks for it, and floating point by the coprocessor
USUAL = ["-m32", "-O1", "-msse", "-mfpmath=387", "-w", "-pthread", "-lm"]
# one that knows the microkernel: no library of Linux's, and the user library's way to it
BARE = ["-m32", "-static", "-nostdlib", "-ffreestanding", "-O1", "-fno-pic", "-no-pie", "-fno-stack-protector", "-w"]
X2 = ["-I", "user", "-I", "user/include", "-I", "linux/root", "user/lib/ia32/syscall.S"]


def compiled(name: str, folder: Path) -> Path:
    """linux/guests/NAME.c as a static program in `folder`; as NAME-pie one that may be anywhere."""
    target = folder / name
    usual = [*USUAL, "-static-pie" if name.endswith("-pie") else "-static"]
    words = [*BARE, *X2] if name == "forger" else usual
    done = run_limited(["gcc", "-o", str(target), str(GUESTS / f"{name.removesuffix('-pie')}.c"), *words])
    assert done.returncode == 0, done.stderr
    return target
