# SPDX-License-Identifier: GPL-2.0-or-later
"""A driver of a network card that completes frames wrongly, or whose card never stops to interrupt, harms nobody; and a
card uses memory by itself only when its driver, which has reset it, asks for that.
"""

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


MASTERS = """
description = "A card that is given a frame to send before its driver asks for memory, and after"
ends_with = "keeper"
program.masterchecks = { device = "8086:100e", dma = true, start = false }
program.keeper = { uses = ["programs"], arguments = "masterchecks", space = { mb = 8 } }
"""


def test_a_card_uses_memory_when_its_driver_asks_in_each_of_its_starts(tmp_path):
    """It still has the addresses of the last start, whose memory is others' by now. Bochs ignores the bus's switch."""
    system = tmp_path / "masters.toml"
    system.write_text(MASTERS)
    done = run_cobnut("boot", str(system), "--net", "--seconds", "300", *EMULATORS["qemu"])
    checks = promises.checked(done.stdout)
    assert promises.broken(checks) == [], done.stdout
    assert [name for name, _ in checks if name.startswith("master.")] == 2 * [
        "master.not_before_its_driver_asks",
        "master.when_it_has_asked",
    ]
    assert done.returncode == 0, done.stdout + done.stderr
