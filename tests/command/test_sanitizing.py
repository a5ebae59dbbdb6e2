# SPDX-License-Identifier: GPL-2.0-or-later
"""What is made of the sanitizer's findings, and how mutants are derived. No emulator runs here."""

import dataclasses
import json

import pytest

import listings
import made_up
from cobnut import boards, sanitizing
from cobnut.errors import CobnutError
from cobnut.experiments import invalidations, maintenance, mutations, stress, stress_arm
from cobnut.experiments.invalidations import Site
from cobnut.experiments.stress import Run
from cobnut.findings import WRITTEN, Findings, read

LISTING = """
0010000c <boot_start>:
  100068:\t0f 22 d8             \tmov    %eax,%cr3

f0101000 <large_to_large>:
f0101010:\t0f 22 db             \tmov    %ebx,%cr3

f0102000 <page_tables::flush_all()>:
f0102004:\t0f 22 e2             \tmov    %edx,%cr4
f0102007:\t0f 20 e0             \tmov    %cr4,%eax

f0103000 <paging::clear(Space&, unsigned int)>:
f0103001:\t03 5e 0c             \tadd    0xc(%esi),%ebx
f0103004:\t0f 01 3b             \tinvlpg (%ebx)
f0103010:\tc7 00 00 00 00 00    \tmovl   $0x0,(%eax)

f0104000 <small_space::release(Space&) [clone .part.0]>:
f0104020:\tc7 00 00 00 00 00    \tmovl   $0x0,(%eax)

f0105000 <coprocessor::initialise()>:
f0105000:\t0f 22 e0             \tmov    %eax,%cr4

f0106000 <arch::destroy_space(Space&)>:
f0106000:\t0f 22 d8             \tmov    %eax,%cr3

f0107000 <small_space::(anonymous namespace)::enter_slot(Space&)>:
f0107002:\te8 f9 ff ff ff       \tcall   f0104000 <small_space::release(Space&) [clone .part.0]>
f0107007:\te8 f9 ff ff ff       \tcall   f0108000 <memory::free_page(void*)>

f0108000 <arch::give_tag(Space&)>:
f0108002:\te9 f9 ff ff ff       \tjmp    f0107000 <small_space::(anonymous namespace)::enter_slot(Space&)>
""".splitlines()


def code(listing):
    return [one for one in listings.instructions(listing) if one.address >= invalidations.KERNEL_BASE]


def findings(*lines: str) -> Findings:
    """The unchanged kernel's, or with `lines` those of a mutant."""
    return WRITTEN.validate_python(
        {
            "reports": [{"line": line} for line in lines],
            "invalidations": [
                {
                    "instruction": "0xf0101010",
                    "symbol": "large_to_large+0x10",
                    "executed": 8,
                    "effective": 8,
                    "needed": 0,
                },
                {
                    "instruction": "0xf0102004",
                    "symbol": "page_tables::flush_all+0x4",
                    "executed": 900_000,
                    "effective": 9,
                    "needed": 7,
                },
                {
                    "instruction": "0xf0103004",
                    "symbol": "paging::clear+0x4",
                    "executed": 5,
                    "effective": 5,
                    "needed": 2,
                },
                {
                    "instruction": "0xf0105000",
                    "symbol": "coprocessor::initialise",
                    "executed": 1,
                    "effective": 0,
                    "needed": 0,
                },
            ],
            "erasures": [
                {"instruction": "0xf0104020", "symbol": "", "directory_entries": 3, "global_bits": 0},
                {"instruction": "0xf0103010", "symbol": "", "directory_entries": 1, "global_bits": 0},
            ],
            "counts": {"accesses": 2_000_000_000, "late_rights": 0, "page_faults": 900_000, "losses": 900_000},
        }
    )


COUNTERS = {name: 200_000 for name in stress.LEAST} | {"faults": 100_000, "promotions": 100_000}


def made_up_run(found: Findings, failure: str | None = None) -> Run:
    return Run("pentium3", 1, 512, {} if failure else COUNTERS, failure, found)


def test_mutants_are_what_invalidates_takes_away_and_relocates():
    found = {mutant.name: mutant for mutant in mutations.derive(code(LISTING), {"pentium3": findings()})}
    assert list(found) == [
        "large_to_large+0x10",
        "page_tables::flush_all+0x4",
        "unrelocated.paging::clear+0x1",
        "paging::clear+0x4",
        "small_space::release+0x20",
        "coprocessor::initialise+0x0",
        "arch::destroy_space+0x0",
        "uncalled.small_space::enter_slot+0x2",
        "uncalled.arch::give_tag+0x2",
    ]
    assert [mutant.site.length for mutant in found.values()] == [3, 3, 3, 3, 6, 3, 3, 5, 5]
    assert [name for name, mutant in found.items() if mutant.site.leaves] == ["uncalled.arch::give_tag+0x2"]
    assert found["small_space::release+0x20"].site.text == "clears a directory entry"
    assert found["unrelocated.paging::clear+0x1"].seen.needed == 2
    assert found["arch::destroy_space+0x0"].seen.executed == 0


def experiment(monkeypatch, reports, failure=None, **settings):
    """A run in which every mutant gives `reports`, or fails."""

    def boot(lab, kernel, machine, *, mutant=None, most=None):
        return made_up_run(findings(*reports), failure) if mutant else made_up_run(findings())

    monkeypatch.setattr(invalidations, "code_of", lambda kernel: code(LISTING))
    monkeypatch.setattr(mutations, "without", lambda image, site: b"")
    monkeypatch.setattr(mutations, "_boot", boot)
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda path: b"")
    return mutations.EXPERIMENT.run(made_up.lab(mutations.EXPERIMENT, quick=False, **settings))


def verdicts(result):
    return {check.name: check.ok for check in result.checks}


def test_each_mutant_has_to_be_caught(monkeypatch):
    found = verdicts(experiment(monkeypatch, ["stale"]))
    assert all(found.pop(f"unchanged.{machine}") for machine in mutations.MACHINES)
    # what changes nothing is no invalidation; what is never executed is not judged, and so not caught
    assert found.pop("idle")
    assert not found.pop("caught.arch::destroy_space+0x0") and not found.pop("caught")
    assert len(found) == 7 and all(found.values())


def test_a_run_that_fails_catches_a_mutant(monkeypatch):
    result = experiment(monkeypatch, [], failure="hangs")
    check = next(check for check in result.checks if check.name == "caught.large_to_large+0x10")
    assert check.ok and check.why.endswith("hangs") and check.unit == "failed runs"
    assert json.loads(result.to_json())["experiment"] == "sanitize/mutations"


def test_a_mutant_that_goes_unnoticed_fails(monkeypatch):
    found = verdicts(experiment(monkeypatch, [], most=2))
    assert [found["caught.large_to_large+0x10"], found["caught.page_tables::flush_all+0x4"]] == [False, False]


def test_only_the_instruction_is_removed():
    kernel = boards.find("pc").kernel.read_bytes()
    at = next(i for i in range(0x2000, len(kernel)) if kernel[i : i + 3] == b"\x0f\x01\x3b")
    site = Site("x", at - 0x2000 + 0xF0101000, 3, "invlpg")
    changed = mutations.without(kernel, site)
    assert changed[at : at + 3] == b"\x90\x90\x90"
    assert changed[:at] == kernel[:at] and changed[at + 3 :] == kernel[at + 3 :]
    assert mutations.without(kernel, dataclasses.replace(site, leaves=True))[at : at + 3] == b"\xc3\x90\x90"
    with pytest.raises(CobnutError):
        mutations.without(kernel, Site("x", 0x1000, 3, "invlpg"))


def stressed(monkeypatch, listing, failure=None):
    monkeypatch.setattr(invalidations, "code_of", lambda kernel: code(listing))
    monkeypatch.setattr(stress, "boot", lambda *args, **kwargs: made_up_run(findings(), failure))
    return verdicts(stress.EXPERIMENT.run(made_up.lab(stress.EXPERIMENT, quick=False)))


def test_stress_wants_every_invalidation_executed(monkeypatch):
    found = stressed(monkeypatch, LISTING)
    assert [name for name, ok in found.items() if not ok] == ["never_executed"]
    reached = LISTING[: LISTING.index("f0106000 <arch::destroy_space(Space&)>:")]
    assert all(stressed(monkeypatch, reached).values())


def test_stress_believes_no_run_that_failed(monkeypatch):
    found = stressed(monkeypatch, LISTING, failure="space 1 reads 0")
    assert not found["wrong.seed1.pentium3"] and not found["unmaps"]


def test_a_run_without_findings_is_an_error(tmp_path):
    with pytest.raises(CobnutError, match="no reports"):
        read(tmp_path / "none.json")


WHOLE: dict = {"reports": [], "invalidations": [], "erasures": [], "counts": {"accesses": 1}, "warnings": []}


def test_a_guest_that_cannot_be_judged_is_an_error(tmp_path):
    out = tmp_path / "reports.json"
    out.write_text(json.dumps(WHOLE | {"warnings": ["the guest uses PAE page tables: nothing is judged"]}))
    with pytest.raises(CobnutError, match="PAE"):
        read(out)


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"reports": [{"kind": "stale-copy"}]}, "reports.0.line"),
        ({"counts": {"accesses": "many"}}, "counts.accesses"),
        ({"invalidations": [{"instruction": "0xf0101010", "executed": 1}]}, "invalidations.0.needed"),
        ({"invalidations": [{"instruction": "here", "executed": 1, "needed": 1}]}, "invalidations.0.instruction"),
    ],
)
def test_findings_that_are_not_what_they_must_be_are_an_error(tmp_path, changed, where):
    out = tmp_path / "reports.json"
    out.write_text(json.dumps(WHOLE))
    assert read(out).counts == {"accesses": 1}
    out.write_text(json.dumps(WHOLE | changed))
    with pytest.raises(CobnutError, match=f"cannot be read: {where}"):
        read(out)
    out.write_text("{")
    with pytest.raises(CobnutError, match="cannot be read"):
        read(out)


def test_a_kernel_that_is_no_elf_file_has_no_names(tmp_path):
    kernel = tmp_path / "vmlinuz"
    kernel.write_bytes(b"MZ")
    assert "kernel" not in dict(sanitizing.plugin(kernel, tmp_path).arguments)
    assert "kernel" in dict(sanitizing.plugin(boards.find("pc").kernel, tmp_path).arguments)


def test_reports_are_counted_in_words():
    assert sanitizing.say(findings()).endswith("sanitizer: 0 reports in 2,000,000,000 accesses")
    assert sanitizing.say(findings("a", "b")).splitlines()[0] == "sanitizer: a"
    assert sanitizing.say(findings("a")).endswith("1 report in 2,000,000,000 accesses")


def arm_runs(*, reports=0, failure=None, least=1.0):
    counters = {name: int(wanted * least) for name, (wanted, _) in (stress_arm.LEAST | stress_arm.OF_TAGS).items()}
    recycled = {
        "instruction": "0xfff1b000",
        "symbol": "host::make_room+0x8",
        "executed": int(stress_arm.RECYCLINGS[0] * least),
        "needed": 0,
    }
    findings = Findings([{"line": "stale"}] * reports, [recycled], [], {"accesses": 1})
    standard = {name: 0 for name in counters}
    return [
        stress_arm.Run("fast", 1, counters, failure, findings),
        stress_arm.Run("standard", 2, standard, None, findings),
    ]


def arm_verdicts(runs):
    checks = [check for each in runs for check in stress_arm.judge_run(each)]
    checks += stress_arm.judge_amounts(runs, quick=False)
    return {check.name: check.ok for check in checks}


def test_stress_on_arm_wants_no_report_no_failure_and_enough():
    assert all(arm_verdicts(arm_runs()).values())
    assert not arm_verdicts(arm_runs(reports=1))["reports.seed1.fast"]
    assert not arm_verdicts(arm_runs(failure="space 1 reads 0"))["wrong.seed1.fast"]
    few = arm_verdicts(arm_runs(least=0.5))
    assert not any(few[name] for name in [*stress_arm.LEAST, *stress_arm.OF_TAGS, "recyclings"])


def test_stress_on_arm_wants_each_operation_executed():
    sites = [
        maintenance.Site(name, address, "mcr")
        for name, address in (("host::make_room+0x8", 0xFFF1B000), ("host::purge+0x4", 0xFFF1C000))
    ]
    assert stress_arm.judge_coverage("fast", sites[:1], arm_runs()).ok
    assert "host::purge+0x4" in stress_arm.judge_coverage("fast", sites, arm_runs()).why
    assert not stress_arm.judge_coverage("standard", sites[1:], arm_runs()).ok


def test_a_mutant_more_that_is_not_tried_fails():
    found = mutations.derive(code(LISTING), {"pentium3": findings()})
    idle = [mutant for mutant in found if mutant.name == "coprocessor::initialise+0x0"]
    assert mutations.judge_idle(idle).ok and not mutations.judge_idle(idle * 2).ok
