# SPDX-License-Identifier: GPL-2.0-or-later
"""The option --disk: what is refused, and the shape of a disk for Bochs."""

import os
from math import prod

import pytest

from cobnut import boards
from cobnut.emulators import Boot, qemu
from cobnut.emulators.disk import BLOCK, MOST_HEADS, MOST_SECTORS, Disk
from cobnut.errors import CobnutError
from cobnut.linux import guest
from cobnut.linux.guest import Wish
from conftest import assert_refused


@pytest.mark.parametrize("blocks", [1, 7, 63, 2048, 8191, 8192, 100000, 1008 * 1000])
def test_a_shape_has_all_blocks(tmp_path, blocks):
    path = tmp_path / "image"
    with open(path, "wb") as file:
        file.truncate(blocks * BLOCK)
    _, heads, sectors = shape = Disk(path).geometry
    assert prod(shape) == blocks and heads <= MOST_HEADS and sectors <= MOST_SECTORS


def test_counted_time_does_not_wait_for_the_hosts_medium(tmp_path):
    image = tmp_path / "image"
    image.write_bytes(bytes(BLOCK))
    boot = Boot(boards.find("pc").kernel, (), disk=Disk(image))
    drive = f"file={image},format=raw,if=ide,index=0"
    assert drive in qemu.command(boot, tmp_path)
    assert f"{drive},cache=unsafe" in qemu.command(boot, tmp_path, repeatable=True)


def test_what_is_no_disk_is_refused(cobnut, tmp_path):
    odd, empty, right = tmp_path / "odd", tmp_path / "empty", tmp_path / "right"
    odd.write_bytes(bytes(513))
    empty.write_bytes(b"")
    right.write_bytes(bytes(512))
    assert_refused(cobnut("boot", "disk", "--disk", "none.img"), "--disk none.img: no such file")
    assert_refused(cobnut("boot", "disk", "--disk", str(tmp_path)), "is not a file")
    assert_refused(cobnut("boot", "disk", "--disk", str(odd)), "blocks of 512 bytes, not 513 bytes")
    assert_refused(cobnut("boot", "disk", "--disk", str(empty)), "blocks of 512 bytes, not 0 bytes")
    assert_refused(cobnut("boot", "hello", "--disk", str(right), "--board", "collie"), "--disk: not on board collie")
    assert_refused(cobnut("boot", "graphic", "--display", "gtk", "--emulator", "bochs"), "--display: is for qemu")
    assert_refused(cobnut("boot", "--image", "x", "--disk", str(right)), "--disk: is for our kernel")
    assert_refused(cobnut("linux", "--disk", "none.img"), "--disk none.img: no such file")
    assert_refused(cobnut("linux", "--disk", str(odd)), "blocks of 512 bytes, not 513 bytes")
    assert_refused(cobnut("linux", "--disk", str(right), "--kernel", "native"), "--disk: is not for --kernel native")


def test_a_disk_that_cannot_be_written_is_refused(monkeypatch, tmp_path):
    image = tmp_path / "image"
    image.write_bytes(bytes(512))
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(CobnutError, match="--disk .*image: cannot be written$"):
        guest.check(Wish(disk=image))
