# SPDX-License-Identifier: GPL-2.0-or-later
"""The series of patches for a board's Linux: its form, and what is said where it does not fit."""

import re

import pytest

from cobnut.errors import CobnutError
from cobnut.linux import board as board_linux
from cobnut.linux import mutants, patching
from cobnut.linux.source import Source

PATCHES = patching.series(board_linux.FASS)


@pytest.mark.parametrize("path", PATCHES, ids=lambda path: path.stem)
def test_each_patch_has_a_subject_a_reason_and_a_licence(path):
    head, _, diff = path.read_text().partition("\n---\n")
    subject, *reason = head.splitlines()
    assert re.fullmatch(r"Subject: ARM: .{1,70}", subject)
    assert len(reason) > 5 and head.endswith("SPDX-License-Identifier: GPL-2.0")
    assert diff.startswith("--- ") and all(len(line) <= 75 for line in reason)


def test_patches_touch_nothing_but_this_architecture():
    assert PATCHES and all(name.startswith("arch/arm/") for name in patching.touched(PATCHES))


def test_what_does_not_fit_is_said_in_one_line(tmp_path):
    (tmp_path / "arch" / "arm" / "mm").mkdir(parents=True)
    with pytest.raises(CobnutError, match=r"does not fit linux-source-6.1 6.1.1-1 \(.*; tried were ") as said:
        patching.apply(PATCHES[:1], tmp_path, Source("6.1.1-1", tmp_path / "archive"))
    assert "\n" not in str(said.value)


def test_each_operation_that_the_series_adds_becomes_a_choice(tmp_path):
    before = "void f(void)\n{\n\tlocal_flush_tlb_all();\n}\n"
    after = """void f(void)
{
	local_flush_tlb_all();
	if (user)
		fass_flush_caches(FASS_COLLISION);
	vivt_flush_user_range(mm, start,
			      end);
#ifndef CONFIG_ARM_FASS
	pmd_clear(entry);
#endif
}
"""
    name = "arch/arm/mm/fass.c"
    for file, text in {name: after, "arch/arm/include/asm/fass.h": mutants.DECLARED_BEHIND}.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    found = mutants.rewrite(tmp_path, {name: before})
    assert [(one.number, one.name) for one in found] == [(1, "f.fass_flush_caches"), (2, "f.vivt_flush_user_range")]
    lines = (tmp_path / name).read_text().splitlines()
    assert lines[2] == "\tlocal_flush_tlb_all();", "it was there before"
    assert lines[4] == "\t\tdo { if (fass_reaches(1)) fass_flush_caches(FASS_COLLISION); } while (0);"
    assert lines[6] == "\t\t\t      end); } while (0);", "a statement of two lines"
    assert lines[8] == "\tpmd_clear(entry);", "only for a kernel without the series"
    assert "fass_reached[3]" in (tmp_path / name).read_text()
