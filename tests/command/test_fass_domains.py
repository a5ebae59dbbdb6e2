# SPDX-License-Identifier: GPL-2.0-or-later
"""Which process loses its domain, in our Linux for ARM: the same rules as the kernel's, so its test holds both."""

import re
import subprocess
from pathlib import Path

import pytest

from cobnut import packages, paths
from cobnut.linux import board as board_linux

NAMES = ("fass_domains.h", "fass_domains.c")
KERNEL = paths.ROOT / "kernel"
# what the rules want of Linux
TYPES = """
#include_next <linux/types.h>
#include <stdbool.h>
typedef __u32 u32;
"""
OPERATIONS = """
#define BIT(n) (1U << (n))
#define hweight32(word) ((unsigned int)__builtin_popcount(word))
#define __ffs(word) ((unsigned int)__builtin_ctz(word))
"""
# The kernel's interface to its rules (kernel/domains/residents.hpp). Whose lines are in the caches is known otherwise
# in Linux, so what is asked about that is answered here.
RESIDENTS = """
#pragma once
#include "core/x2.hpp"
extern "C" {
#include "fass_domains.h"
}
namespace domains {
class Residents {
public:
    explicit Residents(Word capacity) : rules_(FASS_DOMAINS(capacity)) {}
    bool comes_back(Word loss) { return fass_domains_comes_back(&rules_, loss); }
    Word take_free(bool by_server = false) {
        Word tag = fass_domains_take(&rules_, by_server);
        dirty_ &= ~(1u << tag);
        return tag;
    }
    Word make_room(Word pinned, Word left) { return fass_domains_make_room(&rules_, pinned, left); }
    Word loss() const { return fass_domains_loss(&rules_); }
    void retire(Word tag) { fass_domains_retire(&rules_, tag); }
    void purged_translations() { fass_domains_flushed(&rules_); }
    void ran(Word tags) {
        fass_domains_ran(&rules_, tags);
        dirty_ |= tags & rules_.held;
    }
    void cleaned_caches() { dirty_ = 0; }
    bool dirty(Word tag) const { return dirty_ >> tag & 1; }

private:
    fass_domains rules_;
    Word dirty_ = 0;
};
}
"""


def added(name: str) -> str:
    """A file that the series adds, after its last patch."""
    whole = "".join(path.read_text() for path in board_linux.fast_series())
    found = re.search(rf"^\+\+\+ b/\S*/{re.escape(name)}\n@@.*\n((?:\+.*\n)+)", whole, re.MULTILINE)
    assert found, f"no patch adds {name}"
    return re.sub(r"^\+", "", found[1], flags=re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Our rules, and the kernel's test of its own compiled for them."""
    packages.ensure(packages.UNIT_TEST_TOOLS)
    folder = tmp_path_factory.mktemp("domains")
    for name in ("linux", "domains"):
        (folder / name).mkdir()
    for name in NAMES:
        (folder / name).write_text(added(name))
    (folder / "linux/types.h").write_text(TYPES)
    (folder / "linux/bitops.h").write_text(OPERATIONS)
    (folder / "domains/residents.hpp").write_text(RESIDENTS)
    options = ["-std=c++20", "-O1", "-DCOBNUT_CHECKED", f"-I{folder}", f"-I{KERNEL}", f"-I{KERNEL / 'tests'}"]
    source = KERNEL / "tests" / "residents_test.cpp"
    subprocess.run(["g++", *options, "-c", "-o", str(folder / "test.o"), str(source)], check=True)
    return folder


def said_of(folder: Path, rules: Path) -> subprocess.CompletedProcess:
    """What the kernel's test says of the rules in that file."""
    options = ["-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    subprocess.run(["gcc", *options, "-c", "-o", str(folder / "rules.o"), str(rules)], check=True)
    program, objects = folder / "tests", [str(folder / name) for name in ("test.o", "rules.o")]
    subprocess.run(["g++", "-o", str(program), *objects, "-lgtest", "-lgtest_main"], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=False)


def test_the_rules_are_the_kernels(folder):
    done = said_of(folder, folder / NAMES[1])
    passed = re.search(r"\[  PASSED  \] (\d+) tests", done.stdout)
    assert done.returncode == 0 and passed and int(passed[1]) >= 8, done.stdout


def test_another_rule_is_noticed(folder):
    right, other = "d->going_round = true;", folder / "other.c"
    assert right in added(NAMES[1])
    other.write_text(added(NAMES[1]).replace(right, "d->going_round = false;"))
    failed = set(re.findall(r"\[  FAILED  \] Residents\.(\w+)", said_of(folder, other).stdout))
    assert {"DoWhatTheModelDoes", "KeepMostOfThoseThatTakeTurns"} <= failed
