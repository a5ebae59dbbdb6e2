# SPDX-License-Identifier: GPL-2.0-or-later
"""What modelling costs is said only where it can be measured."""

import pytest

from cobnut import running


@pytest.mark.parametrize(
    ("idle", "busy", "took"),
    [
        ([0.20, 0.21, 0.22, 0.21, 0.20], [0.60, 0.61, 0.62, 0.61, 0.60], 0.40),
        ([1.90, 0.21, 0.20, 0.21, 0.20], [0.60, 0.61, 0.62, 0.61, 9.00], 0.40),  # the first of a cold machine
        ([0.20, 0.40, 0.30, 0.25, 0.35], [0.30, 0.31, 0.32, 0.31, 0.30], None),  # lost in what boots alike differ by
        ([0.60, 0.60, 0.60, 0.60, 0.60], [0.60, 0.60, 0.60, 0.60, 0.60], None),
    ],
)
def test_a_difference_counts_where_boots_alike_take_about_the_same(idle, busy, took):
    assert running.round_trips(idle, busy) == (pytest.approx(took) if took else None)
