# SPDX-License-Identifier: GPL-2.0-or-later
"""What a shell is offered for a word that has been begun."""

import pytest

from cobnut.experiments import all_experiments
from conftest import run_cobnut


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("cobnut re", {"record", "replay"}),
        ("cobnut run liedtke95/", {name for name in all_experiments() if name.startswith("liedtke95/")}),
        ("cobnut test long attack/", {"attack/isolation", "attack/compose"}),
        ("cobnut build --board ver", {"versatilepb"}),
        ("cobnut boot --machine pentium-", {"pentium-90", "pentium-133"}),
        ("cobnut boot hel", {"hello"}),
        ("cobnut run no/such", set()),
    ],
)
def test_a_word_is_completed(words, offered):
    done = run_cobnut(
        env={"_COBNUT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    )
    assert done.stderr == ""
    assert set(done.stdout.split()) == offered
