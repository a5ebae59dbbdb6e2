# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from cobnut import completion

_PROGRAMS = "Payload: a built program's name or an ELF file, quoted if it has arguments."
_SYSTEM = " Or one system: its name or its description, a file that ends in .toml."
Modules = Annotated[
    list[str] | None,
    typer.Argument(help=_PROGRAMS, metavar="MODULE...", autocompletion=completion.programs),
]
Payload = Annotated[
    list[str] | None,
    typer.Argument(help=_PROGRAMS + _SYSTEM, metavar="MODULE...", autocompletion=completion.programs),
]
RootOption = Annotated[str, typer.Option("--root", help="The root server, as a MODULE.", metavar="PROGRAM")]
Sigma0Option = Annotated[str, typer.Option("--sigma0", help="The sigma0 server.", metavar="FILE")]
AppendOption = Annotated[str, typer.Option("--append", help="Options of the kernel.", metavar="OPTIONS")]
ImageOption = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        help=(
            "Any kernel (multiboot or bzImage; for ARM zImage, uImage, ELF or plain), then its modules or its initial"
            " RAM disk, each quoted with its arguments."
        ),
        metavar="FILE",
    ),
]
SymbolsOption = Annotated[
    Path | None,
    typer.Option("--symbols", help="With --image: names of its code, an ELF file or a System.map.", metavar="FILE"),
]
QemuArgsOption = Annotated[
    list[str] | None,
    typer.Option("--qemu-args", help="Further words of QEMU's command line, quoted as one.", metavar="WORDS"),
]
RegionOption = Annotated[
    list[str] | None,
    typer.Option("--region", help="A case that the guest does not mark (docs/plugin.md).", metavar="CASE:WHAT"),
]
ProgramOption = Annotated[
    list[str] | None,
    typer.Option("--program", help="A program of the guest's, for --region: an ELF file.", metavar="NAME:FILE"),
]
ProcessesOption = Annotated[
    str | None,
    typer.Option(
        "--processes",
        help="Tells processes apart: which kernel has them, or a file that describes it.",
        metavar="KERNEL",
        autocompletion=completion.processes,
    ),
]
UntilOption = Annotated[
    str | None, typer.Option("--until", help="Ends the run when the console says this.", metavar="TEXT")
]
WindowsOption = Annotated[
    str | None,
    typer.Option(
        "--windows",
        help="Models random windows only: LENGTH/ONE_IN[:warm=UNITS][:seed=N][:misses=on].",
        metavar="PLAN",
    ),
]
PiecesOption = Annotated[
    Path | None,
    typer.Option("--pieces", help="With --windows: keeps them here, and goes on with those it has.", metavar="FILE"),
]
NetAtOption = Annotated[
    str | None,
    typer.Option("--net-at", help="The same, elsewhere: user, udp=PORT of the loopback, tap=NAME.", metavar="WHERE"),
]
ForwardOption = Annotated[
    list[str] | None,
    typer.Option(
        "--forward",
        help="With --net: a TCP port of the guest's, and the loopback's that leads to it, or any that is free.",
        metavar="[HOST:]GUEST",
    ),
]
CpuOption = Annotated[str | None, typer.Option("--cpu", help="The emulator's name of a processor.", metavar="MODEL")]
MemoryOption = Annotated[int, typer.Option("--memory", help="Main memory in MB.", metavar="MB")]
SecondsOption = Annotated[float | None, typer.Option("--seconds", help="Ends the run after so long.", metavar="N")]
BoardOption = Annotated[
    str, typer.Option("--board", help="The board to build for.", metavar="BOARD", autocompletion=completion.boards_)
]
KINDS_OF_KERNEL = (
    "checked=on: a kernel that asserts its invariants as it runs. For ARM, tags=off: the standard kernel, which flushes"
    " at every switch."
)
KernelSetting = Annotated[
    list[str] | None,
    typer.Option("--set", help=KINDS_OF_KERNEL, metavar="K=on|off"),
]
BuildSetting = Annotated[
    list[str] | None,
    typer.Option("--set", help=f"{KINDS_OF_KERNEL} guest=NAME: a kernel that is not ours.", metavar="K=VALUE"),
]
