# SPDX-License-Identifier: GPL-2.0-or-later
"""Bochs: boots the same modules from a GRUB image on CD.

Slower than QEMU and without plugins, but it enforces segment limits, keeps global pages until they are invalidated, and
has a Pentium 4. A guest ends a run by writing "Shutdown" to port 0x8900; no number comes with it, so the console tells
how it went.
"""

import glob
import os
import pty
import select
import subprocess
import sys
import tempfile
import termios
import threading
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

from cobnut import backtrace, cd, packages, payloads
from cobnut.emulators import Boot, Judge, Outcome, carry, has_desktop, kernel_message
from cobnut.emulators.ending import NEVER, End, Watch
from cobnut.errors import CobnutError
from cobnut.process import Limit

PROGRAM = "bochs"
DEFAULT_CPU = "p4_willamette"
PLUGINS = "/usr/lib/*/bochs/plugins"
LEAST_MEMORY_MB = 32
CTRL_A = b"\x01"
# a seek takes 80 ms of the guest's time across the whole medium: on one this large, hardly any between boot files
FULL_CD = 650 << 20

# the dummy sound driver: the ALSA one ends the process on a machine without a sound card
CONFIG = """megs: {megs}
cpu: model={cpu}, count=1, ips=100000000, reset_on_triple_fault=0
romimage: file=/usr/share/bochs/BIOS-bochs-latest, options=fastboot
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
boot: cdrom
ata1: enabled=1, ioaddr1=0x170, ioaddr2=0x370, irq=15
ata1-master: type=cdrom, path={iso}, status=inserted
{disk}{pci}{nic}com1: enabled=1, mode={mode}, dev={device}
display_library: {library}
sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy
clock: sync=none
panic: action=report
log: {log}
"""


def ensure(display: bool = False) -> None:
    """Makes sure of Bochs, its BIOS images and what makes a boot CD, and of what shows a display."""
    packages.ensure(packages.BOCHS, packages.CD, packages.BOCHS_DISPLAY if display else ())


def version() -> str:
    """Bochs' own version, for provenance."""
    banner = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    for line in (banner.stdout + banner.stderr).splitlines():
        if "Bochs x86 Emulator" in line:
            return line.split("Emulator", 1)[1].strip()
    return "unknown"


def run(boot: Boot, *, timeout: float) -> Outcome:
    """Boots without a person and waits for the guest to shut down, `timeout` seconds of processor time at most
    (`process.Limit`).
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        console = folder / "console"
        start = time.monotonic()
        process = _start(boot, folder, mode="file", device=console)
        with Limit(process, timeout) as limit:
            process.wait()
        text = console.read_text(errors="replace") if console.exists() else ""
        fault = _panic(folder / "log")
        if fault and not text:
            raise CobnutError(f"Bochs: {fault}")
        if not limit.reached:
            _raise_if_refused(boot, process.returncode, text)
        text = backtrace.with_names(text.replace("\r", ""), boot.kernel)
        return Outcome(None, text, fault or "", time.monotonic() - start, limit.reached)


def follow(boot: Boot, seen: Callable[[bytes], None], *, seconds: float | None = None) -> Outcome:
    """Boots without a person; `seen` is called with what the guest writes to its console, as it comes. After `seconds`
    the run is cut off.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        start = time.monotonic()
        pipe = folder / "console"
        os.mkfifo(pipe)
        console = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        held = os.open(pipe, os.O_WRONLY)  # until Bochs has opened it, reading would find its end
        os.set_blocking(console, True)
        process = _start(boot, folder, mode="file", device=pipe)
        ender = threading.Thread(target=_close_after, args=(process, held), daemon=True)
        ender.start()
        try:
            text, cut_off = carry(console, seen, seconds)
        finally:
            process.kill()
            ender.join()
            os.close(console)
        fault = _panic(folder / "log")
        if fault and not text:
            raise CobnutError(f"Bochs: {fault}")
    said = text.decode(errors="replace").replace("\r", "")
    if not cut_off:
        _raise_if_refused(boot, process.returncode, said)
    return Outcome(None, backtrace.with_names(said, boot.kernel), fault or "", time.monotonic() - start, cut_off)


def _close_after(process: subprocess.Popen[bytes], held: int) -> None:
    process.wait()
    os.close(held)


def interact(boot: Boot, *, end: End = NEVER, judge: Judge | None = None) -> int:
    """Boots with the serial console on this terminal; Ctrl-A x leaves, and so does the `end`. Bochs gives no number
    back: what root says on the console tells how the programs ended, or `judge`.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        ours, theirs = pty.openpty()
        tty.setraw(theirs)
        process = _start(boot, folder, mode="term", device=Path(os.ttyname(theirs)))
        saved = termios.tcgetattr(0) if sys.stdin.isatty() else None
        if saved:
            tty.setraw(0)
        try:
            console = _pump(process, ours, end).decode(errors="replace").replace("\r", "")
            status = process.poll()
        finally:
            if saved:
                termios.tcsetattr(0, termios.TCSADRAIN, saved)
            process.kill()
            process.wait()
            os.close(theirs)
            os.close(ours)
        fault = _panic(folder / "log")
        if fault:
            raise CobnutError(f"Bochs: {fault}")
    _raise_if_refused(boot, status, console)
    if console and not console.endswith("\n"):
        print()  # the run has ended before its last line
    for line in payloads.fault_places(console, boot.modules):
        print(line)
    message = kernel_message(console)
    if message:
        for line in backtrace.lines(console, boot.kernel):
            print(line)
        raise CobnutError(f"the kernel stopped: {message}")
    return judge(console, None) if judge else payloads.status(console, boot.modules)


def _pump(process: subprocess.Popen[bytes], console: int, end: End = NEVER) -> bytes:
    """Carries bytes between this terminal and the guest's console until Bochs ends and nothing is left, Ctrl-A x, or
    the `end`.

    Returns what the guest wrote.
    """
    seen = b""
    inputs = [console, 0]
    shown = 0
    after_ctrl_a = False
    watch, told = Watch(end), 0
    while True:
        why = watch.why(seen[told:])
        told = len(seen)
        if why:
            print(f"\ncobnut: ended {why}", file=sys.stderr)
            return seen
        ready, _, _ = select.select(inputs, [], [], 0.1)
        if console in ready:
            seen += os.read(console, 4096)
            os.write(1, seen[shown:])
            shown = len(seen)
        elif process.poll() is not None:
            return seen
        if 0 in ready:
            typed = os.read(0, 1)
            if not typed:
                inputs.remove(0)
            elif after_ctrl_a and typed in b"xX":
                return seen
            elif typed == CTRL_A and not after_ctrl_a:
                after_ctrl_a = True
            else:
                after_ctrl_a = False
                os.write(console, typed)


def trace(boot: Boot, start: int, instructions: int, *, timeout: float) -> Iterator[str]:
    """What Bochs' debugger prints (`bochs_trace` reads it): from the first time that the instruction at the linear
    address `start` is reached, so many instructions and their accesses. Nothing comes if the guest never gets there; a
    run that takes more than `timeout` seconds of processor time is cut off (`process.Limit`)."""
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        steps = f"lb {start:#x}\nc\nd 1\nsreg\ntrace on\ntrace-mem on\ns {instructions}\nq\n"
        console = folder / "console"
        process = _start(boot, folder, mode="file", device=console, commands=steps, output=subprocess.PIPE)
        try:
            assert process.stdout is not None
            with Limit(process, timeout):
                for line in process.stdout:
                    yield line.decode(errors="replace")
        finally:
            process.kill()
            process.wait()


def _start(
    boot: Boot,
    folder: Path,
    *,
    mode: str,
    device: Path,
    commands: str = "c\n",
    output: int = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    plugins = glob.glob(PLUGINS)
    if not plugins:
        raise CobnutError(f"Bochs' plugins are not at {PLUGINS}: is this Debian's package?")
    iso = folder / "boot.iso"
    cd.write(boot, iso, folder)
    os.truncate(iso, max(FULL_CD, iso.stat().st_size))
    (folder / "bochsrc").write_text(
        CONFIG.format(
            megs=boot.memory_mb,
            cpu=boot.cpu,
            iso=iso,
            library="sdl2" if boot.display else 'rfb, options="timeout=0"',  # which shows 8 bits a pixel
            disk=_disk(boot),
            pci=_pci(boot),
            nic=boot.nic.bochs_lines(folder) if boot.nic else "",
            mode=mode,
            device=device,
            log=folder / "log",
        )
    )
    (folder / "rc").write_text(commands)  # the package is built with the debugger, which waits for a command
    return subprocess.Popen(
        [PROGRAM, "-q", "-f", "bochsrc", "-rc", "rc"],
        cwd=folder,
        env={**os.environ, "LTDL_LIBRARY_PATH": plugins[0], **_shown(boot)},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.DEVNULL,
    )


def _pci(boot: Boot) -> str:
    """One line for all cards: a second one would be another statement about the same bus."""
    cards = [f"slot1={boot.nic.bochs_model}"] if boot.nic else []
    if boot.display:
        cards.append("slot2=pcivga")
    return f"pci: enabled=1, chipset=i440fx, {', '.join(cards)}\n" if cards else ""


def _shown(boot: Boot) -> dict[str, str]:
    """A display's window is nowhere if there is no desktop."""
    return {"SDL_VIDEODRIVER": "dummy"} if boot.display and not has_desktop() else {}


def _disk(boot: Boot) -> str:
    if not boot.disk:
        return ""
    cylinders, heads, sectors = boot.disk.geometry
    shape = f"cylinders={cylinders}, heads={heads}, spt={sectors}"
    return f'ata0-master: type=disk, path="{boot.disk.path}", mode=flat, {shape}\n'


def _raise_if_refused(boot: Boot, status: int | None, console: str) -> None:
    """What Bochs finds wrong with its configuration ends it before it opens its log; `status` is None if it was
    ended.
    """
    if status and not console.strip():
        raise CobnutError(f"Bochs refused to start (processor '{boot.cpu}'?)")


def _panic(log: Path) -> str | None:
    """What Bochs panicked about, from its log; the end of a run by the shutdown port is also logged as a panic."""
    if not log.exists():
        return None
    for line in log.read_text(errors="replace").splitlines():
        if ">>PANIC<<" in line and "Shutdown port: shutdown requested" not in line:
            return line.split(">>PANIC<<", 1)[1].strip()
    return None
