# SPDX-License-Identifier: GPL-2.0-or-later
"""Descriptions of systems: what is wrong in one is one line, and what init is told of one that is right."""

import os
import tarfile
from pathlib import Path

import pytest

from cobnut import boards, systems
from cobnut.errors import CobnutError
from conftest import assert_refused, run_cobnut

PC, ARM = boards.find("pc"), boards.find("versatilepb")
RIGHT = """
description = "made up"
ends_with = "user"
[files]
text = "text.txt"
[program.user]
uses = ["echo", "programs"]
files = ["text"]
arguments = "a b"
space = "large"
[program.driver]
file = "adder"
provides = ["echo"]
ports = ["0x3f8-0x3ff", "0x60"]
interrupts = [4, 5]
device = "10ec:8029"
space = { mb = 4, at_mb = 60 }
restart = true
priority = 120
"""


def read(tmp_path: Path, text: str = RIGHT) -> systems.System:
    (tmp_path / "text.txt").write_text("text")
    return systems.check("made", tmp_path, text)


def test_programs_start_behind_those_that_they_use(tmp_path):
    assert read(tmp_path).order == ["driver", "user"]


def test_what_init_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(systems.System, "_file", lambda self, file, board: tmp_path / "text.txt")
    monkeypatch.setattr(systems.modules, "check", lambda module, processor: None)
    monkeypatch.setattr(boards.Board, "program", lambda self, name: tmp_path / "text.txt")
    init, driver, user, file = read(tmp_path).modules(PC, 64)
    assert init.arguments == "" and file.arguments == "file=text"
    assert driver.arguments == (
        "name=driver priority=120 memory=256 stack=4 provides=echo ports=0x3f8-0x3ff+0x60-0x60 lines=4+5"
        " device=0x802910ec dma=0 slot=4@60 restart=1 start=1 ends=0"
    )
    assert user.arguments.endswith("uses=echo+programs files=text slot=large restart=0 start=1 ends=1 -- a b")


BOTH = """
description = "made up"
ends_with = "driver"
[program.driver]
priority = 120
on.pc = { ports = ["0x3f8-0x3ff"], interrupts = [4] }
on.versatilepb = { registers = ["0x101f2000-0x101f2fff", "0x10200000-0x103fffff"], interrupts = [13] }
"""
OTHER = """
[program.other]
on.versatilepb = { registers = ["0x10300000-0x10300fff"] }
"""


def test_a_driver_has_devices_of_each_board(tmp_path, monkeypatch):
    monkeypatch.setattr(systems.System, "_file", lambda self, file, board: tmp_path / "text.txt")
    monkeypatch.setattr(systems.modules, "check", lambda module, processor: None)
    monkeypatch.setattr(boards.Board, "program", lambda self, name: tmp_path / "text.txt")
    system = read(tmp_path, BOTH)
    told = [system.modules(board, 64)[1].arguments for board in (PC, ARM)]
    assert " ports=0x3f8-0x3ff lines=4 " in told[0] and "registers" not in told[0]
    assert " registers=0x101f2000-0x101f2fff+0x10200000-0x103fffff lines=13 " in told[1] and "ports" not in told[1]


@pytest.mark.parametrize(
    ("change", "board", "complaint"),
    [
        (("priority = 120", 'ports = ["0x60"]'), ARM, "program.driver.ports: board versatilepb has no I/O ports"),
        (("priority = 120", 'device = "8086:7010"'), ARM, "program.driver.device: board versatilepb has no I/O ports"),
        (("priority = 120", 'space = "large"'), ARM, "program.driver.space: on board versatilepb the kernel chooses"),
        (
            ("priority = 120", "space = { mb = 4 }"),
            ARM,
            "program.driver.space: on board versatilepb the kernel chooses",
        ),
        (("on.pc", 'on.pc = { registers = ["0xa0000-0xa0fff"] }\non.collie'), PC, "on.collie."),
        (("{ ports", '{ registers = ["0xa0000-0xa0fff"], ports'), PC, "registers: board pc has devices in I/O ports"),
        (("0x101f2000-0x101f2fff", "0x2000-0x2fff"), ARM, "registers: 0x2000: board versatilepb has its devices else"),
        (("0x101f2000-0x101f2fff", "0x101f2000-0x101f27ff"), ARM, "registers: 0x101f2000: not a power of two"),
        (("0x101f2000-0x101f2fff", "0x101f3000-0x101f4fff"), PC, "driver.registers: 0x101f3000: "),
        (("0x101f2000-0x101f2fff", "0x101f2000-0x101f4fff"), ARM, "driver.registers: 0x101f2000: not a power of two"),
        (("0x101f2000-0x101f2fff", "0x10000000-0x11ffffff"), ARM, "driver.registers: 0x10000000: not a power of two"),
        (("[4]", "[16]"), PC, "program.driver.interrupts: 16: board pc has 0 to 15"),
        (("[13]", "[31], framebuffer_kb = 1024"), ARM, "driver.framebuffer_kb: is for a device with dma"),
        (("priority = 120", "framebuffer_kb = 1024\ndma = true"), PC, "dma: there is no device that could use memory"),
        (
            ("on.pc = { ports", 'on.pc = { device = "8086:7010", dma = true, framebuffer_kb = 1024, ports'),
            PC,
            "er_kb: board pc",
        ),
        (("[13] }\n", "[13] }\n" + OTHER), ARM, "program.other.registers: 0x10300000 is driver's"),
    ],
)
def test_what_a_board_does_not_have_is_one_line(tmp_path, change, board, complaint):
    assert change[0] in BOTH
    with pytest.raises(CobnutError) as raised:
        read(tmp_path, BOTH.replace(*change)).check_board(board)
    assert complaint in str(raised.value) and "\n" not in str(raised.value)


CARDS = """
description = "made up"
ends_with = "user"
[program.user]
uses = ["nic"]
[program.one]
provides = ["nic"]
on.pc = { device = "10ec:8029" }
[program.other]
provides = ["nic"]
on.versatilepb = { registers = ["0x10010000-0x1001ffff"], interrupts = [25], framebuffer_kb = 1024, dma = true }
"""


def test_a_program_is_on_the_boards_that_it_names(tmp_path, monkeypatch):
    monkeypatch.setattr(systems.System, "_file", lambda self, file, board: tmp_path / "text.txt")
    monkeypatch.setattr(systems.modules, "check", lambda module, processor: None)
    monkeypatch.setattr(boards.Board, "program", lambda self, name: tmp_path / "text.txt")
    system = read(tmp_path, CARDS)
    told = [[module.arguments for module in system.modules(board, 64)] for board in (PC, ARM)]
    assert [[text.split()[0] for text in all_of[1:]] for all_of in told] == [
        ["name=one", "name=user"],
        ["name=other", "name=user"],
    ]
    assert " lines=25 framebuffer=256 dma=1 restart" in told[1][1]


@pytest.mark.parametrize(
    ("change", "board", "complaint"),
    [
        (("on.versatilepb", "on.pc"), PC, "program.one.provides: 'nic' is provided by other, too"),
        (("on.pc = {", "on.pc = {}\non.versatilepb = {"), PC, "program.one.provides: 'nic' is provided by other, too"),
        (("on.pc = { device", "device"), PC, "program.one.provides: 'nic' is provided by other, too"),
        (('["nic"]\non.pc', "[]\non.pc"), PC, "program.user.uses: on board pc no program provides 'nic'"),
        (('uses = ["nic"]', "on.pc = {}"), ARM, "user.on: the system ends with it, and board versatilepb is none"),
    ],
)
def test_a_service_has_one_provider_on_a_board(tmp_path, change, board, complaint):
    assert change[0] in CARDS
    text = CARDS.replace(*change).replace('"10ec:8029" }', '"10ec:8029"') if "device" in change[1] else None
    with pytest.raises(CobnutError) as raised:
        read(tmp_path, text or CARDS.replace(*change)).check_board(board)
    assert complaint in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('ends_with = "user"', ""), "ends_with: is missing"),
        (('ends_with = "user"', 'ends_with = "nobody"'), "ends_with: there is no program 'nobody'"),
        (("restart = true", "restrat = true"), "program.driver.restrat: unknown word"),
        (("priority = 120", "priority = 300"), "program.driver.priority: "),
        (("mb = 4,", "mb = 5,"), "program.driver.space.mb: "),
        (('uses = ["echo"', 'uses = ["ohce"'), "program.user.uses: no program provides 'ohce'"),
        (('files = ["text"]', 'files = ["txet"]'), "program.user.files: there is no 'txet'"),
        (('"text.txt"', '"no.txt"'), "files.text: there is no file or folder no.txt"),
        (('"text.txt"', '"font:99"'), "files.text: a font has 12 to 32 lines"),
        (('provides = ["echo"]', 'provides = ["echo"]\nuses = ["echo"]'), "a circle of needs: driver -> driver"),
        (('provides = ["echo"]', 'provides = ["echo", "programs"]'), "'programs' is provided by init, too"),
        (("[program.driver]", '[program.user2]\nports = ["0x60"]\n[program.driver]'), "ports: 0x60 is user2's"),
        (("[program.driver]", "[program.user2]\ninterrupts = [4]\n[program.driver]"), "interrupts: 4 is user2's"),
        (('"0x60"', '"0x60-0x50"'), "a range ends before it begins"),
        (('"0x60"', '"0xcf8-0xcff"'), "ports: 0xcf8 is init's"),
        (('"10ec:8029"', '"ne2000"'), "program.driver.device: "),
        (("[program.driver]", '[program.user2]\ndevice = "10ec:8029"\n[program.driver]'), "10ec:8029 is user2's"),
        (("[program.driver]", "[program.user2]\ndma = true\n[program.driver]"), "there is no device that could use"),
        (("[files]", "[files"), "at line"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, change, complaint):
    assert change[0] in RIGHT
    with pytest.raises(CobnutError) as raised:
        read(tmp_path, RIGHT.replace(*change))
    assert complaint in str(raised.value) and "\n" not in str(raised.value)


def test_a_circle_of_several_is_named(tmp_path):
    text = RIGHT.replace("restart = true", 'uses = ["third"]').replace(
        "[files]", '[program.three]\nprovides = ["third"]\nuses = ["fourth"]\n[files]'
    )
    text += '\n[program.four]\nprovides = ["fourth"]\nuses = ["echo"]\n'
    with pytest.raises(CobnutError, match="three -> four -> driver -> three"):
        read(tmp_path, text)


def test_too_little_memory_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(systems.System, "_file", lambda self, file, board: tmp_path / "text.txt")
    monkeypatch.setattr(systems.modules, "check", lambda module, processor: None)
    monkeypatch.setattr(boards.Board, "program", lambda self, name: tmp_path / "text.txt")
    system = read(tmp_path, RIGHT.replace("priority = 120", "memory_kb = 60000"))
    with pytest.raises(CobnutError, match=r"needs 62,05\d KB .* 64 MB leave 49,152 KB"):
        system.modules(PC, 64)
    assert system.modules(PC, 128)


def test_more_than_the_kernel_has_room_for_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(systems.System, "_file", lambda self, file, board: tmp_path / "text.txt")
    monkeypatch.setattr(systems.modules, "check", lambda module, processor: None)
    monkeypatch.setattr(boards.Board, "program", lambda self, name: tmp_path / "text.txt")
    many = "".join(f"[program.more{number}]\n" for number in range(27))
    assert read(tmp_path, RIGHT + many).modules(PC, 256)  # beside two programs and a file
    with pytest.raises(CobnutError, match="more than 30 programs and files together"):
        read(tmp_path, RIGHT + many + "[program.another]\n")
    long = "".join(f'[program.more{number}]\narguments = "{"x" * 1000}"\n' for number in range(4))
    with pytest.raises(CobnutError, match=r"described in 4,\d\d\d bytes, 3,900 at most"):
        read(tmp_path, RIGHT + long).modules(PC, 256)


def test_a_name_that_is_both_is_refused(cobnut, tmp_path):
    (tmp_path / "basic").write_text("")
    assert_refused(run_cobnut("boot", "basic", cwd=tmp_path), "basic: is a system and a module, too")
    assert_refused(cobnut("boot", "basic", "hello"), "basic: is a system, which brings all its modules")
    assert_refused(cobnut("boot", "basic", "--root", "hello"), "--root: basic is a system")
    assert_refused(cobnut("boot", "basic", "--board", "collie"), "systems do not run on board collie yet")
    assert_refused(cobnut("boot", "none/of.toml"), "system none/of.toml: no such file")


@pytest.mark.parametrize("name", list(systems.known()))
def test_ours_are_right(name):
    assert systems.load(name).order


def folder(tmp_path: Path) -> systems.System:
    return read(tmp_path, RIGHT.replace('"text.txt"', '"site"'))


def test_a_folder_is_packed_the_same_for_the_same_files(tmp_path, monkeypatch):
    monkeypatch.setattr(systems.System, "_file", lambda self, file, board: tmp_path / "text.txt")
    monkeypatch.setattr(systems.modules, "check", lambda module, processor: None)
    monkeypatch.setattr(boards.Board, "program", lambda self, name: tmp_path / "text.txt")
    monkeypatch.setattr(boards.Board, "folder", tmp_path / "build")
    (tmp_path / "site/sub").mkdir(parents=True)
    (tmp_path / "site/sub/b").write_text("second")
    (tmp_path / "site/a").write_text("first")
    packed = folder(tmp_path).modules(PC, 64)[-1]
    assert packed.arguments == "file=text"
    before = packed.path.read_bytes()
    with tarfile.open(packed.path) as archive:
        assert archive.getnames() == ["a", "sub", "sub/b"]
    (tmp_path / "site/a").touch()
    assert folder(tmp_path).modules(PC, 64)[-1].path.read_bytes() == before
    (tmp_path / "site/a").write_text("other")
    assert folder(tmp_path).modules(PC, 64)[-1].path.read_bytes() != before
    assert [path.name for path in packed.path.parent.iterdir()] == ["made-text.tar"]


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (lambda site: (site / "link").symlink_to("a"), "files.text: site: link: is neither a file nor a folder"),
        (lambda site: os.mkfifo(site / "pipe"), "files.text: site: pipe: is neither a file nor a folder"),
        (lambda site: (site / ("n" * 129)).write_text(""), "a path of more than 128 bytes"),
        (lambda site: os.truncate((site / "a").open("w").name, 65 << 20), "site: 65 MB, and 64 MB is the most"),
    ],
)
def test_a_folder_that_cannot_be_served_is_one_line(tmp_path, made, complaint):
    (tmp_path / "site").mkdir()
    made(tmp_path / "site")
    with pytest.raises(CobnutError) as raised:
        folder(tmp_path)
    assert complaint in str(raised.value) and "\n" not in str(raised.value)
