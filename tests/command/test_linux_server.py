# SPDX-License-Identifier: GPL-2.0-or-later
"""`./cobnut linux` without an emulator: what it refuses, what it makes of Debian's packages and sources, and how it
tells how a guest ended.
"""

import gzip
import io
import os
import subprocess
import tarfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from cobnut import cpio, private_apt
from cobnut.errors import CobnutError
from cobnut.linux import guest, images, initrd, kbuild, patching, room, rootfs, server, source, verdict
from cobnut.linux.console import Command
from cobnut.linux.guest import Wish
from cobnut.linux.initrd import MB, Extra
from cobnut.linux.server import Server
from cobnut.linux.source import Source
from cobnut.modules import Module
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


def test_every_image_is_described():
    assert {images.DEFAULT, "debian"} <= set(images.known())
    for name in images.known():
        image = images.find(name)
        assert image.description and "busybox-static" in image.packages, "which the first process is run by"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('description = "x"\npackages = []\nshel = "/bin/sh"\n', "unknown key 'shel'"),
        ('description = "x"\n', "has no packages"),
        ('description = "x"\npackages = "bash"\n', "packages is not of the kind 'list'"),
        ('description = "x"\npackages = [\n', "cannot be read"),
        ('description = "x"\npackages = []\nextends = "other"\n', "unknown image 'other'"),
        ('description = "x"\npackages = []\nextends = "bad"\n', "extends itself"),
    ],
)
def test_what_is_wrong_with_an_image_is_said(tmp_path, text, complaint):
    (tmp_path / "bad.toml").write_text(text)
    with pytest.raises(CobnutError, match=complaint):
        images.find("bad", tmp_path)


def test_an_image_has_what_the_one_has_that_it_extends(tmp_path):
    (tmp_path / "one.toml").write_text(
        'description = "1"\npackages = ["b", "a"]\nalone = ["e"]\ncomponents = "main non-free"\nshell = "/s"\n'
        '[links]\n"bin/x" = "y"\n"bin/z" = "y"\n'
    )
    (tmp_path / "two.toml").write_text(
        'description = "2"\nextends = "one"\npackages = ["c"]\nalone = ["d"]\nmemory_mb = 512\nappend = "a=1"\n'
        '[files]\n"etc/x" = "y"\n[links]\n"bin/x" = "w"\n'
    )
    found = images.find("two", tmp_path)
    assert found.packages == ("a", "b", "c") and found.shell == "/s" and found.memory_mb == 512
    assert found.links == (("bin/x", "w"), ("bin/z", "y"))
    assert found.files == (("etc/x", "y"),)
    assert found.append == "a=1" and images.find("one", tmp_path).append == ""
    assert found.alone == ("d", "e") and found.components == "main non-free"
    assert images.find("minimal").components == "main"


def package(folder: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """A Debian package that holds `members`."""
    (folder / "DEBIAN").mkdir(parents=True)
    (folder / "DEBIAN/control").write_text(
        "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: nobody <x@example.org>\nDescription: x\n"
    )
    built = folder.with_suffix(".deb")
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(folder), str(built)], check=True, capture_output=True)
    data = folder.with_name("data.tar")
    with tarfile.open(data, "w") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    subprocess.run(["ar", "d", str(built), "data.tar.xz"], check=True)
    subprocess.run(["ar", "q", str(built), str(data)], check=True, capture_output=True)
    return built


def member(name: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, target: str = "") -> tarfile.TarInfo:
    found = tarfile.TarInfo(name)
    found.type, found.mode, found.linkname = kind, mode, target
    return found


def test_packages_become_one_file_system(tmp_path):
    owned = member("./etc/shadow", mode=0o640)
    owned.gid = 42
    archive = package(
        tmp_path / "x",
        (member("./", tarfile.DIRTYPE, 0o755), b""),
        (member("./bin/", tarfile.DIRTYPE, 0o755), b""),
        (member("./bin/su", mode=0o4755), b"su"),
        (member("./usr/bin/one"), b"one"),
        (member("./usr/bin/two", tarfile.LNKTYPE, target="./usr/bin/one"), b""),
        (member("./usr/bin/three", tarfile.SYMTYPE, 0o777, "one"), b""),
        (member("./usr/share/doc/x/copyright"), b"x" * 100),
        (member("./lib/bigger/x"), b"x" * 100),
        (owned, b"secret"),
    )
    links = [("bin/sh", "one"), ("usr/bin/one", "nothing")]
    users = [("web", 33)]
    made = {entry.name: entry for entry in rootfs.made_of([archive], links, ["usr/lib/big*"], users)}
    assert made["bin"] == cpio.link("bin", "usr/bin")
    assert made["usr/bin/su"].mode == cpio.FILE | 0o4755
    assert made["usr/bin/two"].content == b"one" and made["usr/bin/three"] == cpio.link("usr/bin/three", "one")
    assert made["usr/bin/sh"] == cpio.link("usr/bin/sh", "one") and made["usr/bin/one"].content == b"one"
    assert made["etc/shadow"].owner == (0, 42) and made["etc/shadow"].mode & 0o7777 == 0o640
    assert not any("doc" in name or "big" in name for name in made)
    assert made["dev/console"].device == (5, 1)
    assert made["etc/passwd"].content.endswith(b"\nweb:x:33:33:web:/nonexistent:/bin/false\n")
    assert made["etc/group"].content.endswith(b"\nweb:x:33:\n") and b"web" not in made["etc/hosts"].content
    names = list(made)
    above = [str(Path(name).parent) for name in names]
    assert all(parent == "." or names.index(parent) < names.index(name) for parent, name in zip(above, names))


def test_a_damaged_package_is_named(tmp_path):
    bad = tmp_path / "bad.deb"
    bad.write_bytes(b"!<arch>\n" + b"x" * 200)
    with pytest.raises(CobnutError, match="package bad.deb"):
        rootfs.made_of([bad])


def extracted(archive: bytes, folder: Path) -> Path:
    """What `cpio`'s reader makes of it, without devices."""
    folder.mkdir()
    at = 0
    while at < len(archive):
        fields = [int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        name = archive[at + 110 : at + 109 + fields[11]].decode()
        content = at + 110 + fields[11]
        content += -content % 4
        data = archive[content : content + fields[6]]
        at = content + len(data) + -len(data) % 4
        if name == cpio.LAST:
            continue
        path, kind = folder / name, fields[1] & 0o170000
        if kind == cpio.FOLDER:
            path.mkdir(parents=True, exist_ok=True)
        elif kind == cpio.LINK:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(data.decode())
        elif kind == cpio.FILE:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            path.chmod(fields[1] & 0o7777)
    return folder


def test_a_run_adds_its_command_and_its_files(monkeypatch, tmp_path):
    base = tmp_path / "base"
    base.write_bytes(cpio.archive([cpio.folder("usr"), cpio.file("usr/x", b"odd")]))
    monkeypatch.setattr(initrd, "base", lambda image: base)
    files = tmp_path / "given"
    (files / "below").mkdir(parents=True)
    (files / "below" / "tool").write_text("#!/bin/sh\n")
    (files / "below" / "tool").chmod(0o755)
    (files / "there").symlink_to("below/tool")
    os.mkfifo(files / "fifo")
    out = tmp_path / "initrd"
    size = initrd.write(images.find("minimal"), Extra("echo 'x'; exit 3", files), out)
    assert size.archive == size.unpacked == out.stat().st_size and size.archive % cpio.ALIGNMENT == 0
    root = extracted(out.read_bytes(), tmp_path / "root")
    assert (root / "etc/cobnut/run").read_text() == "echo 'x'; exit 3\n"
    assert os.access(root / "files/below/tool", os.X_OK) and os.readlink(root / "files/there") == "below/tool"
    assert not (root / "files/fifo").exists() and os.access(root / "init", os.X_OK)
    initrd.write(images.find("minimal"), Extra(), out)
    assert not (extracted(out.read_bytes(), tmp_path / "plain") / "etc/cobnut/run").exists()
    initrd.write(images.find("desktop"), Extra(), out)
    root = extracted(out.read_bytes(), tmp_path / "desktop")
    for place, name in images.find("desktop").files:
        assert (root / place).read_bytes() == (images.FOLDER / name).read_bytes()
    assert os.access(root / "etc/cobnut/desktop", os.X_OK) and not (root / "root/.twmrc").stat().st_mode & 0o111


def test_an_image_too_large_to_be_there_twice_is_compressed(monkeypatch, tmp_path):
    base, out = tmp_path / "base", tmp_path / "initrd"
    base.write_bytes(cpio.archive([cpio.file("usr", bytes(3 << 20))]))
    monkeypatch.setattr(initrd, "base", lambda image: base)
    size = initrd.write(images.find("minimal"), Extra("true"), out, most=4 << 20)
    packed = out.read_bytes()
    assert size.archive == len(packed) < 1 << 20 and size.unpacked > 3 << 20
    unpacked = gzip.decompress(packed)
    assert unpacked.startswith(base.read_bytes()) and b"etc/cobnut/run" in unpacked
    assert size.both == len(unpacked) + len(packed)
    assert initrd.write(images.find("minimal"), Extra("true"), out, most=8 << 20).archive == len(unpacked)


def written(out, megabytes):
    """As initrd.write returns it, of an archive that is nothing."""
    out.write_bytes(b"0")
    return initrd.Written(megabytes * MB, megabytes * MB)


@pytest.mark.parametrize("kernel", ["server", "native"])
def test_an_image_that_half_the_memory_cannot_take_gets_a_file_system_without_that_limit(monkeypatch, tmp_path, kernel):
    """How much it can take was tried with the image of make and C++."""
    monkeypatch.setattr(guest.qemu, "ensure", lambda: "10")
    monkeypatch.setattr(guest.native, "ensure", lambda: Server(tmp_path / "kernel", "6.1"))
    monkeypatch.setattr(guest, "_server", lambda wish: Server(tmp_path / "kernel", "6.1"))
    monkeypatch.setattr(initrd, "write", lambda image, extra, out, most: written(out, 108))

    def unlimited(memory_mb, append=""):
        boot = guest.prepare(Wish(kernel=kernel, memory_mb=memory_mb, append=append), tmp_path)
        words = boot.options if kernel == "native" else " ".join(one.arguments for one in boot.modules)
        return "rootfstype=ramfs" in words

    assert unlimited(280) and unlimited(300) and not unlimited(400)
    assert not unlimited(300, "rootfstype=tmpfs"), "what was said stays"


def test_an_image_is_made_again_when_its_packages_are_others(tmp_path):
    names = {initrd.recipe(images.find(name)).name for name in images.known()}
    assert len(names) == len(images.known())
    plain = images.find("minimal")
    others = (
        replace(plain, alone=("lmbench",)),
        replace(plain, components="main non-free"),
        replace(plain, users=(("web", 33),)),
    )
    assert len({initrd.recipe(image).name for image in (plain, *others)}) == 4


def test_packages_alone_come_without_what_they_depend_on(monkeypatch, tmp_path):
    """Both kinds are in the image, from the components that it names."""
    asked = []

    class Apt:
        def download_all(self, names):
            asked.append(("with", *names))
            return [Path("a")]

        def download(self, *names):
            asked.append(("alone", *names))
            return [Path("b")]

    @contextmanager
    def lists(wanted, *, architecture, components):
        asked.append(("from", architecture, components))
        yield Apt()

    monkeypatch.setattr(private_apt, "lists", lists)
    monkeypatch.setattr(initrd.cache, "get", lambda recipe, make: (make(tmp_path, tmp_path), tmp_path)[1])
    monkeypatch.setattr(initrd.rootfs, "made_of", lambda archives, *others: [cpio.file(archives[1].name, b"")])
    image = replace(images.find("minimal"), packages=("p",), alone=("q",), components="main non-free")
    held = initrd.base(image).read_bytes()
    assert asked == [("from", "i386", "main non-free"), ("with", "p"), ("alone", "q")]
    assert cpio.archive([cpio.file("b", b"")]) == held


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


def test_an_image_that_does_not_fit_the_memory_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(guest.qemu, "ensure", lambda: "10")
    monkeypatch.setattr(guest.native, "ensure", lambda: None)
    monkeypatch.setattr(initrd, "write", lambda image, extra, out, most: initrd.Written(most - 47 * MB, 48 * MB))
    with pytest.raises(CobnutError, match="^--memory 247: is too little for the image minimal, which needs 248 MB$"):
        guest.run(Wish(kernel="native", memory_mb=247))


def test_a_native_kernel_stays_where_it_leaves_room_for_a_large_image(tmp_path):
    server, initial = Server(tmp_path / "kernel", "6.1"), Module(tmp_path / "initrd")
    boot = guest.native.boot(server, initial, "rootfstype=ramfs", 1536, "pentium3")
    assert "nokaslr" in boot.options.split() and boot.options.endswith("rootfstype=ramfs")


@pytest.mark.parametrize("kernel", ["server", "native"])
def test_the_processor_is_the_images_unless_another_is_asked_for(monkeypatch, tmp_path, kernel):
    monkeypatch.setattr(guest.qemu, "ensure", lambda: "10")
    monkeypatch.setattr(guest.bochs, "ensure", lambda display: None)
    monkeypatch.setattr(guest.native, "ensure", lambda: Server(tmp_path / "kernel", "6.1"))
    monkeypatch.setattr(guest, "_server", lambda wish: Server(tmp_path / "kernel", "6.1"))
    monkeypatch.setattr(initrd, "write", lambda image, extra, out, most: written(out, 1))
    wish = Wish("tools", kernel=kernel)

    def cpu(wish):
        return guest.prepare(wish, tmp_path).cpu

    assert cpu(wish) == "pentium3" and cpu(replace(wish, cpu="coreduo")) == "coreduo"
    image = replace(images.find("tools"), cpu="pentium3,+sse2")
    monkeypatch.setattr(images, "find", lambda name: image)
    assert cpu(wish) == "pentium3,+sse2" and cpu(replace(wish, cpu="coreduo")) == "coreduo"
    if kernel == "server":
        assert cpu(replace(wish, emulator="bochs")) == guest.bochs.DEFAULT_CPU


def test_nothing_of_it_is_committed_but_what_is_ours():
    listed = subprocess.run(["git", "ls-files", "linux"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert not [name for name in listed.split() if name.endswith((".deb", ".xz", ".cpio"))]


@pytest.mark.parametrize(
    ("wish", "memory_mb", "placement"),
    [
        (Wish(), 224, "server"),
        (Wish(memory_mb=236), 236, "server"),
        (Wish(memory_mb=237), 237, "none"),
        (Wish(small="none", memory_mb=200), 200, "none"),
        (Wish(image="development"), 768, "none"),
        (Wish(image="development", small="all"), 236, "all"),
        (Wish(screen="800x600"), 220, "server"),
        (Wish(screen="800x600", memory_mb=221), 221, "none"),
        (Wish(image="development", screen="800x600"), 768, "none"),
        (Wish(image="development", screen="800x600", small="all"), 220, "all"),
        (Wish(kernel="native", memory_mb=600), 600, None),
    ],
)
def test_the_server_is_in_a_small_space_where_its_memory_fits(wish, memory_mb, placement):
    placed, got_mb = guest.placed(wish, images.find(wish.image), least_mb=100)
    assert (placed.small, got_mb) == (placement, memory_mb)


def test_linux_gets_what_the_image_needs_if_nothing_else_is_asked_for():
    image = images.find("development")
    assert guest.placed(Wish(), image, least_mb=900) == (Wish(small="none"), 900)
    assert guest.placed(Wish(kernel="native"), image, least_mb=900) == (Wish(kernel="native"), 900)
    assert guest.placed(Wish(memory_mb=800), image, least_mb=900) == (Wish(small="none", memory_mb=800), 800)


def test_an_image_that_no_small_space_has_room_for_is_refused():
    with pytest.raises(CobnutError, match="^--small all: .* 236 MB at most, and the image development needs 300 MB$"):
        guest.placed(Wish(image="development", small="all"), images.find("development"), least_mb=300)
