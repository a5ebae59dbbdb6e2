# SPDX-License-Identifier: GPL-2.0-or-later
"""What the network costs, in the short form of its experiments: frames of a script, by a second card."""

import json

import pytest

from conftest import run_cobnut


@pytest.mark.parametrize("experiment", ["uhlig02/table4", "net/ping"])
def test_a_ping_is_the_same_to_the_digit(tmp_path, experiment):
    """And each of its checks is met, or missed for the reason that is known."""
    found = []
    for name in ("one", "two"):
        file = tmp_path / f"{name}.json"
        done = run_cobnut("run", experiment, "--quick", "--set", "rounds=4", "--json", str(file))
        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads(file.read_text())
        found.append((result["series"], result["ledger"]))
    assert found[0] == found[1]


def test_a_page_over_one_connection_and_over_its_own():
    done = run_cobnut("run", "net/http", "--quick", "--set", "rounds=4")
    assert done.returncode == 0, done.stdout + done.stderr
