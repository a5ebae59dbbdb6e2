# SPDX-License-Identifier: GPL-2.0-or-later
"""Images for boards with an ARM processor: the kernel and its modules in one file, which starts at its first byte
wherever it stands (lab/flash/start.S).

Plain, for a loader that copies bytes and jumps, or for a flash that the processor starts from; or with U-Boot's header
for `bootm`.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

from cobnut import cpio, paths
from cobnut.boards import ARM, Board
from cobnut.emulators import Boot
from cobnut.emulators.qemu_arm import RAM_BASES
from cobnut.errors import CobnutError, unknown
from cobnut.process import run_logged

FORMATS = ("raw", "uboot")
MACHINE_NUMBERS = {"versatilepb": 387, "collie": 208}  # Linux, arch/arm/tools/mach-types
MB = 1 << 20
TAGS_OFFSET, KERNEL_OFFSET = 0x100, 0x10000  # from the start of memory; the latter is IMAGE_OFFSET (kernel/arm)
LOAD_OFFSET = 8 * MB  # above where sigma0 and the root server are loaded to
LEAST_OFFSET = 4 * MB
LEAST_MEMORY_MB, MOST_MEMORY_MB = 16, 512
# Linux, Documentation/arch/arm/setup.rst: words in all, kind, values
CORE, MEMORY, DISK = 0x54410001, 0x54410002, 0x54420005
DISK_START = 4 * 11  # where in the tags below
# U-Boot, include/image.h: header of an image
UBOOT_HEADER = struct.Struct(">7I4B32s")
UBOOT_MAGIC, OS_LINUX, ARCH_ARM, TYPE_KERNEL, NOT_COMPRESSED = 0x27051956, 5, 2, 2, 0


@dataclass(frozen=True)
class Target:
    """What an image is for: the board's memory, and where a loader is to put the image."""

    board: Board
    memory_mb: int
    address: int
    format: str

    @property
    def ram(self) -> int:
        """Where the memory starts."""
        return RAM_BASES[self.board.name]


def target(board: Board, memory_mb: int, address: str | None, format: str) -> Target:
    """Refuses what cannot be."""
    if board.processor is not ARM:
        raise CobnutError(f"flash: not for board {board.name}; for a PC, ./cobnut iso writes what it boots from")
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if not LEAST_MEMORY_MB <= memory_mb <= MOST_MEMORY_MB:
        raise CobnutError(f"--memory {memory_mb}: must be from {LEAST_MEMORY_MB} to {MOST_MEMORY_MB}")
    ram = RAM_BASES[board.name]
    try:
        place = ram + LOAD_OFFSET if address is None else int(address, 0)
    except ValueError:
        raise CobnutError(f"--address {address}: is not a number") from None
    least, most = ram + LEAST_OFFSET, ram + memory_mb * MB // 2
    if not least <= place <= most or place % 4:
        raise CobnutError(f"--address {address}: must be a multiple of 4 from {least:#x} to {most:#x} on {board.name}")
    return Target(board, memory_mb, place, format)


def image(boot: Boot, wanted: Target) -> bytes:
    """The image's bytes: the same for the same programs."""
    kernel = _padded(boot.kernel.read_bytes())
    modules = [(f"{one.name} {one.arguments}".strip(), one.path.read_bytes()) for one in boot.modules]
    archive = cpio.archive([cpio.program(name, content) for name, content in modules])
    tags = _tags(wanted, len(archive))
    start = _start()
    values = 13 * 4
    tags_at = len(start) + values
    kernel_at = tags_at + len(tags)
    archive_at = kernel_at + len(kernel)
    head = struct.pack(
        "<13I",
        *(wanted.ram, wanted.memory_mb * MB),
        *(archive_at, len(archive), wanted.ram + LOAD_OFFSET),
        *(kernel_at, len(kernel), wanted.ram + KERNEL_OFFSET),
        *(tags_at, len(tags), wanted.ram + TAGS_OFFSET),
        *(MACHINE_NUMBERS[wanted.board.name], DISK_START),
    )
    data = start + head + tags + kernel + archive
    if wanted.address + len(data) > wanted.ram + wanted.memory_mb * MB * 3 // 4:  # the last quarter is the kernel's
        raise CobnutError(f"--memory {wanted.memory_mb}: too little for an image of {len(data):,} bytes")
    return data if wanted.format == "raw" else _uboot_header(data, wanted) + data


def advice(file: Path, wanted: Target) -> str:
    """How a loader is told to start it."""
    if wanted.format == "uboot":
        return f"U-Boot: load {file.name} to memory that it does not occupy, then bootm"
    return f"load it to {wanted.address:#x} and start it there, or have the processor start from it in flash"


def _tags(wanted: Target, archive_bytes: int) -> bytes:
    """The tag list; the disk's start is filled in when it is known."""
    words = [5, CORE, 0, 0, 0]
    words += [4, MEMORY, wanted.memory_mb * MB, wanted.ram]
    words += [4, DISK, 0, archive_bytes]
    return struct.pack(f"<{len(words) + 2}I", *words, 0, 0)


def _start() -> bytes:
    """The code that comes first."""
    folder = paths.BUILD / "flash"
    folder.mkdir(parents=True, exist_ok=True)
    code, plain = folder / "start.elf", folder / "start.bin"
    options = ["-march=armv4", "-nostdlib", "-Wl,--build-id=none", "-Wl,-Ttext=0", "-Wl,-e,flash_start"]
    run_logged(["arm-none-eabi-gcc", *options, str(paths.LAB / "flash" / "start.S"), "-o", str(code)], "flash.log")
    copy = ["arm-none-eabi-objcopy", "-O", "binary", "-j", ".text", str(code), str(plain)]
    run_logged(copy, "flash.log", append=True)
    return plain.read_bytes()


def _uboot_header(data: bytes, wanted: Target) -> bytes:
    """The header before `data`; its date is always 0, so that the same image has the same bytes."""

    def packed(own_sum: int) -> bytes:
        numbers = (UBOOT_MAGIC, own_sum, 0, len(data), wanted.address, wanted.address, zlib.crc32(data))
        kinds = (OS_LINUX, ARCH_ARM, TYPE_KERNEL, NOT_COMPRESSED)
        return UBOOT_HEADER.pack(*numbers, *kinds, f"Cobnut for {wanted.board.name}".encode())

    return packed(zlib.crc32(packed(0)))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
