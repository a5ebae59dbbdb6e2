# SPDX-License-Identifier: GPL-2.0-or-later
"""What is read of what wrk says."""

import pytest

from cobnut.errors import CobnutError
from cobnut.experiments import live

SAID = """Running 5s test @ http://127.0.0.1:40145/
  1 threads and 8 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     9.75ms    2.03ms  30.29ms   88.67%
  4108 requests in 5.01s, 1.32MB read
Requests/sec:    820.32
Transfer/sec:    269.95KB
"""
ERRORS = "  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\n"


def test_its_rate():
    assert live.read(SAID) == live.Load(820.32, 0)


def test_each_request_that_went_wrong():
    assert live.read(SAID.replace("Requests/sec", ERRORS + "Requests/sec")).errors == 15


@pytest.mark.parametrize("said", ["", "unable to connect to 127.0.0.1:1 Connection refused\n"])
def test_that_it_says_nothing(said):
    with pytest.raises(CobnutError, match="wrk said nothing of requests"):
        live.read(said)
