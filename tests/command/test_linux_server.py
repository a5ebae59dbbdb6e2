# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut linux` without an emulator: what it refuses, what it makes of Debian's sources, and how it tells how a
guest ended. Images are in test_linux_images.py.
"""

import io
import subprocess
from pathlib import Path

import pytest

from cobnut import private_apt
from cobnut.errors import CobnutError
from cobnut.linux import kbuild, patching, room, server, source, verdict
from cobnut.linux.console import Command
from cobnut.linux.source import Source
from conftest import ROOT, assert_refused

NEW, OLD = "6.1.200-1", "6.1.190-1"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--image", "debain"], "did you mean 'debian'"),
        (["--kernel", "mach"], "unknown kernel 'mach'"),
        (["--small", "some"], "unknown placement 'some'"),
        (["--kernel", "native", "--small", "all"], "--small: is not for --kernel native"),
        (["--kernel", "native", "--version", OLD], "--version: is not for --kernel native"),
        (["--kernel", "native", "--net"], "--net: is not for --kernel native"),
        (["--net-at", "moon"], "--net-at moon: must be user, udp=PORT or tap=NAME"),
        (["--kernel", "native", "--screen"], "--screen: is not for --kernel native"),
        (["--kernel", "native", "--display", "none"], "--display: is not for --kernel native"),
        (["--display", "none"], "--display: is for --screen"),
        (["--screen", "--display", "none", "--emulator", "bochs"], "--display: is for qemu"),
        (["--screen-size", "wide"], "--screen-size wide: must be WIDTHxHEIGHT in pixels, as 1024x768"),
        (["--screen-size", "804x600"], "--screen-size 804x600: the width must be a multiple of 8"),
        (["--screen-size", "318x200"], "--screen-size 318x200: must be from 320x200 to 2560x1600"),
        (["--screen-size", "800x1601"], "must be from 320x200 to 2560x1600"),
        (["--kernel", "native", "--emulator", "bochs"], "works on qemu, not on bochs"),
        (["--emulator", "simics"], "unknown emulator 'simics'"),
        (["--run", " "], "--run: an empty command"),
        (["--files", "/nowhere"], "--files /nowhere: no such folder"),
        (["--files", "/etc/passwd"], "--files /etc/passwd: is no folder"),
        (["--memory", "8"], "--memory 8: must be from"),
        (["--memory", "9999"], "--memory 9999: must be from"),
        (["--memory", "2049"], "takes 2048 MB at most"),
        (["--memory", "237", "--small", "server"], "--memory 237: a server in a small space takes 236 MB at most"),
        (["--memory", "512", "--small", "all"], "a server in a small space takes 236 MB at most"),
        (["--memory", "221", "--small", "all", "--screen"], "takes 220 MB beside a screen at most"),
        (["--seconds", "0"], "--seconds 0"),
        (["--append", "a\nb"], "one line"),
        (["--frobnicate"], "--frobnicate"),
    ],
)
def test_what_does_not_fit_is_refused(cobnut, words, complaint):
    assert_refused(cobnut("linux", *words), complaint)


def test_the_command_is_among_those_that_help_shows(cobnut):
    assert "linux" in cobnut("--help").stdout


def test_a_version_that_was_tried_is_taken(monkeypatch):
    monkeypatch.setattr(source, "tried", lambda: ["6.1.195-1", OLD])
    assert source.choose([NEW, OLD], None) == OLD
    assert source.choose([NEW, OLD], NEW) == NEW
    assert source.choose([NEW], None) == NEW, "the newest, if the mirror has none that was tried any more"
    with pytest.raises(CobnutError, match=f"version of linux-source-6.1 '5.10' .*known: {NEW}, {OLD}"):
        source.choose([NEW, OLD], "5.10")
    with pytest.raises(CobnutError, match="has no linux-source-6.1"):
        source.choose([], None)


def test_versions_that_were_tried_are_listed():
    assert source.tried() and all(one.startswith("6.1.") for one in source.tried())


@pytest.fixture
def tree(monkeypatch, tmp_path):
    """A source of three files, a series of one patch, an overlay of one file. Returns the folder of ours."""
    ours, plain = tmp_path / "ours", tmp_path / "linux-source-6.1"
    for folder in (ours / "patches", ours / "overlay/arch/um", plain / "arch/um", plain / "arch/arm"):
        folder.mkdir(parents=True)
    for name in ("arch/um/a.c", "arch/um/b.c", "arch/arm/c.c"):
        (plain / name).write_text("1\n2\n3\n")
    (ours / "overlay/arch/um/ours.c").write_text("ours\n")
    write_patch(ours, "a.c", "2", "two")
    archive = tmp_path / "linux-source-6.1.tar.xz"
    run = ["tar", "-cJf", str(archive), "--mtime=2020-01-01", "-C", str(tmp_path), plain.name]
    subprocess.run(run, check=True)
    monkeypatch.setattr(patching, "PATCHES", ours / "patches")
    monkeypatch.setattr(patching, "OVERLAY", ours / "overlay")
    for function, folder in (("series", ours / "patches"), ("overlay", ours / "overlay")):
        monkeypatch.setattr(getattr(patching, function), "__defaults__", (folder,))
    monkeypatch.setattr(patching, "TREE", tmp_path / "build/source")
    monkeypatch.setattr(patching, "OBJECTS", tmp_path / "build/objects")
    monkeypatch.setattr(patching, "STAMP", tmp_path / "build/source.json")
    monkeypatch.setattr(patching, "NEEDED_MB", 1)
    return ours


def write_patch(ours: Path, name: str, old: str, new: str, number: int = 1) -> None:
    text = f"--- a/arch/um/{name}\n+++ b/arch/um/{name}\n@@ -1,3 +1,3 @@\n 1\n-{old}\n+{new}\n 3\n"
    (ours / "patches" / f"{number:04}-x.patch").write_text(text)


def given(tree: Path) -> Source:
    return Source(OLD, tree.parent / "linux-source-6.1.tar.xz")


def test_the_series_is_applied_and_our_files_are_laid_over(tree):
    patching.ensure(given(tree))
    um = patching.TREE / "arch/um"
    assert (um / "a.c").read_text() == "1\ntwo\n3\n" and (um / "ours.c").read_text() == "ours\n"
    assert not (patching.TREE / "arch/arm/c.c").exists()
    assert (um / "a.c").stat().st_mtime > (um / "b.c").stat().st_mtime


def test_what_a_patch_no_longer_touches_is_compiled_again(tree):
    patching.ensure(given(tree))
    patching.OBJECTS.mkdir()
    write_patch(tree, "b.c", "2", "zwei")
    before = (patching.TREE / "arch/um/a.c").stat().st_mtime
    patching.ensure(given(tree))
    um = patching.TREE / "arch/um"
    assert (um / "a.c").read_text() == "1\n2\n3\n" and (um / "b.c").read_text() == "1\nzwei\n3\n"
    assert (um / "a.c").stat().st_mtime >= before and (um / "b.c").stat().st_mtime >= before
    assert patching.OBJECTS.is_dir(), "which make goes on with"


def test_an_overlay_changes_no_other_file(tree):
    patching.ensure(given(tree))
    um = patching.TREE / "arch/um"
    before = (um / "a.c").stat().st_mtime_ns, (um / "ours.c").stat().st_mtime_ns
    patching.ensure(given(tree))
    assert ((um / "a.c").stat().st_mtime_ns, (um / "ours.c").stat().st_mtime_ns) == before
    (tree / "overlay/arch/um/ours.c").rename(tree / "overlay/arch/um/other.c")
    patching.ensure(given(tree))
    assert not (um / "ours.c").exists() and (um / "other.c").exists()
    assert (um / "a.c").stat().st_mtime_ns == before[0]


def test_another_version_begins_anew(tree):
    patching.ensure(given(tree))
    patching.OBJECTS.mkdir()
    patching.ensure(Source(NEW, given(tree).archive))
    assert not patching.OBJECTS.exists()


def test_a_version_that_the_series_does_not_fit_is_said_in_one_line(tree, monkeypatch):
    write_patch(tree, "a.c", "four", "4")
    with pytest.raises(CobnutError, match=rf"^0001-x.patch does not fit linux-source-6.1 {OLD} .*tried were {NEW}"):
        monkeypatch.setattr(source, "tried", lambda: [NEW])
        patching.ensure(given(tree))
    assert not patching.STAMP.exists(), "so that the next call applies all of it again"


def test_a_server_is_made_again_when_something_of_it_changes(tree, monkeypatch):
    config = tree / "config"
    config.write_text("CONFIG_X=y\n")
    monkeypatch.setattr(server, "CONFIG", config)
    names = [server.recipe(given(tree)).name]
    config.write_text("CONFIG_X=n\n")
    names.append(server.recipe(given(tree)).name)
    write_patch(tree, "b.c", "2", "zwei", number=2)
    names.append(server.recipe(given(tree)).name)
    (tree / "overlay/arch/um/ours.c").write_text("theirs\n")
    names.append(server.recipe(given(tree)).name)
    names.append(server.recipe(Source(NEW, given(tree).archive)).name)
    monkeypatch.setattr(kbuild, "first_line", lambda *command: "gcc 99")
    names.append(server.recipe(given(tree)).name)
    assert len(set(names)) == len(names)
    assert server.recipe(given(tree)).name == names[-1]


def test_a_line_of_the_configuration_that_linux_drops_is_named(tmp_path):
    wanted = tmp_path / "config"
    wanted.write_text("CONFIG_A=y\n# CONFIG_B is not set\n# words\n")
    kbuild.check_config(wanted, "CONFIG_A=y\n", OLD)
    with pytest.raises(CobnutError, match=f"config: Linux {OLD} does not take the line 'CONFIG_A=y'"):
        kbuild.check_config(wanted, "# CONFIG_A is not set\n", OLD)
    with pytest.raises(CobnutError, match="CONFIG_B is not set"):
        kbuild.check_config(wanted, "CONFIG_A=y\nCONFIG_B=y\n", OLD)


def test_a_full_disk_is_said_before_and_after(monkeypatch, tmp_path):
    refused = pytest.raises(CobnutError, match="the tree needs 100000000 MB in .* MB left")
    with refused, room.needed(tmp_path, 100_000_000, "the tree"):
        raise AssertionError
    full = pytest.raises(CobnutError, match="is full: the tree cannot be made")
    with full, room.needed(tmp_path, 0, "the tree"), open("/dev/full", "w") as device:
        device.write("x")
    with pytest.raises(CobnutError, match="^tar failed$"), room.needed(tmp_path, 0, "the tree"):
        raise CobnutError("tar failed")
    free = iter((100, 0, 0))
    monkeypatch.setattr(room, "free_mb", lambda folder: next(free))
    with full, room.needed(tmp_path, 0, "the tree"):
        raise CobnutError("tar failed")


def test_without_a_network_the_mirror_is_named(monkeypatch):
    monkeypatch.delenv("COBNUT_NO_INSTALL", raising=False)
    stanza = private_apt.apt_sources.Source("http://mirror.invalid/debian", ("trixie", "trixie-security"), {})
    monkeypatch.setattr(private_apt.apt_sources, "read_sources", lambda: [stanza])
    monkeypatch.setattr(private_apt.apt_sources, "codename", lambda: "trixie")
    for name in ("http_proxy", "https_proxy", "ftp_proxy"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(CobnutError, match="mirror.invalid"), private_apt.lists("x"):
        raise AssertionError


def said(data: list[bytes]) -> bytes:
    out = io.BytesIO()
    command = Command(out)
    for piece in data:
        command.feed(piece)
    command.finish()
    return out.getvalue()


CONSOLE = (
    b"booting\r\n\x1eguest: running\r\none\r\ntwo \x1e three\r\n\x1eguest: status 3\r\n[ 1.0] reboot: Power down\r\n"
)


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, 1000])
def test_only_what_the_command_says_is_shown(piece):
    pieces = [CONSOLE[at : at + piece] for at in range(0, len(CONSOLE), piece)]
    assert said(pieces) == b"one\ntwo \x1e three\n"
    twice = CONSOLE.replace(b"\r", b"\r\r")
    assert said([twice[at : at + piece] for at in range(0, len(twice), piece)]) == b"one\ntwo \x1e three\n"


def test_what_a_command_says_is_shown_to_its_last_byte():
    assert said([CONSOLE.replace(b"three\r\n", b"three")]) == b"one\ntwo \x1e three"
    assert said([CONSOLE.partition(b"\x1eguest: status")[0] + b"\x1egu"]) == b"one\ntwo \x1e three\n\x1egu"
    assert said([b"booting\r\n"]) == b""


NO_ROOT = "[1] Kernel panic - not syncing: VFS: Unable to mount root fs on x\n"
DOWN = "[    9.1] reboot: Power down\n"


@pytest.mark.parametrize(
    ("console", "code", "status"),
    [
        (CONSOLE.decode(), 0, 3),
        (f"\x1eguest: running\nno line end\x1eguest: status 0\n{DOWN}", 0, 0),
        (f"\x1eguest: running\nlog: Kernel panic - not syncing: x\n\x1eguest: status 1\n{DOWN}", 0, 1),
        (f"\x1eguest: running\n{DOWN}", 0, 0),
        (f"\x1eguest: running\n{DOWN}", None, 0),
    ],
)
def test_a_guest_ends_with_the_status_of_its_command(console, code, status):
    assert verdict.status(console, code) == status


@pytest.mark.parametrize(
    ("console", "code", "complaint"),
    [
        ("\x1eguest: error Linux knows no option x=1\n", 0, "^Linux knows no option x=1$"),
        (NO_ROOT, 2, "^the image has no /init"),
        ("[1] Kernel panic - not syncing: No working init found.  Try\n", 2, "^the image has no init that works"),
        (f"[0] Initramfs unpacking failed: junk\n{NO_ROOT}", 2, "damaged .*; before it: junk"),
        ("[1] Kernel panic - not syncing: System is deadlocked on memory\n", 2, "too little memory"),
        ("[1] Kernel panic - not syncing: Attempted to kill init!\n", 2, "^Linux panicked: Attempted"),
        (f"{CONSOLE.decode()}[9] Kernel panic - not syncing: late\n", 0, "^Linux panicked: late"),
        ("linux-root: server: not an ELF file\n", 2, "^linux-root: server: not an ELF file$"),
        ("linux-root: server: not an ELF file\n", None, "^linux-root: server: not an ELF file$"),
        ("cobnut: no memory\n", 1, "^the kernel stopped: no memory$"),
        (f"{CONSOLE.decode()}", 5, "ended with code 5"),
        ("\x1eguest: running\nhalf a", 0, "ended before Linux did"),
        ("[0] Initramfs unpacking failed: broken padding\n", 0, "could not unpack its image: broken padding"),
    ],
)
def test_what_kept_a_guest_from_its_end_is_said(console, code, complaint):
    with pytest.raises(CobnutError, match=complaint):
        verdict.status(console, code)


def test_a_panic_has_its_backtrace():
    with pytest.raises(verdict.Panic) as caught:
        verdict.status("[1] Kernel panic - not syncing: Attempted to kill init!\n[1] Call Trace:\n[1] panic\n", 2)
    assert caught.value.trace == "[1] Call Trace:\n[1] panic\n"


def test_a_person_may_leave():
    assert verdict.status("# \n", 0, attended=True) == 0
    with pytest.raises(CobnutError, match="panicked"):
        verdict.status("[1] Kernel panic - not syncing: x\n", 2, attended=True)


def test_nothing_of_it_is_committed_but_what_is_ours():
    listed = subprocess.run(["git", "ls-files", "linux"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not [name for name in listed.split() if name.endswith((".deb", ".xz", ".cpio"))]
