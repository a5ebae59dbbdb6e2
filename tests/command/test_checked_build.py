# SPDX-License-Identifier: GPL-2.0-or-later
"""The checked kernel: how it is asked for, and what is said of a check that has failed."""

import pytest

from cobnut import boards, experiments
from cobnut.emulators import kernel_message
from cobnut.errors import CobnutError
from conftest import assert_refused

FAILED = "cobnut: check failed: !(e.*L).queued() at kernel/core/list.hpp:22, thread 000c8001\n"
FAULT = " stack f0101234\ncobnut: kernel fault 6 error 0 at f0105b82 cr2 00000000\n"


def test_it_is_built_beside_the_others():
    pc, collie = boards.find("pc"), boards.find("collie")
    assert boards.configured(pc, ["checked=on"]).kernel_folder.name == "pc-checked"
    assert boards.configured(pc, ["checked=on"]).definitions == ["-DCOBNUT_CHECKED=on"]
    assert boards.configured(pc, ["checked=on", "checked=off"]) == pc and pc.definitions == []
    both = boards.configured(collie, ["tags=off", "checked=on"])
    assert both == boards.configured(collie, ["checked=on"]).standard
    assert both.kernel_folder.name == "collie-standard-checked" and len(both.definitions) == 2


@pytest.mark.parametrize("pair", ["checked", "checked=1", "checked=", "unchecked=on", "=on"])
def test_other_values_are_refused(pair):
    with pytest.raises(CobnutError, match=f"--set {pair}: the kernel for pc is built with checked=on or checked=off"):
        boards.configured(boards.find("pc"), [pair])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "--set", "checked=yes"], ["checked=yes", "checked=on or checked=off"]),
        (["boot", "--set", "checked", "hello"], ["--set checked", "checked=on or checked=off"]),
        (["run", "sanitize/stress", "--set", "checked=1"], ["checked=1", "checked=on or checked=off"]),
        (["run", "ipc/path", "--set", "checked=on"], ["checked=on", "ipc/path measures the ordinary kernel"]),
    ],
)
def test_wrong_values_are_one_line_and_status_2(cobnut, arguments, words):
    assert_refused(cobnut(*arguments), *words)


def test_the_experiments_that_take_it():
    found = {name for name, one in experiments.all_experiments().items() if one.checkable}
    assert found == {"attack/compose", "attack/isolation", "fuzz/syscalls", "sanitize/stress"}
    for name in found:
        assert all(one.checkable for one in experiments.find(name).elsewhere)


def test_the_last_words_name_the_check():
    assert kernel_message(FAILED + FAULT) == (
        "check failed: !(e.*L).queued() at kernel/core/list.hpp:22, thread 000c8001; "
        "kernel fault 6 error 0 at f0105b82 cr2 00000000"
    )
    assert kernel_message("hello\n") is None
    assert kernel_message(FAULT) == "kernel fault 6 error 0 at f0105b82 cr2 00000000"
