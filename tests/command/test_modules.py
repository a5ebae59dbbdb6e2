# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules are checked before anything boots."""

import pytest

from cobnut import boards, modules
from cobnut.errors import CobnutError
from conftest import assert_refused

PC = boards.find("pc")


def hello() -> bytes:
    return PC.program("hello").read_bytes()


BAD = {
    "empty": (lambda: b"", "not an ELF"),
    "text": (lambda: b"#!/bin/sh\necho hello\n" * 100, "not an ELF"),
    "header cut": (lambda: hello()[:20], "truncated"),
    "segments cut": (lambda: hello()[:4200], "truncated"),
    "symbols cut": (lambda: hello()[:-100], "truncated"),
    "64-bit": (lambda: hello()[:4] + b"\x02" + hello()[5:], "not an ELF file for IA-32"),
    "relocatable": (lambda: hello()[:16] + b"\x01\x00" + hello()[18:], "not an ELF executable"),
    "no segments": (lambda: hello()[:44] + b"\x00\x00" + hello()[46:], "no program headers"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_module_is_refused_before_booting(cobnut, tmp_path, kind):
    make, word = BAD[kind]
    path = tmp_path / "module"
    path.write_bytes(make())
    assert_refused(cobnut("boot", str(path)), str(path), word)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(CobnutError, match="is a folder"):
        modules.parse(str(tmp_path), PC)


def test_a_name_with_arguments():
    module = modules.parse("hello small=16  loud ", PC)
    assert (module.path, module.arguments) == (PC.program("hello"), "small=16  loud")


@pytest.mark.parametrize("name", PC.programs)
def test_every_built_program_is_loadable(name):
    assert modules.elf_fault(PC.program(name).read_bytes()) is None
