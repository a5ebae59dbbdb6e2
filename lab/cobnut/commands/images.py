# SPDX-License-Identifier: GPL-2.0-or-later
"""The words of `iso` and `flash`, which write kernel and modules as one image."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from cobnut import boards, guests, modules, writable
from cobnut import build as building
from cobnut.emulators import Boot
from cobnut.errors import CobnutError
from cobnut.guests import DEFAULT_MEMORY_MB, DEFAULT_ROOT, DEFAULT_SIGMA0
from cobnut.options import (
    AppendOption,
    BoardOption,
    KernelSetting,
    MemoryOption,
    Modules,
    RootOption,
    Sigma0Option,
)


def iso(
    file: Annotated[Path, typer.Argument(help="The image to be written; an old one is replaced.", metavar="FILE")],
    module: Modules = None,
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    given: KernelSetting = None,
) -> None:
    """Writes a CD image that boots modules on a PC with a BIOS, from CD or stick; the console is the first serial
    port.
    """
    from cobnut import cd

    target = boards.configured(boards.find("pc"), given or [])
    writable.check(str(file), file, writable.try_file)
    guests.check_payload("iso", module or [], root)
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    cd.ensure()
    with tempfile.TemporaryDirectory(prefix="cobnut-") as folder:
        cd.write(Boot(target.kernel, chosen, append), file.resolve(), Path(folder))
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB; to a stick: dd if={file} of=/dev/STICK bs=1M conv=fsync")


def flash(
    file: Annotated[Path, typer.Argument(help="The image to be written; an old one is replaced.", metavar="FILE")],
    module: Modules = None,
    board: BoardOption = "versatilepb",
    format: Annotated[
        str, typer.Option("--format", help="raw, or uboot: with a header for bootm.", metavar="FORMAT")
    ] = "raw",
    address: Annotated[
        str | None,
        typer.Option("--address", help="Where a loader puts it; by default 8 MB above the start.", metavar="ADDRESS"),
    ] = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
    root: RootOption = "root",
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    given: KernelSetting = None,
) -> None:
    """Writes one image of kernel and modules for a board with an ARM processor, for its boot loader or its flash."""
    from cobnut import flash as flashing

    target = boards.configured(boards.find(board), given or [])
    wanted = flashing.target(target, memory, address, format)
    writable.check(str(file), file, writable.try_file)
    if not module and root == "root":
        raise CobnutError(f"name at least one module, for example: ./cobnut flash {file} hello")
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    file.write_bytes(flashing.image(Boot(target.kernel, chosen), wanted))
    print(f"{file}: {file.stat().st_size:,} bytes; {flashing.advice(file, wanted)}")
