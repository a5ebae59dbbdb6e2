# SPDX-License-Identifier: GPL-2.0-or-later
"""Which guest a command line asks for: kernels that are not ours, the names of their code, and when a run ends."""

import struct
from pathlib import Path

import pytest

from cobnut import boards, build, guests, images, paths
from cobnut.boards import ARM
from cobnut.emulators import Boot, qemu, qemu_arm
from cobnut.emulators.ending import End, Watch
from cobnut.errors import CobnutError
from cobnut.guests import Asked
from cobnut.modules import Module

PC, VERSATILE = boards.find("pc"), boards.find("versatilepb")
FIRST_WORD = b"\x00\x00\xa0\xe1"  # mov r0, r0


def zimage(size: int = 0x40) -> bytes:
    """The head of a zImage that claims so many bytes, and as many."""
    return FIRST_WORD * 9 + struct.pack("<III", images.ZIMAGE_MAGIC, 0, size) + bytes(size - 48)


@pytest.fixture(scope="module", autouse=True)
def our_kernel():
    """The kernel of the board, which stands for another project's executable."""
    build.images(VERSATILE)


@pytest.fixture
def kernel(tmp_path) -> Path:
    path = tmp_path / "zImage"
    path.write_bytes(zimage())
    return path


def test_kernels_for_arm_are_known_by_how_they_begin():
    assert images.arm_kind(zimage()) == "zimage"
    assert images.arm_kind(images.UIMAGE_MAGIC + bytes(60)) == "uimage"
    assert images.arm_kind(VERSATILE.kernel_executable.read_bytes()) == "elf"
    assert images.arm_kind(VERSATILE.kernel.read_bytes()) == "plain"
    assert images.arm_kind(PC.kernel.read_bytes()) is None, "an executable for another processor"
    assert images.arm_kind(b"# SPDX") is None and images.arm_kind(b"\xe1") is None


def test_a_zimage_has_to_be_whole(kernel):
    assert images.parse([str(kernel)], ARM)
    kernel.write_bytes(zimage()[:-1])
    with pytest.raises(CobnutError, match="a zImage that is cut off"):
        images.parse([str(kernel)], ARM)


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["{zimage}", "{zimage}", "{zimage}"], "finds one more in memory"),
        (["{zimage}", "{zimage} x"], "an initial RAM disk has no arguments"),
        (["{elf}", "{zimage}"], "at its entry, with neither arguments nor an initial RAM disk"),
        (["{elf} x"], "at its entry"),
    ],
)
def test_what_an_arm_kernel_has_no_place_for_is_refused(kernel, texts, words):
    places = {"zimage": kernel, "elf": VERSATILE.kernel_executable}
    with pytest.raises(CobnutError, match=words):
        images.parse([text.format(**places) for text in texts], ARM)


def test_an_arm_guest_finds_its_ram_disk_as_it_is_and_ours_an_archive(kernel, tmp_path):
    disk = tmp_path / "initrd"
    disk.write_bytes(b"070701")
    asked = Asked(
        "boot", board="versatilepb", image=[str(kernel), str(disk)], append="quiet", qemu_args=["-S -d 'a b'"]
    )
    words = qemu_arm.command(guests.resolve(asked).boot, "versatilepb", tmp_path)
    assert words[words.index("-initrd") + 1] == str(disk) and words[-3:] == ["-S", "-d", "a b"]
    assert words[words.index("-append") + 1] == "quiet"
    ours = qemu_arm.command(Boot(kernel, (Module(disk),)), "versatilepb", tmp_path)
    assert ours[ours.index("-initrd") + 1] == "modules" and b"initrd" in (tmp_path / "modules").read_bytes()
    assert "-initrd" not in qemu_arm.command(Boot(kernel, ()), "versatilepb", tmp_path)


def test_words_for_qemu_stand_last_on_a_pc(tmp_path):
    guest = guests.resolve(Asked("boot", image=[str(PC.kernel)], qemu_args=["-device e1000"], cpu="486", memory_mb=7))
    words = qemu.command(guest.boot, tmp_path)
    assert words[-2:] == ["-device", "e1000"] and "486" in words and "7M" in words


def test_names_come_from_the_kernel_itself_or_from_a_file(kernel, tmp_path):
    listing = tmp_path / "System.map"
    listing.write_text("c0008000 T stext\n")
    own = ("kernel", str(PC.kernel))
    assert guests.names_of(PC.kernel, None, PC) == (own,)
    assert guests.names_of(PC.kernel, listing, PC) == (own, ("symbols", str(listing)))
    assert guests.names_of(kernel, None, VERSATILE) == ()
    elf = VERSATILE.kernel_executable
    assert guests.names_of(kernel, elf, VERSATILE) == (("symbols", str(elf)),)


@pytest.mark.parametrize(
    ("name", "words"), [("none", "no such file"), ("zImage", "neither an ELF file nor lines"), ("pc", "for ARM")]
)
def test_a_file_that_has_no_names_is_refused(kernel, tmp_path, name, words):
    symbols = PC.kernel if name == "pc" else tmp_path / name
    with pytest.raises(CobnutError, match=f"--symbols {symbols}: .*{words}"):
        guests.names_of(kernel, symbols, VERSATILE)


def test_a_foreign_guest_can_be_asked_for_again(kernel):
    texts = {"symbols": PC.kernel, "seconds": 3.5, "until": "it is up", "append": "a b", "qemu_args": ["-S"]}
    asked = Asked("run", image=[str(kernel), "x y"], **texts)
    words = ("--image", str(kernel), "--image", "x y", "--qemu-args", "-S", "--append", "a b", "--symbols")
    assert asked.words == (*words, str(PC.kernel), "--seconds", "3.5", "--until", "it is up")


def test_a_text_is_seen_that_comes_in_parts():
    watch = Watch(End(until="is up"))
    assert [watch.why(said) for said in (b"it is ", b"", b"u")] == [None, None, None]
    assert watch.why(b"p\n") == "when the console said 'is up'"
    assert Watch(End()).why(b"x") is None and Watch(End()).left() is None


def test_a_run_ends_after_its_seconds(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    watch = Watch(End(seconds=2))
    assert watch.left() == 2 and watch.why(b"") is None
    monkeypatch.setattr("time.monotonic", lambda: 102.0)
    assert watch.why(b"") == "after 2 s"


def test_cases_without_marks_are_asked_for_of_the_plugin(tmp_path):
    words = {"region": ["1:it/a..b", "2:console=a, b..c"], "program": [f"it:{PC.kernel}"], "processes": "linux-pc"}
    guest = guests.resolve(Asked("boot", image=[str(PC.kernel)], **words))
    described = paths.LAB / "guests" / "linux-pc.toml"
    first = (("program", f"it:{PC.kernel.resolve()}"), ("processes", str(described)))
    assert guest.cases == (*first, ("region", "1:it/a..b"), ("region", "2:console=a, b..c"))
    described = tmp_path / "mine"
    described.write_text("")
    asked = Asked("run", image=[str(PC.kernel)], processes=str(described), region=["1:call=3"])
    assert guests.resolve(asked).cases == (("processes", str(described)), ("region", "1:call=3"))
    assert asked.words[-4:] == ("--region", "1:call=3", "--processes", str(described))
