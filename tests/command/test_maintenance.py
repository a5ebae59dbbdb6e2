# SPDX-License-Identifier: GPL-2.0-or-later
"""How the mutants of an ARM kernel are derived and made. No emulator runs here."""

from types import SimpleNamespace

import pytest

import listings
from cobnut import disassembly, elf
from cobnut.elf import Symbol
from cobnut.errors import CobnutError
from cobnut.experiments import maintenance, mutations_arm
from cobnut.experiments.stress_arm import Run
from cobnut.findings import Findings, Invalidation, Mark
from cobnut.modules import ELF_HEADER, PROGRAM_HEADER, PT_LOAD

LISTING = """
fff10000 <boot_start>:
fff10000:\tee070f17 \tmcr\t15, 0, r0, cr7, cr7, {0}

fff11000 <page_tables::initialise()>:
fff11000:\teb000000 \tbl\tfff12000 <caches::clean_line(void const*)>

fff12000 <caches::clean_line(void const*)>:
fff12000:\tee070f3a \tmcr\t15, 0, r0, cr7, cr10, {1}
fff12004:\tee073f9a \tmcr\t15, 0, r3, cr7, cr10, {4}

fff13000 <caches::wait_for_interrupt()>:
fff13000:\tee073f90 \tmcr\t15, 0, r3, cr7, cr0, {4}

fff14000 <enter_host>:
fff14000:\tee033f10 \tmcr\t15, 0, r3, cr3, cr0, {0}
fff14004:\tee083f17 \tmcr\t15, 0, r3, cr8, cr7, {0}\t@ all
fff14008:\te5812008 \tstr\tr2, [r1, #8]

fff15000 <page_tables::change(Space const&, unsigned int)>:
fff15000:\t1b000000 \tblne\tfff12000 <caches::clean_line(void const*)>
fff15004:\t0a000000 \tbeq\tfff16000 <host::drop_lines(Space&, unsigned int)>
fff15008:\teb000000 \tbl\tfff17000 <memory::free_page(void*)>
""".splitlines()
TEST_AND_CLEAN = """
fff12000 <caches::clean_and_invalidate_data()>:
fff12000:\tee17ff7e \tmrc\t15, 0, APSR_nzcv, cr7, cr14, {3}
fff12004:\te5d32000 \tldrb\tr2, [r3]
""".splitlines()
READS = """
fff12000 <caches::clean_and_invalidate_data()>:
fff12004:\te5d32000 \tldrb\tr2, [r3]
fff12008:\te5832000 \tstr\tr2, [r3]
""".splitlines()


@pytest.fixture
def listed(monkeypatch, tmp_path):
    def by(listing=(), source=None, symbols=()):
        file = SimpleNamespace(symbols=symbols, lines=lambda addresses: [source for _ in addresses])
        monkeypatch.setattr(disassembly, "instructions", lambda kernel: listings.instructions(list(listing)))
        monkeypatch.setattr(elf, "read", lambda kernel: file)
        return tmp_path / "kernel"

    return by


def test_operations_and_calls_are_sites(listed):
    found = {(site.name, site.instead) for site in maintenance.sites(listed(LISTING))}
    assert found == {
        ("caches::clean_line+0x0", 0xE1A00000),
        ("caches::clean_line+0x4", 0xE1A00000),
        ("enter_host+0x4", 0xE1A00000),
        ("page_tables::change+0x0", 0xE1A00000),
        ("page_tables::change+0x4", 0x01A0F00E),  # in place of a jump: return, on the same condition
    }


def test_a_loop_around_the_test_for_dirty_lines_ends(listed):
    assert [site.instead for site in maintenance.sites(listed(TEST_AND_CLEAN))] == [0xE1500000]


def test_what_cleans_by_reading_is_a_site(listed):
    assert [site.text for site in maintenance.sites(listed(READS))] == ["cleans by reading: ldrb r2, [r3]"]


def test_stores_that_were_noted_are_sites(listed):
    stores = [Mark(instruction=0xFFF14008, executed=3, cleared=0), Mark(instruction=0xFFF11000, executed=1, cleared=0)]
    assert [site.name for site in maintenance.marks(listed(LISTING), stores)] == ["enter_host+0x8"], (
        "not those of the boot"
    )


@pytest.mark.parametrize(("line", "is_site"), [("    dirty_ |= tags;", True), ("    dirty_ = 0;", False)])
def test_stores_to_fields_that_note_dirt_are_sites(listed, tmp_path, line, is_site):
    source = tmp_path / "residents.cpp"
    source.write_text(f"// one\n{line}\n")
    found = maintenance.sites(listed(LISTING, (source, 2)))
    assert [site.name for site in found if site.text.startswith("marks")] == (["enter_host+0x8"] if is_site else [])


def test_operations_are_sites_without_their_calls(listed):
    assert [site.name for site in maintenance.operations(listed(LISTING))] == [
        "caches::clean_line+0x0",
        "caches::clean_line+0x4",
        "enter_host+0x4",
    ]


@pytest.mark.parametrize(
    ("counted", "why"),
    [
        (Invalidation(instruction=1, by="CleanLine", executed=3, needed=0), "nothing left"),
        (Invalidation(instruction=1, by="DrainWriteBuffer", executed=3, needed=0), "drained again"),
        (Invalidation(instruction=1, by="InvalidateTlb(Both)", executed=3, needed=0), None),
        (Invalidation(instruction=1, by="CleanLine", executed=3, needed=1), None),
        (Mark(instruction=1, executed=3, cleared=3), "only cleared"),
        (Mark(instruction=1, executed=3, cleared=2), None),
        (None, None),
    ],
)
def test_what_had_nothing_to_do_is_not_tried(counted, why):
    said = mutations_arm.needless(counted)
    assert said is None if why is None else why in said


def test_what_is_noted_for_later_is_found_by_name(listed, tmp_path):
    offsets = tmp_path / "offsets.h"
    offsets.write_text("#define PROCESSOR_RAN 8\n")
    symbols = [
        Symbol("processor", 0xFFF26000, 0, "STT_NOTYPE", code=False, data=True),
        Symbol("_ZN4host12_GLOBAL__N_17sectionE", 0xFFF1E078, 8, "STT_OBJECT", code=False, data=True),
        Symbol("other", 0xFFF1E000, 4, "STT_OBJECT", code=False, data=True),
    ]
    assert maintenance.notes(listed(symbols=symbols), offsets) == [(0xFFF1E078, 8), (0xFFF26008, 4)]
    offsets.write_text("")
    found = maintenance.notes(listed(symbols=symbols), offsets)
    assert found == [(0xFFF1E078, 8)], "a kernel without tags has no such word"


def test_one_word_of_the_image_is_replaced(tmp_path):
    header = ELF_HEADER.pack(
        b"\x7fELF\x01\x01\x01".ljust(16, b"\0"),
        2,
        40,
        1,
        0,
        ELF_HEADER.size,
        0,
        0,
        ELF_HEADER.size,
        PROGRAM_HEADER.size,
        2,
        0,
        0,
        0,
    )
    text = PROGRAM_HEADER.pack(PT_LOAD, 0, 0xFFF10000, 0x10000, 0x100, 0x100, 5, 4)
    vectors = PROGRAM_HEADER.pack(PT_LOAD, 0, 0xFFFF0000, 0x10100, 0x20, 0x20, 5, 4)
    kernel = tmp_path / "kernel"
    kernel.write_bytes(header + text + vectors)
    image = bytes(0x120)
    changed = maintenance.without(kernel, image, maintenance.Site("", 0xFFFF0004, ""))
    assert (len(changed), changed.index(bytes.fromhex("0000a0e1"))) == (0x120, 0x104)
    with pytest.raises(CobnutError, match="no bytes of the kernel"):
        maintenance.without(kernel, image, maintenance.Site("", 0xFFF20000, ""))


def findings(*lines):
    return Findings([{"line": line} for line in lines], [], [], {"accesses": 5})


def booted(found, failure):
    return Run("fast", 1, {}, failure, found)


def test_verdicts():
    site = maintenance.Site("host::put_in+0x4", 0xFFF14004, "mcr")
    assert mutations_arm.judge_mutant(site, booted(findings("stale-tables: ..."), None)).ok
    assert mutations_arm.judge_mutant(site, booted(findings(), "wrong value")).ok
    assert not mutations_arm.judge_mutant(site, booted(findings(), None)).ok
    assert mutations_arm.judge_baseline(booted(findings(), None)).ok
    assert not mutations_arm.judge_baseline(booted(findings("old-line: ..."), None)).ok
    assert not mutations_arm.judge_baseline(booted(findings(), "does not come to its end")).ok


def test_an_operation_more_that_is_not_tried_fails():
    idle = {maintenance.Site(f"f+{n:#x}", n, "mcr", 0): "nothing left" for n in range(mutations_arm.MOST_IDLE + 1)}
    assert not mutations_arm.judge_idle(idle).ok
    idle.popitem()
    assert mutations_arm.judge_idle(idle).ok
