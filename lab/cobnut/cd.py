# SPDX-License-Identifier: GPL-2.0-or-later
"""A boot CD with GRUB: for a PC, which starts from it as a CD or, written to a stick, as a hard disk, and for Bochs."""

import subprocess
from pathlib import Path

from cobnut import packages
from cobnut.emulators import Boot, stage
from cobnut.process import run_logged

GRUB_FILES = "/usr/lib/grub/i386-pc"
# the partition tables are those of a stick; the rest serves both
GRUB_MODULES = "multiboot normal iso9660 biosdisk configfile part_msdos part_gpt search_fs_uuid"

CONFIG = """set timeout=0
menuentry cobnut {{
{lines}
    boot
}}
"""


def ensure() -> None:
    """Makes sure of what makes a boot CD."""
    packages.ensure(packages.CD)


def write(boot: Boot, iso: Path, folder: Path) -> None:
    """Writes the image `iso` that boots `boot`'s kernel, options and modules, ELF files without what debuggers read;
    `folder` is an empty one to work in.
    """
    tree = folder / "tree"
    (tree / "boot" / "grub").mkdir(parents=True)
    modules = folder / "modules"
    modules.mkdir()
    lines = stage(boot, modules)
    (tree / "boot" / "kernel").write_bytes(boot.kernel.read_bytes())
    # GRUB leaves the file's name out of a command line, QEMU does not: repeat it, so that a guest sees the same on both
    config = [f"    multiboot /boot/kernel {_quoted('cobnut-kernel ' + boot.options)}"]
    for line in lines:
        name = line.split(" ", 1)[0]
        (tree / "boot" / name).write_bytes((modules / name).read_bytes())
        config.append(f"    module /boot/{name} {_quoted(line)}")
    _strip([path for path in (tree / "boot").iterdir() if path.is_file()])
    (tree / "boot" / "grub" / "grub.cfg").write_text(CONFIG.format(lines="\n".join(config)))
    options = ["-d", GRUB_FILES, f"--install-modules={GRUB_MODULES}", "--fonts=", "--locales=", "--themes="]
    run_logged(["grub-mkrescue", *options, "-o", str(iso), str(tree)], str(folder / "grub.log"))


def _strip(files: list[Path]) -> None:
    """Takes debugging information out: most of a file, and a BIOS reads slowly. What is no ELF file stays as it is."""
    subprocess.run(["strip", "-g", *map(str, files)], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _quoted(line: str) -> str:
    return " ".join("'" + word.replace("'", "") + "'" for word in line.split())
