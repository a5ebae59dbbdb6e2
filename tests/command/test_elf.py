# SPDX-License-Identifier: GPL-2.0-or-later
"""What is read from executables: names, lines and instructions, on the kernel that is built."""

import os
import shutil
import subprocess

import pytest

from cobnut import boards, disassembly, elf
from cobnut.boards import ARM, IA32
from cobnut.errors import CobnutError

PC = boards.find("pc")


@pytest.mark.parametrize(
    ("mangled", "whole", "alone"),
    [
        ("sysenter_fast", "sysenter_fast", "sysenter_fast"),
        ("_ZN4host16drop_translationEj", "host::drop_translation(unsigned int)", "host::drop_translation"),
        ("_ZNK5Space2atEi", "Space::at(int) const", "Space::at"),
        (
            "_ZN12_GLOBAL__N_113access_sharedILb0EEEjR5Spacej",
            "unsigned int (anonymous namespace)::access_shared<false>(Space&, unsigned int)",
            "(anonymous namespace)::access_shared<false>",
        ),
        ("_ZN5SpaceclEi", "Space::operator()(int)", "Space::operator()"),
        ("_ZN4host7sectionE", "host::section", "host::section"),
    ],
)
def test_names_are_as_people_write_them(mangled, whole, alone):
    assert elf.demangled(mangled) == whole and elf.without_parameters(whole) == alone


def test_a_clone_goes_by_the_name_of_what_it_was_made_from():
    assert elf.without_parameters("small_space::release(Space&) [clone .part.0]") == "small_space::release"


def test_what_is_no_executable_is_said_so(tmp_path):
    (tmp_path / "x").write_bytes(b"\x7fELF")
    with pytest.raises(CobnutError, match="x: not an ELF file"):
        elf.read(tmp_path / "x")


@pytest.mark.skipif(not shutil.which("addr2line"), reason="has nothing to compare with")
def test_source_lines_are_those_of_addr2line():
    # of a program: what is compiled as a whole, as the kernel is, addr2line takes for one file of no name
    program = PC.program("x2test")
    executable = elf.read(program)
    functions = [one.address for one in executable.symbols if one.code and one.type == "STT_FUNC"][::20]
    asked = [hex(address) for address in functions]
    said = subprocess.run(
        ["addr2line", "-e", str(program), *asked], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(functions) > 10
    for place, words in zip(executable.lines(functions), said, strict=True):
        path, line = place
        file, _, number = words.partition(" (discriminator")[0].rpartition(":")
        assert (os.path.normpath(file), int(number)) == (str(path), line)


def test_every_instruction_of_the_kernel_has_a_function_and_a_place():
    code = disassembly.instructions(PC.kernel)
    assert len(code) > 10_000 and all(one.function and one.code for one in code)
    assert [one.address for one in code] == sorted({one.address for one in code})
    flushes = {one.function for one in code if "cr3" in one.writes}
    assert any(name.startswith("enter_for_large") for name in flushes)
    assert any(one.returns and one.goes_to and one.goes_to.startswith("paging::") for one in code)


def one_of(processor, code: str):
    [found] = disassembly.decode(processor, {0x1000: "f(int)", 0x2000: "g()"}, 0x1004, bytes.fromhex(code))
    assert found.name == "f+0x4"
    return found


def test_instructions_of_ia32():
    assert one_of(IA32, "0f22d8").writes == {"cr3"}
    assert one_of(IA32, "0f20e0").writes == {"eax"}, "a read of CR4 is no write of it"
    assert one_of(IA32, "0f013b").mnemonic == "invlpg"
    assert one_of(IA32, "e8f70f0000").goes_to == "g()" and one_of(IA32, "e8f70f0000").returns
    assert one_of(IA32, "e9f70f0000").goes_to == "g()" and not one_of(IA32, "e9f70f0000").returns
    assert one_of(IA32, "e8f80f0000").goes_to is None, "in its middle"
    assert one_of(IA32, "0f84f60f0000").goes_to is None, "on a condition"


def test_instructions_of_arm():
    assert one_of(ARM, "3a0f07ee").coprocessor == (15, 7, 10)
    assert one_of(ARM, "7eff17ee").writes == {"apsr_nzcv"}
    assert one_of(ARM, "fd03001b").goes_to == "g()" and one_of(ARM, "fd03001b").returns
    assert one_of(ARM, "fd03000a").goes_to == "g()" and not one_of(ARM, "fd03000a").returns
    assert one_of(ARM, "0020d3e5").base == "r3" and one_of(ARM, "08109fe5").base == "pc"
