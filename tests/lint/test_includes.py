# SPDX-License-Identifier: GPL-2.0-or-later
"""Which of the kernel's folders may include which (kernel/README.md). What core/ and the rules know of a processor are
the headers that each port puts into its arch/.
"""

import re

import pytest
import sources

from cobnut import paths

KERNEL = paths.ROOT / "kernel"
CORE, PORT = {"core", "arch"}, {"core", "arch", "boot"}
MAY_INCLUDE = {
    "core": CORE,
    "boot": {*CORE, "boot"},
    "slots": {*CORE, "slots"},
    "domains": {"core", "domains"},
    "ia32": {*PORT, "ia32", "slots"},
    "pc": {*PORT, "ia32", "pc", "slots"},
    "arm": {*PORT, "arm", "domains"},
    "collie": {*PORT, "arm", "collie"},
    "versatilepb": {*PORT, "arm", "versatilepb"},
}


def included(folder: str) -> set[str]:
    """The other folders that files of `folder` include."""
    texts = (path.read_text() for path in (KERNEL / folder).rglob("*") if path.suffix in sources.CXX | {".S"})
    return {found for text in texts for found in re.findall(r'^#include "([a-z0-9]+)/', text, re.MULTILINE)}


def test_all_folders_are_known():
    folders = {path.name for path in KERNEL.iterdir() if path.is_dir()}
    assert folders - {"gdb", "tests", "__pycache__"} == set(MAY_INCLUDE)


@pytest.mark.parametrize("folder", MAY_INCLUDE)
def test_a_folder_includes_only_what_is_below_it(folder):
    assert included(folder) <= MAY_INCLUDE[folder]


def test_what_spaces_keep_for_the_rules_includes_no_space():
    # core/space.hpp includes arch/paging.hpp, which includes these
    for header in ("slots/state.hpp", "slots/area.hpp"):
        found = re.findall(r'^#include "(.+)"', (KERNEL / header).read_text(), re.MULTILINE)
        assert set(found) <= {"core/check.hpp", "core/list.hpp", "core/x2.hpp"}
