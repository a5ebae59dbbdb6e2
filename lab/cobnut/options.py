# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from cobnut import completion

Payload = Annotated[
    list[str] | None,
    typer.Argument(
        help="Payload: a built program's name or an ELF file, quoted if it has arguments.",
        metavar="MODULE...",
        autocompletion=completion.programs,
    ),
]
RootOption = Annotated[str, typer.Option("--root", help="The root server, as a MODULE.", metavar="PROGRAM")]
Sigma0Option = Annotated[str, typer.Option("--sigma0", help="The sigma0 server.", metavar="FILE")]
AppendOption = Annotated[str, typer.Option("--append", help="Options of the kernel.", metavar="OPTIONS")]
ImageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        help="Any kernel (multiboot or bzImage), then its modules, each quoted with its arguments.",
        metavar="FILE",
    ),
]
CpuOption = Annotated[str | None, typer.Option("--cpu", help="The emulator's name of a processor.", metavar="MODEL")]
MemoryOption = Annotated[int, typer.Option("--memory", help="Main memory in MB.", metavar="MB")]
SecondsOption = Annotated[float | None, typer.Option("--seconds", help="Ends the run after so long.", metavar="N")]
BoardOption = Annotated[
    str, typer.Option("--board", help="The board to build for.", metavar="BOARD", autocompletion=completion.boards_)
]
KernelSetting = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help=(
            "checked=on: a kernel that asserts its invariants as it runs. For ARM, tags=off: the standard kernel, which"
            " flushes at every switch."
        ),
        metavar="K=on|off",
    ),
]
