# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's interface, statement by statement: the program x2test, on every kind of processor and with every way
in.
"""

import re

import pytest

import guests

CASES = [
    *((on, kinds, "") for on in guests.QEMU for kinds in ("large", "small", "automatic")),
    *((guests.USUAL, kinds, option) for kinds in ("large", "small") for option in ("sysenter=off", "fastpath=off")),
    # the kernel's own choice: with slots that run out, with the area of L95's example, and with what is there to be
    # compared
    *((guests.USUAL, "automatic", option) for option in ("small=64", "small=640", "revocation=eager", "groups=off")),
    # the small-space area reaches into what is the large spaces' with a smaller one
    *((guests.USUAL, "small", option) for option in ("small=64", "small=2048")),
    (guests.Processor("qemu", "pentium,-fpu"), "small", ""),
    # an interpreter takes its time: each third by itself
    *(
        (on, kinds, f"part={k} parts=3")
        for on in guests.BOCHS
        for kinds in ("large", "small", "automatic")
        for k in (1, 2, 3)
    ),
]


@pytest.mark.parametrize(("on", "kinds", "option"), CASES, ids=lambda value: str(value) or "plain")
def test_x2test(on, kinds, option):
    limits = "limits=1" if on.emulator == "bochs" else ""  # QEMU does not enforce segment limits
    area = option.replace("small=", "area=") if option.startswith("small=") else ""
    part, option = (option, "") if option.startswith("part=") else ("", option)
    outcome = guests.boot(guests.program("x2test", f"kinds={kinds} {limits} {area} {part}"), options=option, on=on)
    failed = [line for line in outcome.console.splitlines() if line.startswith("FAIL")]
    assert not failed, "\n".join(failed)
    verdict = re.search(r"^x2test: (\d+) passed, 0 failed$", outcome.console, re.MULTILINE)
    assert verdict, outcome.console[-2000:]
    assert int(verdict.group(1)) > 30
    assert outcome.kernel_message is None
    assert outcome.code in (0, None)


def test_tags_where_the_kernel_gives_none_by_itself():
    outcome = guests.boot(guests.program("x2test", "filter=tags. automatic=0"), options="automatic=off")
    assert re.search(r"^x2test: \d+ passed, 0 failed$", outcome.console, re.MULTILINE), outcome.console[-2000:]
    assert outcome.code == 0
