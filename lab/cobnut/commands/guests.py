# SPDX-License-Identifier: GPL-2.0-or-later
"""The words of `boot`, `record` and `trace`, which say what a guest is made of."""

from pathlib import Path
from typing import Annotated

import typer

from cobnut import booting, completion, guests, modules, paths, writable
from cobnut import build as building
from cobnut import windows as in_windows
from cobnut.booting import Ways
from cobnut.emulators import Boot, nic
from cobnut.guests import DEFAULT_MEMORY_MB, DEFAULT_ROOT, DEFAULT_SIGMA0, LEAST_MEMORY_MB, Asked
from cobnut.options import (
    AppendOption,
    BoardOption,
    CpuOption,
    ForwardOption,
    ImageOption,
    KernelSetting,
    MemoryOption,
    Modules,
    NetAtOption,
    Payload,
    PiecesOption,
    ProcessesOption,
    ProgramOption,
    QemuArgsOption,
    RegionOption,
    RootOption,
    SecondsOption,
    Sigma0Option,
    SymbolsOption,
    UntilOption,
    WindowsOption,
)


def boot(
    module: Payload = None,
    board: BoardOption = "pc",
    emulator: Annotated[str, typer.Option(help="qemu or bochs.", metavar="NAME")] = "qemu",
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    cpu: CpuOption = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
    image: ImageOption = None,
    symbols: SymbolsOption = None,
    qemu_args: QemuArgsOption = None,
    seconds: SecondsOption = None,
    until: UntilOption = None,
    region: RegionOption = None,
    program: ProgramOption = None,
    processes: ProcessesOption = None,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Looks for forgotten invalidations; status 1 if there are any.")
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine",
            help="Measures the run on this machine.",
            metavar="MACHINE",
            autocompletion=completion.machines_,
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", help="With --machine: also writes everything measured here.", metavar="FILE"),
    ] = None,
    windows: WindowsOption = None,
    pieces: PiecesOption = None,
    given: KernelSetting = None,
    gdb: Annotated[
        bool,
        typer.Option("--gdb", help="Stops at the first instruction and starts gdb; without a terminal, waits for one."),
    ] = False,
    disk: Annotated[
        Path | None,
        typer.Option("--disk", help="The first IDE disk, a raw image, which is written to.", metavar="FILE"),
    ] = None,
    display: Annotated[
        str | None,
        typer.Option("--display", help="Where QEMU shows a system's display: gtk, vnc=:1, ...", metavar="WHERE"),
    ] = None,
    net: Annotated[
        bool, typer.Option("--net", help="Gives a system its network card, on a network of the emulator's own.")
    ] = False,
    net_at: NetAtOption = None,
    forward: ForwardOption = None,
    ex: Annotated[
        list[str] | None,
        typer.Option(
            "--ex",
            help="With --gdb: a command of gdb's to be executed; after the last, the run ends.",
            metavar="COMMAND",
        ),
    ] = None,
) -> None:
    """Boots modules, or with --image any kernel, with the serial console on this terminal; Ctrl-A x leaves."""
    asked = Asked(
        command="boot",
        module=module or [],
        board=board,
        given=given or [],
        emulator=emulator,
        root=root,
        sigma0=sigma0,
        append=append,
        cpu=cpu,
        memory_mb=memory,
        image=image or [],
        symbols=symbols,
        qemu_args=qemu_args or [],
        seconds=seconds,
        until=until,
        region=region or [],
        program=program or [],
        processes=processes,
        disk=disk,
        display_at=display,
        net_at=nic.place(net, net_at),
        forward=forward or [],
    )
    ways = Ways(sanitize, machine, json, gdb, tuple(ex or ()), in_windows.wish(windows, pieces))
    raise typer.Exit(booting.boot(asked, ways))


def record(
    out: Annotated[Path, typer.Option("--out", help="Where the record goes.", metavar="FILE")],
    module: Payload = None,
    board: BoardOption = "pc",
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    cpu: CpuOption = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
    image: ImageOption = None,
    symbols: SymbolsOption = None,
    qemu_args: QemuArgsOption = None,
    seconds: SecondsOption = None,
    until: UntilOption = None,
    region: RegionOption = None,
    program: ProgramOption = None,
    processes: ProcessesOption = None,
    given: KernelSetting = None,
) -> None:
    """Boots like boot, and records the run for machines to come."""
    asked = Asked(
        command="record --out x.record",
        module=module or [],
        board=board,
        given=given or [],
        root=root,
        sigma0=sigma0,
        append=append,
        cpu=cpu,
        memory_mb=memory,
        image=image or [],
        symbols=symbols,
        qemu_args=qemu_args or [],
        seconds=seconds,
        until=until,
        region=region or [],
        program=program or [],
        processes=processes,
    )
    raise typer.Exit(booting.record(asked, out))


def trace(
    module: Modules = None,
    output: Annotated[
        Path, typer.Option("--output", help="Where the JSON goes.", metavar="FILE", show_default="build/trace.json")
    ] = paths.BUILD / "trace.json",
    ring: Annotated[
        int, typer.Option("--ring", help="KB of kernel memory for events, 32 bytes each.", metavar="KB")
    ] = 1024,
    seconds: SecondsOption = None,
    board: BoardOption = "pc",
    root: RootOption = DEFAULT_ROOT,
    sigma0: Sigma0Option = DEFAULT_SIGMA0,
    append: AppendOption = "",
    cpu: CpuOption = None,
    memory: MemoryOption = DEFAULT_MEMORY_MB,
) -> None:
    """Boots modules like boot, and writes what the kernel did as a trace for Perfetto."""
    from cobnut import tracing
    from cobnut.emulators import qemu

    target = guests.board_for("trace", board)
    guests.check_payload("trace", module or [], root)
    guests.check_memory(memory, LEAST_MEMORY_MB, "qemu")
    tracing.check_ring(ring)
    guests.check_seconds(seconds)
    writable.check(f"--output {output}", output, writable.try_file)
    building.images(target)
    chosen = tuple(modules.parse(text, target) for text in (sigma0, root, *(module or [])))
    qemu.ensure()
    options = f"{append} trace={ring}".strip()
    done = tracing.run(Boot(target.kernel, chosen, options, Boot.cpu if cpu is None else cpu, memory), output, seconds)
    print(f"trace: {done.trace.say()}")
    print(f"written: {paths.shown(output)} (open it at https://ui.perfetto.dev)")
    if done.failure:
        raise done.failure
    raise typer.Exit(done.code)
