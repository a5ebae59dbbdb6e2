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
def linked(tmp_path):
    """Links a program with so many bytes of constants and these options."""

    def link(name: str, size: int, options):
        source, target = tmp_path / f"{name}.c", tmp_path / name
        source.write_text(SOURCE.format(size=size))
        subprocess.run([f"{COMPILER}gcc", *FREESTANDING, *options, "-o", target, source], check=True)
        return target

    return link


@pytest.fixture
def program(linked):
    """Links it to units of its own."""

    def make(places: Places, name: str, size: int, place: int = 0):
        return places.link(lambda options: linked(name, size, options), place)

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


def test_places_have_code_begin_once_in_each_set_of_a_cache():
    for sets in (8, 16, 128):
        begins = [placing.moved(place) // placing.LINE % sets for place in range(sets)]
        assert sorted(begins) == list(range(sets))
    assert max(map(placing.moved, range(200))) < placing.PAGE


@pytest.mark.parametrize("place", [0, 1, 15])
def test_in_a_place_shared_code_is_only_on_other_pages(linked, program, place):
    below, shared = (
        {
            one.name: one.address
            for one in Executable(path.read_bytes()).symbols
            if one.name in ("_start", "code", "data")
        }
        for path in (
            linked("below", 100, placing.options(placing.BELOW, place)),
            program(Places(), "shared", 100, place),
        )
    )
    assert below["_start"] == placing.BELOW + placing.moved(place)
    assert below["data"] == placing.DATA + placing.moved(place)
    other_pages = placing.FIRST - placing.BELOW
    assert shared == {"data": below["data"], **{name: below[name] + other_pages for name in ("_start", "code")}}


def test_a_program_without_a_place_is_refused(program):
    places = Places()
    places.next = placing.END - placing.UNIT
    with pytest.raises(CobnutError, match="too_large: there is no place left"):
        program(places, "too_large", 2 * placing.UNIT)
