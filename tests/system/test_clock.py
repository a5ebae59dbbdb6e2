# SPDX-License-Identifier: GPL-2.0-or-later
"""The time of day, as the driver of the machine's clock has it."""

import re
from datetime import datetime, timedelta

import pytest

from conftest import run_cobnut

DATE = re.compile(r"^(\d+-\d+-\d+ \d+:\d+:\d+\.\d{6})$", re.MULTILINE)


def dates(*words):
    """What the system `time` says: the date three times, a second apart."""
    done = run_cobnut("boot", "time", "--seconds", "300", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return [datetime.fromisoformat(found) for found in DATE.findall(done.stdout.replace("\r", ""))]


@pytest.mark.parametrize("base", ["2024-02-29T23:59:58", "2099-12-31T23:59:58", "2100-02-28T23:59:58"])
def test_the_date_goes_on(base):
    """By the guest's own time, over the end of a month that a calendar may get wrong."""
    first, second, third = dates("--qemu-args", f"-rtc base={base},clock=vm")
    start = datetime.fromisoformat(base)
    assert start <= first < start + timedelta(hours=1), "as the machine starts"
    for earlier, later in ((first, second), (second, third)):
        # the first one is known to a second only
        assert later - earlier > timedelta(seconds=0 if earlier == first else 0.99)
    assert third.month != start.month and third < start + timedelta(hours=1)


def test_on_another_board():
    base = "2023-12-31T23:59:58"
    first, second, third = dates("--board", "versatilepb", "--qemu-args", f"-rtc base={base},clock=vm")
    assert datetime.fromisoformat(base) <= first < second < third and third.year == 2024


def test_on_bochs():
    """Its clock begins with the time of this machine."""
    first, second, third = dates("--emulator", "bochs")
    assert first < second < third
    assert abs(first - datetime.now()) < timedelta(days=2)  # whatever the zone
