# SPDX-License-Identifier: GPL-2.0-or-later
"""Images for Linux without an emulator: what their files say, what is made of Debian's packages, and the memory, the
placement and the processor that a guest gets with one.
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
from cobnut.linux import guest, images, initrd, rootfs
from cobnut.linux.guest import Wish
from cobnut.linux.initrd import MB, Extra
from cobnut.linux.server import Server
from cobnut.modules import Module


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
    size = initrd.write(images.find("minimal"), Extra("echo 'x'; exit 3", files), out, most=MB)
    assert size.archive == size.unpacked == out.stat().st_size and size.archive % cpio.ALIGNMENT == 0
    root = extracted(out.read_bytes(), tmp_path / "root")
    assert (root / "etc/cobnut/run").read_text() == "echo 'x'; exit 3\n"
    assert os.access(root / "files/below/tool", os.X_OK) and os.readlink(root / "files/there") == "below/tool"
    assert not (root / "files/fifo").exists() and os.access(root / "init", os.X_OK)
    initrd.write(images.find("minimal"), Extra(), out, most=MB)
    assert not (extracted(out.read_bytes(), tmp_path / "plain") / "etc/cobnut/run").exists()
    initrd.write(images.find("desktop"), Extra(), out, most=MB)
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
