# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest from its options to its status: Linux as a server on this kernel, or natively."""

import sys
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cobnut import boards, build, guests, modules
from cobnut.emulators import Boot, bochs, check_name, forwards, nic, qemu
from cobnut.emulators.disk import check as check_disk
from cobnut.emulators.ending import End
from cobnut.errors import CobnutError, unknown
from cobnut.linux import drivers, images, initrd, native, room, screen, server, verdict
from cobnut.linux.console import Command
from cobnut.linux.images import Image
from cobnut.linux.initrd import MB, Extra, Written
from cobnut.linux.server import Server
from cobnut.modules import Module

KERNELS = ("server", "native")
SMALL = ("server", "all", "none")
ROOT, SERVER = "linux-root", "server"
KERNEL_OPTIONS = "kmem=64000"
AREA_MB = {"all": 1024}  # of small spaces; of 256 MB each has one, if programs fit that are linked at 128 MB
LEAST_AREA_MB = 512
OVERHEAD_MB = 96  # of the machine's memory, beside Linux's and the image: the microkernel's, and the programs
LINUX_OPTIONS = "console=hvc0 quiet lpj=1000000"  # loops are not counted, which here depends on this machine's load
MOST_SERVER_MB = 2048  # what root keeps a book of (linux/root/memory.h)
# where that is small: the slot, without what is below the image and what vmalloc has (linux/root/memory.cc)
MOST_SMALL_MB = 256 - 4 - 16
IN_SLOT = ("server", "all")
TESTED = ("minimal", "debian", "tools")
LEAST_MB = 48  # beside the image
OWN_MB = 24  # of Linux's memory, before any program
UNLIMITED = "rootfstype=ramfs"


@dataclass(frozen=True)
class Wish:
    """What a user asks for."""

    image: str = images.DEFAULT
    run: str | None = None
    files: Path | None = None
    kernel: str = KERNELS[0]
    small: str | None = None
    append: str = ""
    memory_mb: int | None = None
    seconds: float | None = None
    emulator: str = "qemu"
    cpu: str | None = None
    version: str | None = None
    disk: Path | None = None
    net_at: str | None = None
    forward: tuple[str, ...] = ()
    screen: str | None = None
    display_at: str | None = None

    @property
    def extra(self) -> Extra:
        return Extra(self.run, self.files, self.net_at == nic.USER)


def check(wish: Wish) -> Image:
    """Refuses what does not fit together, before anything is fetched; returns the image."""
    check_name(wish.emulator)
    guests.check_seconds(wish.seconds)
    if wish.kernel not in KERNELS:
        raise unknown("kernel", wish.kernel, KERNELS)
    if wish.small is not None and wish.small not in SMALL:
        raise unknown("placement", wish.small, SMALL)
    if wish.kernel == "native":
        refused = (
            ("--small", wish.small),
            ("--version", wish.version),
            ("--disk", wish.disk),
            ("--net", wish.net_at),
            ("--forward", wish.forward or None),
            ("--screen", wish.screen),
            ("--display", wish.display_at),
        )
        for option, given in refused:
            if given is not None:
                raise CobnutError(f"{option}: is not for --kernel native")
        if wish.emulator != "qemu":
            raise CobnutError(f"--kernel native: works on qemu, not on {wish.emulator}")
    if "\n" in wish.append or "\0" in wish.append:
        raise CobnutError("--append: options of Linux stand in one line")
    if wish.disk:
        check_disk(wish.disk)
    forwards.check(wish.forward, wish.net_at)
    if wish.net_at is not None:
        nic.check_place(wish.net_at)
    _check_screen(wish)
    initrd.check(wish.extra)
    image = images.find(wish.image)
    if wish.memory_mb is not None:
        guests.check_memory(wish.memory_mb, LEAST_MB, wish.emulator)
        if wish.kernel == "server" and wish.memory_mb > MOST_SERVER_MB:
            raise CobnutError(f"--memory {wish.memory_mb}: Linux as a server takes {MOST_SERVER_MB} MB at most")
        if wish.small in IN_SLOT and wish.memory_mb > _most_small_mb(wish):
            raise CobnutError(f"--memory {wish.memory_mb}: {_slot_limit(wish)}")
    return image


def _check_screen(wish: Wish) -> None:
    if wish.screen is not None:
        screen.check(wish.screen)
    if wish.display_at is not None and wish.screen is None:
        raise CobnutError("--display: is for --screen")
    if wish.display_at is not None and wish.emulator == "bochs":
        raise CobnutError("--display: is for qemu; on bochs a window of its own shows it")


def _most_small_mb(wish: Wish) -> int:
    """Of a server in a small space, where a screen needs room, too."""
    return MOST_SMALL_MB - (screen.ROOM_MB if wish.screen else 0)


def _slot_limit(wish: Wish) -> str:
    beside = " beside a screen" if wish.screen else ""
    return f"a server in a small space takes {_most_small_mb(wish)} MB{beside} at most"


def ensure() -> None:
    """Makes what takes long, for all images that tests boot."""
    server.ensure()
    native.ensure()
    for name in TESTED:
        initrd.base(images.find(name))


def run(wish: Wish) -> int:
    """Makes what is missing, boots, and returns the status of the guest's command or shell."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        return _booted(prepare(wish, Path(name)), wish)


def prepare(wish: Wish, folder: Path) -> Boot:
    """Makes what is missing, and in `folder` the file system; returns the boot that is wished for."""
    image = check(wish)
    if wish.emulator == "bochs":
        bochs.ensure(display=wish.screen is not None)
    else:
        qemu.ensure()
    kernel = native.ensure() if wish.kernel == "native" else _server(wish)
    archive = folder / "initrd"
    with room.needed(archive.parent, 0, f"the image {image.name}"):
        wanted_mb = min(wish.memory_mb or image.memory_mb, MOST_SERVER_MB)
        written = initrd.write(image, wish.extra, archive, most=(wanted_mb - LEAST_MB) * MB)
    least_mb = LEAST_MB + written.both // MB
    wish, memory_mb = placed(replace(wish, append=f"{image.append} {wish.append}".strip()), image, least_mb)
    if "rootfstype=" not in wish.append and not _half_takes(written, memory_mb):
        wish = replace(wish, append=f"{wish.append} {UNLIMITED}".strip())
    if wish.kernel == "server" and least_mb > MOST_SERVER_MB:
        raise CobnutError(f"the image {image.name} needs {least_mb} MB, and Linux as a server takes {MOST_SERVER_MB}")
    if memory_mb < least_mb:
        raise CobnutError(f"--memory {memory_mb}: is too little for the image {image.name}, which needs {least_mb} MB")
    cpu = guests.processor(wish.cpu, wish.emulator, image.cpu or Boot.cpu)
    return _boot(wish, kernel, archive, memory_mb, cpu)


def _half_takes(written: Written, memory_mb: int) -> bool:
    """Whether it fits into the usual file system, of half the memory that is left beside Linux and the archive."""
    return 2 * written.unpacked < (memory_mb - OWN_MB) * MB - written.archive


def placed(wish: Wish, image: Image, least_mb: int) -> tuple[Wish, int]:
    """The wish with a placement, and Linux's memory: the server is in a small space if its memory fits into one and
    nothing else is asked for. If that is asked for, it gets what fits, unless that is too little for the image.
    """
    most_mb = _most_small_mb(wish)
    memory_mb = wish.memory_mb or max(image.memory_mb, least_mb)
    if wish.kernel == "native":
        return wish, memory_mb
    if wish.memory_mb is None and memory_mb <= MOST_SMALL_MB and least_mb <= most_mb:
        memory_mb = min(memory_mb, most_mb)
    if wish.small is None:
        return replace(wish, small="server" if memory_mb <= most_mb else "none"), memory_mb
    if wish.small not in IN_SLOT or memory_mb <= most_mb:
        return wish, memory_mb
    if least_mb > most_mb:
        raise CobnutError(f"--small {wish.small}: {_slot_limit(wish)}, and the image {image.name} needs {least_mb} MB")
    return wish, most_mb


def _server(wish: Wish) -> Server:
    build.images(boards.find("pc"))
    made = server.ensure(wish.version)
    fault = modules.elf_fault(made.executable.read_bytes())
    if fault:
        raise CobnutError(f"{made.executable}: {fault}")
    return made


def _boot(wish: Wish, kernel: Server, archive: Path, memory_mb: int, cpu: str) -> Boot:
    """A boot in which Linux has `memory_mb`, natively or not."""
    if wish.kernel == "native":
        return native.boot(kernel, Module(archive), wish.append, memory_mb, cpu)
    pc = boards.find("pc")
    options = f"memory={memory_mb} small={wish.small}"
    if wish.screen:
        size = screen.check(wish.screen)
        options += f" width={size.width} height={size.height}"
    chosen = (
        Module(pc.program("sigma0")),
        Module(pc.program(ROOT), options),
        Module(kernel.executable, f"{LINUX_OPTIONS} {wish.append}".strip()),
        Module(archive),
        *(drivers.modules(pc, drivers.DISK) if wish.disk else ()),
        *(drivers.modules(pc, drivers.NET) if wish.net_at else ()),
        *(drivers.modules(pc, drivers.SCREEN) if wish.screen else ()),
    )
    kernel_options = f"small={AREA_MB.get(wish.small or '', LEAST_AREA_MB)} {KERNEL_OPTIONS}"
    machine_mb = memory_mb + OVERHEAD_MB + archive.stat().st_size // MB
    disk = check_disk(wish.disk) if wish.disk else None
    card = nic.Nic(drivers.CARD, wish.net_at, forwards.told(forwards.parse(wish.forward))) if wish.net_at else None
    return Boot(
        pc.kernel,
        chosen,
        kernel_options,
        cpu,
        machine_mb,
        disk=disk,
        display=wish.screen is not None,
        display_at=screen.shown_at(wish.display_at) if wish.screen else Boot.display_at,
        nic=card,
    )


def with_root(boot: Boot, words: str) -> Boot:
    """The same with these words more for root (linux/root/main.cc)."""
    sigma0, root, *rest = boot.modules
    return replace(boot, modules=(sigma0, replace(root, arguments=f"{root.arguments} {words}"), *rest))


def _booted(what: Boot, wish: Wish) -> int:
    emulator = bochs if wish.emulator == "bochs" else qemu
    if wish.run is None:
        return emulator.interact(what, end=End(wish.seconds), judge=partial(verdict.status, attended=True))
    command = Command(sys.stdout.buffer)
    ended = emulator.follow(what, command.feed, seconds=wish.seconds)
    command.finish()
    if ended.timed_out:
        raise CobnutError(f"--run: the command had not ended after {wish.seconds:g} s")
    try:
        return verdict.status(ended.console, ended.code)
    except verdict.Panic as panic:
        sys.stderr.write(panic.trace)  # which was not printed yet
        raise
