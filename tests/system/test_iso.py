# SPDX-License-Identifier: GPL-2.0-or-later
"""A CD image on a PC with a BIOS: from a CD, and from a stick, which is a hard disk to it. (Bochs boots all from
CDs.)
"""

import pytest

from cobnut.emulators import qemu
from conftest import assert_refused, run_cobnut, run_limited


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    file = tmp_path_factory.mktemp("iso") / "a name with blanks.iso"
    done = run_cobnut("iso", str(file), "--append", "small=256", "hello small=16@0")
    assert done.returncode == 0, done.stderr
    return file


@pytest.mark.parametrize("drive", ["media=cdrom", "if=ide"])
def test_it_boots_through_the_bios(image, drive):
    command = [qemu.PROGRAM, "-display", "none", "-serial", "stdio", "-m", "64"]
    command += ["-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-drive", f"file={image},format=raw,{drive}"]
    done = run_limited(command)
    assert "small-space area 256 MB" in done.stdout
    assert "my space is small (asked for: 16@0)" in done.stdout
    assert "root: all programs finished" in done.stdout


def test_what_cannot_be_written_is_refused_first(cobnut, tmp_path):
    place = tmp_path / "no" / "such.iso"
    assert_refused(cobnut("iso", str(place), "hello"), str(place), "cannot be written")
    assert_refused(cobnut("iso", str(tmp_path / "x.iso")), "name at least one module")
    assert_refused(cobnut("iso", str(tmp_path / "x.iso"), "nosuch"), "nosuch")
    assert list(tmp_path.iterdir()) == []
