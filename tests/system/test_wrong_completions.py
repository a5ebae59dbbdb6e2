# SPDX-License-Identifier: GPL-2.0-or-later
"""A driver of a network card that completes frames wrongly, or whose card never stops to interrupt, harms nobody."""

import promises
import pytest

from cobnut import systems
from conftest import run_cobnut

# the guest's time goes by instructions, however busy this machine is
EMULATORS = {"qemu": ("--qemu-args", "-icount shift=2,sleep=off"), "bochs": ("--emulator", "bochs")}


@pytest.mark.parametrize("emulator", EMULATORS)
def test_what_is_wrong_is_refused_and_the_rest_goes_on(emulator):
    done = run_cobnut("boot", "linktest", "--net", "--seconds", "600", *EMULATORS[emulator])
    checks = promises.checked(done.stdout)
    words = systems.load("linktest").description.program["linkchecks"].arguments.split()[1:]
    assert promises.broken(checks) == [], done.stdout
    for kind in ("frames.with.", "served.beside."):
        assert [name for name, _ in checks if name.startswith(kind)] == [f"{kind}{word}" for word in words]
    assert "linkchecks: 0 failed" in done.stdout and done.returncode == 0
