# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's interface, statement by statement: the program x2test, on every kind of processor and with every way
in.
"""

import re

import pytest

import guests

# In full: each kind of spaces by an emulator that lets the clock follow the instructions, and small ones, which lie on
# segments, where their limits are enforced, by an interpreter that takes its time: each third by itself.
WHOLE = [
    *((guests.USUAL, kinds, "", "") for kinds in guests.KINDS),
    *((guests.BOCHS[1], "small", "", third) for third in guests.THIRDS),
]
VARIATIONS = [
    (guests.BOCHS[0], "large", ""),
    (guests.BOCHS[1], "automatic", ""),
    *((on, kinds, "") for on in guests.QEMU[:2] for kinds in guests.KINDS),
    # this processor differs from the usual one in SSE, which no kind of spaces has to do with
    (guests.LIKE_USUAL, "small", ""),
    # Options, two at a time where both can matter in what the other one leads to. Without sysenter, which older
    # processors do not have, and without the fast path; with a small-space area that reaches into what is the large
    # spaces' with a smaller one.
    (guests.USUAL, "small", "sysenter=off small=2048"),
    (guests.USUAL, "small", "fastpath=off small=64"),
    (guests.USUAL, "large", "fastpath=off"),
    # the kernel's own choice: with slots that run out, so that they are taken back, with the area of L95's example, and
    # with what is there to be compared
    (guests.USUAL, "automatic", "small=64 revocation=eager"),
    (guests.USUAL, "automatic", "small=64"),
    (guests.USUAL, "automatic", "small=640 groups=off"),
    (guests.Processor("qemu", "pentium,-fpu"), "small", ""),
]
CASES = [*WHOLE, *((*case, third) for at, case in enumerate(VARIATIONS) for third in guests.thirds(at))]


@pytest.mark.parametrize(("on", "kinds", "option", "third"), CASES, ids=lambda value: str(value) or "plain")
def test_x2test(on, kinds, option, third):
    limits = "limits=1" if on.emulator == "bochs" else ""  # QEMU does not enforce segment limits
    area = " ".join(word.replace("small=", "area=") for word in option.split() if word.startswith("small="))
    what = guests.x2test(f"kinds={kinds} {limits} {area} {third}", options=option, cpu=on.cpu)
    guests.assert_passed(guests.run(what, on))


@pytest.mark.parametrize("part", ["isolation.", "small.", "tags.", "tls.", "gate.", "fast.", "answer.", "debug."])
def test_segments_where_every_call_is_by_interrupt(part):
    """What x2test does of its own with small spaces where limits are enforced; see CASES for the rest of it."""
    outcome = guests.boot(guests.program("x2test", f"filter={part} kinds=small limits=1"), on=guests.BOCHS[0])
    assert re.search(r"^x2test: [1-9]\d* passed, 0 failed$", outcome.console, re.MULTILINE), outcome.console[-2000:]
    assert outcome.kernel_message is None


def test_tags_where_the_kernel_gives_none_by_itself():
    outcome = guests.boot(guests.program("x2test", "filter=tags. automatic=0"), options="automatic=off")
    assert re.search(r"^x2test: \d+ passed, 0 failed$", outcome.console, re.MULTILINE), outcome.console[-2000:]
    assert outcome.code == 0
