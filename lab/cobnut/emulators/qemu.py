# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU: the command line of a boot, with or without the laboratory's plugin.

A guest ends a run by writing a number to the isa-debug-exit port; QEMU then exits with (number << 1) | 1. QEMU's own
failures also exit with 1, so what it wrote to stderr decides which of the two it was.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cobnut import backtrace, packages, payloads
from cobnut.emulators import Boot, Judge, Outcome, carry, kernel_message, own, stage
from cobnut.emulators.ending import NEVER, End, Watch
from cobnut.errors import CobnutError
from cobnut.process import run_limited

PROGRAM = "qemu-system-i386"
OLDEST = 10  # the first major version whose plugins can read registers and physical addresses as the laboratory does
EXIT_PORT = 0xF4
POLL_SECONDS = 0.1  # between looks at a console on which a text is waited for
# words for a console that is read on the standard output and written on the input
CONSOLE_ON_PIPES = ("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console")


@dataclass(frozen=True)
class Plugin:
    """The laboratory's plugin in a run: its library and its arguments, of which `ram` (a file) is filled in here."""

    library: Path
    arguments: tuple[tuple[str, str], ...]


def version() -> tuple[int, str] | None:
    """Major version and full version of the QEMU on the PATH, or None if there is none that answers."""
    return version_of(PROGRAM)


def version_of(program: str) -> tuple[int, str] | None:
    """The same of the emulator `program`."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except OSError:
        return None
    match = re.search(r"version ((\d+)[\w.]*)", answer.stdout)
    return (int(match.group(2)), match.group(1)) if match else None


def ensure() -> str:
    """Makes sure of a QEMU that is new enough, installing one if there is none; returns its version."""
    return ensure_new_enough(PROGRAM, packages.QEMU, version)


def ensure_new_enough(program: str, package: packages.Package, version: Callable[[], tuple[int, str] | None]) -> str:
    """The same for one of QEMU's programs, which comes with `package` and whose version is asked for by `version`."""
    found = version()
    if found and found[0] >= OLDEST:
        return found[1]
    packaged = packages.installed_version(package.name)
    if found and packaged and _major(packaged) >= OLDEST:
        raise _too_old(
            program, found[1]
        )  # another QEMU stands before the package's on the PATH: installing would not help
    candidate = packages.candidate_version(package.name) if shutil.which("apt-get") else None
    if candidate and _major(candidate) >= OLDEST:
        packages.install([package.name])
    elif found and shutil.which("apt-get") is None:
        raise _too_old(program, found[1])
    else:
        packages.install([package.name], suite=packages.add_backports())
    found = version()
    if found is None:
        raise CobnutError(f"{program} is missing, and installing {package.name} did not bring it")
    if found[0] < OLDEST:
        raise _too_old(program, found[1])
    return found[1]


def command(
    boot: Boot,
    folder: Path,
    *,
    plugin: Plugin | None = None,
    repeatable: bool = False,
    memory: Path | None = None,
    stub: str | None = None,
) -> list[str]:
    """The command line that boots `boot`, to be run in `folder`; the console is left to the caller to add.

    `repeatable` makes virtual time follow the instruction count, so that two runs do the same to the instruction. The
    guest's physical memory is the file `memory`, which outlives the run. With `stub` (what -gdb takes) it waits for a
    debugger.
    """
    # a comma ends an argument, so QEMU wants it doubled inside one
    lines = [line.replace(",", ",,") for line in stage(boot, folder)]
    kernel = folder / "cobnut-kernel"
    kernel.unlink(missing_ok=True)
    kernel.symlink_to(boot.kernel.resolve())
    words = [
        PROGRAM,
        "-nodefaults",
        "-no-reboot",
        "-display",
        boot.display_at,
        "-cpu",
        boot.cpu,
        "-m",
        f"{boot.memory_mb}M",
        "-device",
        f"isa-debug-exit,iobase={EXIT_PORT:#x},iosize=4",
        "-kernel",
        kernel.name,
    ]
    if boot.options:
        words += ["-append", boot.options]
    if lines:
        words += ["-initrd", ",".join(lines)]
    if boot.display:
        words += ["-device", "VGA"]
    counted = repeatable or plugin is not None  # whether virtual time follows the instruction count
    if boot.disk:
        drive = f"file={escaped(boot.disk.path)},format=raw,if=ide,index=0"
        # the counted time of a guest that waits goes ten times as fast as the host's: while the host brings a file to
        # its medium, a driver would give the drive up
        words += ["-drive", f"{drive},cache=unsafe" if counted else drive]
    if boot.nic:
        words += boot.nic.qemu_words()
    machine = "pc"
    ram = memory or (folder / own("ram") if plugin else None)
    if ram:
        words += ["-object", f"memory-backend-file,id=ram,size={boot.memory_mb}M,mem-path={escaped(ram)},share=on"]
        machine += ",memory-backend=ram"
    if plugin:
        arguments = (*plugin.arguments, ("ram", str(ram)))
        words += [
            "-plugin",
            ",".join([escaped(plugin.library), *(f"{key}={escaped(value)}" for key, value in arguments)]),
        ]
    if counted:
        # the clock that the guest reads the date from, too
        words += ["-icount", f"shift={boot.instruction_log2_ns},sleep=off", "-rtc", "base=2000-01-01,clock=vm"]
    if stub:
        words += ["-S", "-gdb", stub]
    return [*words, "-machine", machine, *boot.words]


def run(
    boot: Boot,
    *,
    timeout: float,
    plugin: Plugin | None = None,
    repeatable: bool = False,
    second_serial: Path | None = None,
) -> Outcome:
    """Boots without a person and waits for the guest to end the run, `timeout` seconds of processor time at most
    (`process.Limit`).

    What the guest writes to its second serial port goes to the file `second_serial`.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        folder = Path(name)
        console = folder / own("console")
        words = [*command(boot, folder, plugin=plugin, repeatable=repeatable), "-serial", f"file:{escaped(console)}"]
        if second_serial:
            words += ["-serial", f"file:{escaped(second_serial)}"]
        start = time.monotonic()
        done = run_limited(words, folder, timeout)
        seconds = time.monotonic() - start
        text = console.read_text(errors="replace") if console.exists() else ""
    fault = complaint(done.errors)
    if fault:
        raise CobnutError(fault)
    code = None if done.cut_off or done.status < 0 or done.status % 2 == 0 else done.status >> 1
    said = backtrace.with_names(text.replace("\r", ""), boot.kernel)
    return Outcome(code, said, done.errors, seconds, done.cut_off)


def interact(
    boot: Boot,
    *,
    plugin: Plugin | None = None,
    repeatable: bool = False,
    memory: Path | None = None,
    end: End = NEVER,
    stub: str | None = None,
    judge: Judge | None = None,
) -> int:
    """Boots with the serial console on this terminal (Ctrl-A x leaves); returns the guest's number, 0 if a person left.

    At the `end` it leaves by itself. For `repeatable`, `memory` and `stub` see `command`. Of a guest that ended by
    itself `judge` says the number, if there is one, from its console.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name:
        copy = Path(name) / own("console")
        console = [
            "-chardev",
            f"stdio,id=console,mux=on,signal=off,logfile={escaped(copy)}",
            "-serial",
            "chardev:console",
            "-mon",
            "chardev=console",
        ]
        words = command(boot, Path(name), plugin=plugin, repeatable=repeatable, memory=memory, stub=stub)
        with subprocess.Popen([*words, *console], cwd=name, stderr=subprocess.PIPE, text=True) as process:
            errors = wait(process, copy, end)
        text = copy.read_text(errors="replace").replace("\r", "") if copy.exists() else ""
    fault = complaint(errors)
    if fault:
        raise CobnutError(fault)
    code = process.returncode >> 1 if process.returncode > 0 and process.returncode % 2 else 0
    message = kernel_message(text)
    for line in payloads.fault_places(text, boot.modules):
        print(line)
    if message and code:
        for line in backtrace.lines(text, boot.kernel):
            print(line)
        raise CobnutError(f"the kernel stopped: {message}")
    return judge(text, code) if judge else code


def follow(boot: Boot, seen: Callable[[bytes], None], *, seconds: float | None = None) -> Outcome:
    """Boots in real time without a person; `seen` is called with what the guest writes to its console, as it comes.
    After `seconds` the run is cut off.
    """
    with tempfile.TemporaryDirectory(prefix="cobnut-") as name, open(Path(name) / own("errors"), "w+") as errors:
        words = [*command(boot, Path(name)), *CONSOLE_ON_PIPES]
        start = time.monotonic()
        with subprocess.Popen(
            words, cwd=name, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        ) as process:
            assert process.stdout is not None
            try:
                text, cut_off = carry(process.stdout.fileno(), seen, seconds)
                if not cut_off:
                    process.wait()  # it closes its console before it ends
            finally:
                process.kill()  # which one that has ended does not notice
        errors.seek(0)
        complaints = errors.read()
    fault = complaint(complaints)
    if fault:
        raise CobnutError(fault)
    code = process.returncode >> 1 if process.returncode > 0 and process.returncode % 2 else 0
    said = backtrace.with_names(text.decode(errors="replace").replace("\r", ""), boot.kernel)
    return Outcome(None if cut_off else code, said, complaints, time.monotonic() - start, cut_off)


def wait(process: "subprocess.Popen[str]", console: Path, end: End) -> str:
    """Waits for an emulator that copies the guest's console to the file `console`, and tells it to go at the `end`;
    returns what it wrote to stderr.
    """
    watch, read = Watch(end), 0
    while True:
        left = watch.left()
        try:
            # it goes on where it was interrupted
            return process.communicate(timeout=left if not end.until else min(POLL_SECONDS, left or POLL_SECONDS))[1]
        except subprocess.TimeoutExpired:
            said = b""
            if end.until and console.exists():
                with open(console, "rb") as file:
                    file.seek(read)
                    said = file.read()
                    read += len(said)
            why = watch.why(said)
            if why:
                process.terminate()  # so that it leaves the terminal as it was
                errors = process.communicate()[1]
                print(f"\ncobnut: ended {why}", file=sys.stderr)
                return errors


def complaint(errors: str) -> str | None:
    """The line in which QEMU or the plugin says why the run could not start, if it is there."""
    for line in errors.splitlines():
        if (
            line.startswith(("cobnut-plugin: ", f"{PROGRAM}: "))
            and "warning: " not in line
            and "terminating on signal" not in line
            and "Terminated via GDBstub" not in line
        ):
            return line.removeprefix("cobnut-plugin: ")
    return None


def escaped(value: object) -> str:
    """A value in an argument of QEMU's: a comma would end it."""
    return str(value).replace(",", ",,")


def _major(debian_version: str) -> int:
    match = re.match(r"(?:\d+:)?(\d+)", debian_version)
    return int(match.group(1)) if match else 0


def _too_old(program: str, found: str) -> CobnutError:
    where = shutil.which(program)
    return CobnutError(f"{where} is QEMU {found}, which is too old: version {OLDEST} or newer is needed")
