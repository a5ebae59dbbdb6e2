# SPDX-License-Identifier: GPL-2.0-or-later
"""The words of `./cobnut linux`."""

from pathlib import Path
from typing import Annotated

import typer

from cobnut import completion
from cobnut.options import CpuOption, ForwardOption, NetAtOption, SecondsOption


def linux(
    run: Annotated[
        str | None,
        typer.Option("--run", help="Runs this instead of a shell, and ends with its status.", metavar="CMD"),
    ] = None,
    files: Annotated[
        Path | None, typer.Option("--files", help="A folder whose files are at /files in the guest.", metavar="DIR")
    ] = None,
    image: Annotated[
        str,
        typer.Option(
            "--image", help="The file system: one of linux/guests.", metavar="NAME", autocompletion=completion.images_
        ),
    ] = "minimal",
    small: Annotated[
        str | None,
        typer.Option("--small", help="What is in small spaces: server, which is usual, all, or none.", metavar="WHAT"),
    ] = None,
    kernel: Annotated[
        str, typer.Option("--kernel", help="server, or native: Debian's own kernel instead.", metavar="WHICH")
    ] = "server",
    append: Annotated[str, typer.Option("--append", help="Options of Linux.", metavar="OPTIONS")] = "",
    memory: Annotated[
        int | None, typer.Option("--memory", help="Linux's memory in MB; by default what the image says.", metavar="MB")
    ] = None,
    emulator: Annotated[str, typer.Option(help="qemu or bochs.", metavar="NAME")] = "qemu",
    cpu: CpuOption = None,
    seconds: SecondsOption = None,
    version: Annotated[
        str | None,
        typer.Option("--version", help="Of Debian's linux-source-6.1, by default one that was tried.", metavar="V"),
    ] = None,
    disk: Annotated[
        Path | None,
        typer.Option("--disk", help="/dev/cba in the guest: a raw image, which is written to.", metavar="FILE"),
    ] = None,
    net: Annotated[bool, typer.Option("--net", help="eth0 in the guest, on a network of the emulator's own.")] = False,
    net_at: NetAtOption = None,
    forward: ForwardOption = None,
    screen: Annotated[
        bool, typer.Option("--screen", help="/dev/fb0 in the guest, of 1024x768 pixels, with keyboard and mouse.")
    ] = False,
    screen_size: Annotated[
        str | None, typer.Option("--screen-size", help="The same, of another size.", metavar="WIDTHxHEIGHT")
    ] = None,
    display: Annotated[
        str | None,
        typer.Option(
            "--display", help="Where QEMU shows the screen: gtk, vnc=:1, none; else in a window.", metavar="WHERE"
        ),
    ] = None,
) -> None:
    """Boots Linux as a server, with a shell on this terminal or one command; ends with its status."""
    from cobnut.emulators import nic
    from cobnut.linux import guest
    from cobnut.linux import screen as screens

    wish = guest.Wish(
        image=image,
        run=run,
        files=files,
        kernel=kernel,
        small=small,
        append=append,
        memory_mb=memory,
        seconds=seconds,
        emulator=emulator,
        cpu=cpu,
        version=version,
        disk=disk,
        net_at=nic.place(net, net_at),
        forward=tuple(forward or ()),
        screen=screens.place(screen, screen_size),
        display_at=display,
    )
    raise typer.Exit(guest.run(wish))
