# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels that are not ours, as files: what QEMU's own loader takes, and what is wrong with a file that it does not
take.
"""

import struct
from pathlib import Path

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


def parse(texts: list[str]) -> tuple[Module, ...]:
    """The images that `texts` name, each a path with arguments behind it: a kernel, then what it is to find in
    memory.
    """
    images = []
    for text in texts:
        name, _, arguments = text.strip().partition(" ")
        if not name:
            raise CobnutError("--image: an empty name")
        images.append(Module(Path(name), arguments.strip()))
    for index, image in enumerate(images):
        data = _contents(image.path)
        if index == 0 and kind(data) is None:
            raise CobnutError(
                f"--image {image.path}: neither a multiboot executable for IA-32 nor a bzImage of Linux, as the first"
                " one has to be"
            )
        if index == 0 and is_cut_off(data):
            raise CobnutError(f"--image {image.path}: a bzImage that is cut off")
    return tuple(images)


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
