# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that are not ours, as files: what QEMU's own loaders take, and what is wrong with a file that they do not
take.
"""

import struct
from collections.abc import Callable
from pathlib import Path

from cobnut.boards import ARM, IA32, Processor
from cobnut.errors import CobnutError
from cobnut.modules import Module, elf_fault

MULTIBOOT_MAGIC = 0x1BADB002
MULTIBOOT_WITHIN = (
    8192  # bytes of the file in which its header has to begin, at a multiple of 4 (Multiboot 0.6.96, 3.1)
)
# Linux, Documentation/arch/x86/boot.rst: signatures of the boot sector and of the setup header
BOOT_SECTOR, BOOT_SIGNATURE = 0x1FE, b"\x55\xaa"
SETUP_HEADER, SETUP_SIGNATURE = 0x202, b"HdrS"
SETUP_SECTORS, CODE_SIZE = 0x1F1, 0x1F4  # sectors of 512 bytes beside the first, and units of 16 bytes behind them
# Linux, arch/arm/boot/compressed/head.S: a zImage's signature, and beside it where it begins and ends
ZIMAGE_AT, ZIMAGE_MAGIC = 0x24, 0x016F2818
UIMAGE_MAGIC = b"\x27\x05\x19\x56"  # U-Boot, include/image.h
ALWAYS = 0xE  # condition of an instruction that is executed in any case (ARM DDI 0100, A3.2)
FIRST = {
    IA32: "neither a multiboot executable for IA-32 nor a bzImage of Linux",
    ARM: "neither a zImage nor a uImage nor an executable for ARM nor a plain image, which begins with an instruction",
}


def parse(texts: list[str], processor: Processor = IA32) -> tuple[Module, ...]:
    """The images that `texts` name, each a path with arguments behind it: a kernel, then what it is to find in
    memory.
    """
    images = []
    for text in texts:
        name, _, arguments = text.strip().partition(" ")
        if not name:
            raise CobnutError("--image: an empty name")
        images.append(Module(Path(name), arguments.strip()))
    contents = [_contents(image.path) for image in images]
    if images:
        _check_kernel(images[0].path, contents[0], processor)
    if images and processor is ARM:
        _check_arm(images, contents[0])
    return tuple(images)


def _check_kernel(path: Path, data: bytes, processor: Processor) -> None:
    kinds: dict[Processor, Callable[[bytes], str | None]] = {IA32: kind, ARM: arm_kind}
    found = kinds[processor](data)
    if found is None:
        raise CobnutError(f"--image {path}: {FIRST[processor]}, as the first one has to be")
    if found == "linux" and is_cut_off(data):
        raise CobnutError(f"--image {path}: a bzImage that is cut off")
    if found == "zimage" and len(data) < _zimage_size(data):
        raise CobnutError(f"--image {path}: a zImage that is cut off")


def _check_arm(images: list[Module], kernel: bytes) -> None:
    """Refuses what the boot convention for ARM has no place for."""
    if len(images) > 2:
        raise CobnutError("--image: a kernel for ARM finds one more in memory, its initial RAM disk")
    if len(images) == 2 and images[1].arguments:
        raise CobnutError(f"--image {images[1].path}: an initial RAM disk has no arguments")
    if arm_kind(kernel) == "elf" and (len(images) == 2 or images[0].arguments):
        raise CobnutError(
            f"--image {images[0].path}: QEMU starts an executable for ARM at its entry, with neither arguments nor an"
            " initial RAM disk"
        )


def arm_kind(data: bytes) -> str | None:
    """The same for ARM: `zimage`, `uimage`, `elf`, `plain` or None."""
    if data[:4] == b"\x7fELF":
        return "elf" if elf_fault(data, ARM) is None else None
    if data[:4] == UIMAGE_MAGIC:
        return "uimage"
    if len(data) > ZIMAGE_AT + 12 and struct.unpack_from("<I", data, ZIMAGE_AT)[0] == ZIMAGE_MAGIC:
        return "zimage"
    return "plain" if len(data) >= 4 and data[3] >> 4 == ALWAYS else None


def _zimage_size(data: bytes) -> int:
    first, end = struct.unpack_from("<II", data, ZIMAGE_AT + 4)
    return end - first


def kind(data: bytes) -> str | None:
    """What a kernel's file is: `multiboot`, `linux`, or None for anything else."""
    if (
        data[BOOT_SECTOR : BOOT_SECTOR + 2] == BOOT_SIGNATURE
        and data[SETUP_HEADER : SETUP_HEADER + 4] == SETUP_SIGNATURE
    ):
        return "linux"
    head = data[:MULTIBOOT_WITHIN]
    words = struct.unpack(f"<{len(head) // 4}I", head[: len(head) // 4 * 4])
    for magic, flags, checksum in zip(words, words[1:], words[2:], strict=False):
        if magic == MULTIBOOT_MAGIC and (magic + flags + checksum) & 0xFFFFFFFF == 0:
            return "multiboot" if elf_fault(data) is None else None
    return None


def is_cut_off(data: bytes) -> bool:
    """Whether a bzImage holds less than its header says. Of a multiboot executable `kind` has seen that."""
    if kind(data) != "linux":
        return False
    setup = (data[SETUP_SECTORS] or 4) + 1  # 0 stands for 4
    (code,) = struct.unpack_from("<I", data, CODE_SIZE)
    return len(data) < 512 * setup + 16 * code


def _contents(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CobnutError(f"--image {path}: no such file") from None
    except IsADirectoryError:
        raise CobnutError(f"--image {path}: is a folder") from None
    except OSError as error:
        raise CobnutError(f"--image {path}: {error.strerror}") from None
    if not data:
        raise CobnutError(f"--image {path}: is empty")
    return data
