# SPDX-License-Identifier: GPL-2.0-or-later
"""What studies of Linux give its programs. No emulator runs."""

from cobnut.experiments import uhlig02_catwc


def test_the_text_is_the_same_each_time_and_as_long_as_it_was_asked_for():
    text = uhlig02_catwc.text(100_000)
    assert len(text) == 100_000 and text == uhlig02_catwc.text(100_000)
    assert 2_000 < text.count(b"\n") < 5_000 and max(map(len, text.split(b"\n"))) < 130
