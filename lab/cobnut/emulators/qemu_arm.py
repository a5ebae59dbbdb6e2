# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU for boards with an ARM processor.

They boot by Linux's convention: the kernel's plain image, and for ours an archive of the modules in the place of an
initial RAM disk; the name of each of its members is its module's command line. A guest ends a run by semihosting, with
any number: our kernel alone, but where the guest is another kernel its programs, too, for that may know no way.
"""

import subprocess
import tempfile
import time
from pathlib import Path

from cobnut import cpio, packages, payloads
from cobnut.emulators import Boot, Outcome, kernel_message, own, qemu
from cobnut.emulators.ending import NEVER, End
from cobnut.emulators.qemu import Plugin
from cobnut.errors import CobnutError
from cobnut.process import run_limited

PROGRAM = "qemu-system-arm"
RAM_BASES = {"versatilepb": 0, "collie": 0xC0000000}  # by machine: where the memory starts
ICOUNT_SHIFT = 3  # 8 ns an instruction: a guest that cannot wait for an interrupt otherwise idles for very long


def version() -> tuple[int, str] | None:
    """Major version and full version of the QEMU on the PATH, or None if there is none that answers."""
    return qemu.version_of(PROGRAM)


def ensure() -> str:
    """Makes sure of a QEMU that is new enough, installing one if there is none; returns its version."""
    return qemu.ensure_new_enough(PROGRAM, packages.QEMU_ARM, version)


def command(
    boot: Boot,
    machine: str,
    folder: Path,
    *,
    plugin: Plugin | None = None,
    repeatable: bool = False,
    stub: str | None = None,
) -> list[str]:
    """The command line that boots `boot` on the board that QEMU calls `machine`; the console is left to the caller to
    add.

    `repeatable` makes virtual time follow the instruction count, so that two runs do the same to the instruction; a
    `plugin` implies it, and its arguments `ram` and `base` are filled in here. With `stub` (what -gdb takes) it waits
    for a debugger.
    """
    words = [
        PROGRAM,
        "-machine",
        f"{machine},memory-backend=ram" if plugin else machine,
        "-m",
        f"{boot.memory_mb}M",
        "-display",
        boot.display_at,
        "-audio",
        "driver=none",
        *(boot.nic.qemu_words() if boot.nic else ("-net", "none")),
        "-no-reboot",
        "-semihosting-config",
        f"enable=on,target=native,userspace={'on' if boot.as_initrd else 'off'}",
        "-kernel",
        str(boot.kernel.resolve()),
    ]
    if boot.modules:
        words += ["-initrd", str(boot.modules[0].path.resolve()) if boot.as_initrd else _archive(boot, folder)]
    if boot.options:
        words += ["-append", boot.options]
    if plugin:
        ram = folder / own("ram")
        words += ["-object", f"memory-backend-file,id=ram,size={boot.memory_mb}M,mem-path={qemu.escaped(ram)},share=on"]
        arguments = (*plugin.arguments, ("ram", str(ram)), ("base", f"{RAM_BASES[machine]:#x}"))
        texts = [qemu.escaped(plugin.library), *(f"{key}={qemu.escaped(value)}" for key, value in arguments)]
        words += ["-plugin", ",".join(texts)]
    if plugin or repeatable:
        words += ["-icount", f"shift={ICOUNT_SHIFT},sleep=off"]
    if stub:
        words += ["-S", "-gdb", stub]
    return [*words, *boot.words]


def run(boot: Boot, machine: str, *, timeout: float, plugin: Plugin | None = None) -> Outcome:
    """Boots without a person and waits for the guest to end the run, `timeout` seconds of processor time at most
    (`process.Limit`).
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        console = folder / own("console")
        words = [*command(boot, machine, folder, plugin=plugin, repeatable=True), "-serial", f"file:{console.name}"]
        start = time.monotonic()
        done = run_limited(words, folder, timeout)
        seconds = time.monotonic() - start
        text = console.read_text(errors="replace").replace("\r", "") if console.exists() else ""
    _check(done.errors)
    code = None if done.cut_off or done.status < 0 else done.status
    return Outcome(code, text, done.errors, seconds, done.cut_off)


def interact(
    boot: Boot,
    machine: str,
    *,
    plugin: Plugin | None = None,
    repeatable: bool = False,
    end: End = NEVER,
    stub: str | None = None,
) -> int:
    """Boots with the serial console on this terminal (Ctrl-A x leaves); returns the guest's number, 0 if a person
    left. At the `end` it leaves by itself. For `repeatable` and `stub` see `command`.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        copy = Path(name) / own("console")
        console = ["-chardev", f"stdio,id=console,mux=on,signal=off,logfile={copy}"]
        console += ["-serial", "chardev:console"] * (1 + boot.second_serial)  # the last one gets what is typed
        console += ["-mon", "chardev=console"]
        words = command(boot, machine, Path(name), plugin=plugin, repeatable=repeatable, stub=stub) + console
        with subprocess.Popen(words, cwd=name, stderr=subprocess.PIPE, text=True) as process:
            errors = qemu.wait(process, copy, end)
        text = copy.read_text(errors="replace").replace("\r", "") if copy.exists() else ""
    _check(errors)
    for line in payloads.fault_places(text, boot.modules):
        print(line)
    message = kernel_message(text)
    if message and process.returncode:
        raise CobnutError(f"the kernel stopped: {message}")
    return max(process.returncode, 0)


def _archive(boot: Boot, folder: Path) -> str:
    """Writes the modules to `folder` as the archive in which our kernel looks for them; returns its name."""
    members = [
        cpio.program(f"{module.name} {module.arguments}".strip(), module.path.read_bytes()) for module in boot.modules
    ]
    archive = folder / "modules"
    archive.write_bytes(cpio.archive(members))
    return archive.name


def _check(errors: str) -> None:
    """Says in QEMU's words why the run could not start, if it could not."""
    for line in errors.splitlines():
        told = line.startswith(("cobnut-plugin: ", f"{PROGRAM}: "))
        if told and "warning: " not in line and "terminating on signal" not in line and "via GDBstub" not in line:
            raise CobnutError(line.removeprefix("cobnut-plugin: "))
