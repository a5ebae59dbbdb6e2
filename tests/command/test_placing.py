# SPDX-License-Identifier: GPL-2.0-or-later
"""Where programs of a board's Linux lie whose code processes share."""

import subprocess

import pytest

from cobnut.elf import Executable
from cobnut.errors import CobnutError
from cobnut.linux import placing
from cobnut.linux.board import COMPILER, FREESTANDING
from cobnut.linux.placing import Places

SOURCE = "const char code[{size}] = {{1}}; int data = 1, more[9]; int _start(void) {{ return code[more[0]] + data; }}"


@pytest.fixture
def program(tmp_path):
    """Links a program with so many bytes of constants."""

    def make(places: Places, name: str, size: int):
        source = tmp_path / f"{name}.c"
        source.write_text(SOURCE.format(size=size))

        def link(options):
            target = tmp_path / name
            subprocess.run([f"{COMPILER}gcc", *FREESTANDING, *options, "-o", target, source], check=True)
            return target

        return places.link(link)

    return make


def test_each_program_has_units_of_its_own(program):
    places = Places()
    sizes = {"one": 100, "two": placing.UNIT + 1, "three": 100}
    found = {name: Executable(program(places, name, size).read_bytes()).segments for name, size in sizes.items()}
    begins = {name: min(one.linear for one in parts if not one.writable) for name, parts in found.items()}
    unit = placing.UNIT
    assert begins == {"one": placing.FIRST, "two": placing.FIRST + unit, "three": placing.FIRST + 3 * unit}
    data = [one for parts in found.values() for one in parts if one.writable]
    assert len(data) == 3 and all(one.linear + one.room < 32 << 20 for one in data)


def test_a_program_without_a_place_is_refused(program):
    places = Places()
    places.next = placing.END - placing.UNIT
    with pytest.raises(CobnutError, match="too_large: there is no place left"):
        program(places, "too_large", 2 * placing.UNIT)
