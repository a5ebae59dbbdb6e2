# SPDX-License-Identifier: GPL-2.0-or-later
"""Images for boards: as a boot loader starts them, and from flash. QEMU loads what the command has written, and nothing
else.
"""

import pytest

from cobnut.emulators import qemu_arm
from conftest import assert_refused, run_cobnut, run_limited

BOARDS = ("versatilepb", "collie")
MEMORY_MB = {"versatilepb": "64", "collie": "512"}  # of QEMU's board; the image is for 64
FLASH_MB = {"versatilepb": 64, "collie": 32}
FLASH_AT = {"versatilepb": 0x34000000, "collie": 0}
MODULES = ("--root", "root off=1", "hello")


def boot(board, *words):
    """Boots the board without a kernel of QEMU's choice; its console, and the status that the guest ended with."""
    command = [qemu_arm.PROGRAM, "-machine", board, "-m", MEMORY_MB[board], "-display", "none", "-net", "none"]
    command += ["-audio", "driver=none", "-semihosting-config", "enable=on,target=native", "-serial", "stdio", *words]
    done = run_limited(command)
    return done.stdout.replace("\r", ""), done.returncode


@pytest.fixture(scope="module", params=BOARDS)
def images(request, tmp_path_factory):
    """A board and its image in each format."""
    folder = tmp_path_factory.mktemp("flash")
    found = {}
    for format in ("raw", "uboot"):
        file = folder / f"image.{format}"
        done = run_cobnut("flash", str(file), "--board", request.param, "--format", format, *MODULES)
        assert done.returncode == 0, done.stderr
        found[format] = file
    return request.param, found


def assert_it_ran(console, status):
    assert "Cobnut: 16 MB kernel memory" in console  # of the 64 that the image is for
    assert "root: hello: finished with code 0" in console
    assert status == 0


def test_u_boots_form_starts_where_its_header_says(images):
    board, files = images
    assert_it_ran(*boot(board, "-kernel", str(files["uboot"])))


@pytest.mark.parametrize("offset", [0x800000, 0x1234560])
def test_it_starts_at_its_first_byte_wherever_it_was_loaded(images, offset):
    board, files = images
    place = qemu_arm.RAM_BASES[board] + offset
    assert_it_ran(*boot(board, "-device", f"loader,file={files['raw']},addr={place:#x},cpu-num=0,force-raw=on"))


def test_it_starts_in_flash(images, tmp_path):
    board, files = images
    flash = tmp_path / "flash"
    flash.write_bytes(files["raw"].read_bytes())
    with flash.open("ab") as grown:
        grown.truncate(FLASH_MB[board] << 20)
    start = ["-device", f"loader,addr={FLASH_AT[board]:#x},cpu-num=0"] if FLASH_AT[board] else []  # else it is reset's
    assert_it_ran(*boot(board, "-drive", f"if=pflash,file={flash},format=raw", *start))


def test_the_header_is_what_u_boot_checks(images):
    """Both sums, sizes and kinds (its include/image.h)."""
    import struct
    import zlib

    board, files = images
    data = files["uboot"].read_bytes()
    magic, own_sum, _, size, load, entry, data_sum, *kinds, name = struct.unpack(">7I4B32s", data[:64])
    assert (magic, size, kinds) == (0x27051956, len(data) - 64, [5, 2, 2, 0])
    assert own_sum == zlib.crc32(data[:4] + bytes(4) + data[8:64]) and data_sum == zlib.crc32(data[64:])
    assert load == entry == qemu_arm.RAM_BASES[board] + 0x800000
    assert name.rstrip(b"\0").decode() == f"Cobnut for {board}" and data[64:] == files["raw"].read_bytes()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--board", "pc", "hello"], "not for board pc; for a PC, ./cobnut iso"),
        (["--format", "elf", "hello"], "unknown format 'elf'"),
        (["--memory", "8", "hello"], "--memory 8: must be from 16"),
        (["--address", "here", "hello"], "--address here: is not a number"),
        (["--address", "0x1000", "hello"], "--address 0x1000: must be a multiple of 4 from 0x400000 to 0x2000000"),
        (["--board", "collie", "--address", "0x800000", "hello"], "from 0xc0400000"),
        (["nosuch"], "module nosuch"),
        ([], "name at least one module"),
    ],
)
def test_what_cannot_be_is_refused(cobnut, tmp_path, words, complaint):
    assert_refused(cobnut("flash", str(tmp_path / "image"), *words), complaint)
    assert list(tmp_path.iterdir()) == []
