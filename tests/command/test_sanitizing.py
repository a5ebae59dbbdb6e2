# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made of the sanitizer's findings, and how mutants are derived. No emulator runs here."""

import json

import pytest

import made_up
from cobnut import boards, sanitizing
from cobnut.errors import CobnutError
from cobnut.experiments import mutations
from cobnut.sanitizing import Findings

LISTING = """
f0100000 <boot_start>:
f0100000:\t0f 22 d8             \tmov    %eax,%cr3

f0101000 <large_to_large>:
f0101010:\t0f 22 db             \tmov    %ebx,%cr3

f0102000 <page_tables::flush_all()>:
f0102004:\t0f 22 e2             \tmov    %edx,%cr4
f0102007:\t0f 20 e0             \tmov    %cr4,%eax

f0103000 <paging::clear(Space&, unsigned int)>:
f0103004:\t0f 01 3b             \tinvlpg (%ebx)
f0103010:\tc7 00 00 00 00 00    \tmovl   $0x0,(%eax)

f0104000 <small_space::release(Space&) [clone .part.0]>:
f0104020:\tc7 00 00 00 00 00    \tmovl   $0x0,(%eax)
""".splitlines()


def findings(*lines: str) -> Findings:
    """The unchanged kernel's, or with `lines` those of a mutant."""
    return Findings(
        [{"line": line} for line in lines],
        [
            {"instruction": "0xf0102004", "symbol": "", "executed": 9, "needed": 7},
            {"instruction": "0xf0103004", "symbol": "", "executed": 5, "needed": 0},
        ],
        [
            {"instruction": "0xf0104020", "symbol": "", "directory_entries": 3, "global_bits": 0},
            {"instruction": "0xf0103010", "symbol": "", "directory_entries": 1, "global_bits": 0},
        ],
        {"accesses": 1000},
    )


def test_mutants_are_what_invalidates_and_what_takes_away():
    found = {mutant.name: mutant for mutant in mutations.derive(LISTING, [findings()])}
    assert list(found) == ["page_tables::flush_all+0x4", "paging::clear+0x4", "small_space::release+0x20"]
    assert [mutant.length for mutant in found.values()] == [3, 3, 6]
    assert found["small_space::release+0x20"].text == "clears a directory entry"


def experiment(monkeypatch, reports):
    """A run in which every mutant gives `reports`."""

    def boot(lab, kernel, cpu, *, stop_at_first=False):
        return findings(*reports) if stop_at_first else findings()

    monkeypatch.setattr(mutations, "disassembly", lambda kernel: LISTING)
    monkeypatch.setattr(mutations, "without", lambda image, mutant: b"")
    monkeypatch.setattr(mutations, "_boot", boot)
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda path: b"")
    return mutations.EXPERIMENT.run(made_up.lab(mutations.EXPERIMENT))


def test_each_mutant_that_matters_has_to_be_caught(monkeypatch):
    result = experiment(monkeypatch, ["stale"])
    names = [check.name for check in result.checks]
    assert names == ["unchanged.pentium3", "caught.page_tables::flush_all+0x4", "caught.small_space::release+0x20"]
    assert result.ok
    assert result.find("needed").y == [7, 0, 3]
    assert json.loads(result.to_json())["experiment"] == "sanitize/mutations"


def test_a_mutant_that_goes_unnoticed_fails(monkeypatch):
    assert [check.ok for check in experiment(monkeypatch, []).checks] == [True, False, False]


def test_only_the_instruction_is_removed(tmp_path):
    kernel = boards.find("pc").kernel.read_bytes()
    at = next(i for i in range(0x2000, len(kernel)) if kernel[i : i + 3] == b"\x0f\x01\x3b")
    mutant = mutations.Mutant("x", at - 0x2000 + 0xF0101000, 3, "invlpg")
    changed = mutations.without(kernel, mutant)
    assert changed[at : at + 3] == b"\x90\x90\x90"
    assert changed[:at] == kernel[:at] and changed[at + 3 :] == kernel[at + 3 :]
    with pytest.raises(CobnutError):
        mutations.without(kernel, mutations.Mutant("x", 0x1000, 3, "invlpg"))


def test_a_run_without_findings_is_an_error(tmp_path):
    with pytest.raises(CobnutError, match="no reports"):
        sanitizing.read(tmp_path / "none.json")


def test_a_guest_that_cannot_be_judged_is_an_error(tmp_path):
    out = tmp_path / "reports.json"
    out.write_text(json.dumps({"warnings": ["the guest uses PAE page tables: nothing is judged"], "reports": []}))
    with pytest.raises(CobnutError, match="PAE"):
        sanitizing.read(out)


def test_a_kernel_that_is_no_elf_file_has_no_names(tmp_path):
    kernel = tmp_path / "vmlinuz"
    kernel.write_bytes(b"MZ")
    assert "kernel" not in dict(sanitizing.plugin(kernel, tmp_path).arguments)
    assert "kernel" in dict(sanitizing.plugin(boards.find("pc").kernel, tmp_path).arguments)


def test_reports_are_counted_in_words():
    assert sanitizing.say(findings()).endswith("sanitizer: 0 reports in 1,000 accesses")
    assert sanitizing.say(findings("a", "b")).splitlines()[0] == "sanitizer: a"
    assert sanitizing.say(findings("a")).endswith("1 report in 1,000 accesses")
