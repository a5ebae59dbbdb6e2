# SPDX-License-Identifier: GPL-2.0-or-later
"""Which guest a command line asks for: this kernel with modules, or with --image any other one.

`boot`, `record` and `run` say it with the same words. `Asked` has these words as they were typed, `resolve` checks that
they fit together and makes a `Guest` of them.
"""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from cobnut import boards, cases, images, modules, systems
from cobnut import build as building
from cobnut.boards import ARM, Board
from cobnut.emulators import Boot, bochs, check_name, forwards, nic, qemu, qemu_arm
from cobnut.emulators.disk import check as check_disk
from cobnut.emulators.ending import NEVER, End
from cobnut.emulators.qemu import Plugin
from cobnut.errors import CobnutError

DEFAULT_ROOT = "root off=1"  # ends the run when every payload program has finished
DEFAULT_SIGMA0 = "sigma0"
MOST_SECONDS = 1_000_000
DEFAULT_MEMORY_MB = 64
LEAST_MEMORY_MB, MOST_MEMORY_MB = 2, 3072  # below 2 MB a loader has nowhere to put the kernel
SYMBOL = re.compile(rb"[0-9a-f]{8,16} \S \S")  # a line of `nm`, System.map, /proc/kallsyms
ELF_MAGIC = b"\x7fELF"


@dataclass(frozen=True)
class Asked:
    """The words of a command line, by their options; `command` is what it begins with."""

    command: str
    module: list[str] = field(default_factory=list)
    board: str = "pc"
    given: list[str] = field(default_factory=list)
    emulator: str = "qemu"
    root: str = DEFAULT_ROOT
    sigma0: str = DEFAULT_SIGMA0
    append: str = ""
    cpu: str | None = None
    memory_mb: int = DEFAULT_MEMORY_MB
    image: list[str] = field(default_factory=list)
    symbols: Path | None = None
    qemu_args: list[str] = field(default_factory=list)
    seconds: float | None = None
    until: str | None = None
    region: list[str] = field(default_factory=list)
    program: list[str] = field(default_factory=list)
    processes: str | None = None
    disk: Path | None = None
    display_at: str | None = None
    net_at: str | None = None
    forward: list[str] = field(default_factory=list)

    @property
    def words(self) -> tuple[str, ...]:
        """The options that name a kernel which is not ours, as they can be typed again."""
        one = (
            ("--append", self.append or None),
            ("--symbols", self.symbols),
            ("--seconds", self.seconds),
            ("--until", self.until),
            ("--processes", self.processes),
        )
        several = (
            ("--image", self.image),
            ("--qemu-args", self.qemu_args),
            ("--program", self.program),
            ("--region", self.region),
        )
        pairs = [(option, value) for option, values in several for value in values]
        return tuple(str(word) for pair in (*pairs, *one) if pair[1] is not None for word in pair)


@dataclass(frozen=True)
class Guest:
    """What boots, where and until when. `names` are the plugin's arguments that say how the kernel's code is called,
    `cases` those that say what is measured without marks, `words` the options that asked for it if the kernel is
    `foreign`, that is not ours.
    """

    board: Board
    boot: Boot
    names: tuple[tuple[str, str], ...] = ()
    cases: tuple[tuple[str, str], ...] = ()
    foreign: bool = False
    words: tuple[str, ...] = ()
    emulator: str = "qemu"
    end: End = NEVER

    def ensure_emulator(self) -> str:
        """Makes sure of the emulator; returns its version if it is QEMU."""
        if self.emulator == "bochs":
            bochs.ensure(self.boot.display)
            return ""
        return qemu_arm.ensure() if self.board.processor is ARM else qemu.ensure()

    def interact(self, plugin: Plugin | None = None) -> int:
        """Boots with the console on this terminal; returns the guest's number (`qemu.interact`)."""
        if self.emulator == "bochs":
            return bochs.interact(self.boot, end=self.end)
        if self.board.processor is ARM:
            return qemu_arm.interact(self.boot, self.board.name, plugin=plugin, end=self.end)
        return qemu.interact(self.boot, plugin=plugin, end=self.end)


def resolve(asked: Asked) -> Guest:
    """The guest, with our kernel built if it is that; refuses what does not fit together before anything is built."""
    board = check(asked)
    end = End(asked.seconds, asked.until)
    words = tuple(word for text in asked.qemu_args for word in shlex.split(text))
    if asked.image:
        return _foreign(asked, board, end, words)
    building.images(board)
    memory_mb = board.memory_mb or asked.memory_mb
    card = None
    name = systems.asked_for(asked.module, board)
    system = systems.load(name) if name else None
    if system:
        if system.has(systems.TCP_IP):
            building.network(board)
        if system.has(systems.STORE):
            building.store(board)
        chosen = (modules.parse(asked.sigma0, board), *system.modules(board, memory_mb))
        card = _card(asked, system, board)
    else:
        chosen = tuple(modules.parse(text, board) for text in (asked.sigma0, asked.root, *asked.module))
    second = bool(system) and board.processor is ARM  # the first serial line is the kernel's alone there
    disk = check_disk(asked.disk) if asked.disk else None
    boot = Boot(
        board.kernel,
        chosen,
        asked.append,
        processor(asked.cpu, asked.emulator),
        memory_mb,
        words=words,
        second_serial=second,
        disk=disk,
        display=system is not None and system.has_display(board),
        display_at=asked.display_at or Boot.display_at,
        nic=card,
    )
    names = (("kernel", str(board.kernel_executable)),)
    return Guest(board, boot, names, cases_of(asked), emulator=asked.emulator, end=end)


def cases_of(asked: Asked) -> cases.Arguments:
    """The plugin's arguments for what is measured without marks."""
    return cases.arguments(asked.region, asked.program, asked.processes)


def check(asked: Asked) -> Board:
    """Refuses words that do not go together; returns the board."""
    board = boards.configured(boards.find(asked.board), asked.given)
    check_name(asked.emulator)
    check_seconds(asked.seconds)
    if asked.until == "":
        raise CobnutError("--until: an empty text is there at once")
    on_bochs = asked.emulator == "bochs"
    _check_qemu_args(asked.qemu_args, on_bochs)
    cases_of(asked)
    if board.processor is ARM:
        pcs = (
            ("--cpu", asked.cpu is not None),
            ("--emulator bochs", on_bochs),
            ("--disk", asked.disk is not None),
            ("--display", asked.display_at is not None and not board.registers),
        )
        for option, said in pcs:
            if said:
                raise CobnutError(f"{option}: not on board {asked.board}")
    if asked.disk:
        check_disk(asked.disk)
    if asked.display_at and on_bochs:
        raise CobnutError("--display: is for qemu; on bochs a window of its own shows it")
    if asked.image:
        _check_image(asked)
    else:
        if asked.symbols:
            raise CobnutError("--symbols: names the code of a kernel that --image gives, and there is none")
        check_payload(asked.command, asked.module, asked.root)
        _check_system(asked, board)
    least = bochs.LEAST_MEMORY_MB if on_bochs else LEAST_MEMORY_MB
    check_memory(asked.memory_mb, least, asked.emulator, board)
    return board


def _card(asked: Asked, system: systems.System, board: Board) -> nic.Nic | None:
    """The network card that the system has a driver for, if --net asks for one or the board has it; says how its ports
    are reached.
    """
    cards = system.cards(board.name)
    if asked.net_at is None:
        return nic.Nic(cards[0], nic.UNPLUGGED) if cards and cards[0] not in nic.MODELS else None
    if asked.net_at != nic.USER:
        return nic.Nic(cards[0], asked.net_at)
    given = forwards.parse(asked.forward)
    others = set(system.description.forward) - {one.guest for one in given}
    return nic.Nic(cards[0], asked.net_at, forwards.told((*given, *map(forwards.Forward, sorted(others)))))


def _check_system(asked: Asked, board: Board) -> None:
    name = systems.asked_for(asked.module, board)
    forwards.check(asked.forward, asked.net_at)
    if asked.net_at is not None:
        nic.check_place(asked.net_at)
        if name is None:
            raise CobnutError("--net: is for a system")
        systems.load(name).check_board(board)
        if not systems.load(name).cards(board.name):
            raise CobnutError(f"--net: system {name} has no driver of a network card")
    if name is None:
        if asked.display_at:
            raise CobnutError("--display: is for a system")
        return
    if asked.root != DEFAULT_ROOT:
        raise CobnutError(f"--root: {name} is a system, whose root server is {systems.ROOT_SERVER}")
    if board.name not in systems.BOARDS:
        raise CobnutError(f"{name}: systems do not run on board {board.name} yet")
    systems.load(name).check_board(board)


def _check_image(asked: Asked) -> None:
    if asked.disk:
        raise CobnutError("--disk: is for our kernel; say --qemu-args '-drive file=...' with --image")
    if asked.net_at is not None or asked.forward or asked.display_at:
        raise CobnutError("--net, --forward, --display: are for a system; say --qemu-args with --image")
    ours = asked.module or asked.root != DEFAULT_ROOT or asked.sigma0 != DEFAULT_SIGMA0 or asked.given
    if ours:
        raise CobnutError("--image: brings its own kernel and modules")
    if asked.emulator != "qemu":
        raise CobnutError(f"--image: works on qemu, not on {asked.emulator}")


def _check_qemu_args(texts: list[str], on_bochs: bool) -> None:
    if texts and on_bochs:
        raise CobnutError("--qemu-args: are for qemu, not for bochs")
    for text in texts:
        try:
            shlex.split(text)
        except ValueError as error:
            raise CobnutError(f"--qemu-args {text}: {str(error).lower()}") from None


def _foreign(asked: Asked, board: Board, end: End, words: tuple[str, ...]) -> Guest:
    kernel, *rest = images.parse(asked.image, board.processor)
    boot = Boot(
        kernel.path,
        tuple(rest),
        f"{kernel.arguments} {asked.append}".strip(),
        asked.cpu or Boot.cpu,
        board.memory_mb or asked.memory_mb,
        words=words,
        as_initrd=True,
    )
    names = names_of(kernel.path, asked.symbols, board)
    return Guest(board, boot, names, cases_of(asked), foreign=True, words=asked.words, end=end)


def names_of(kernel: Path, symbols: Path | None, board: Board) -> tuple[tuple[str, str], ...]:
    """The plugin's arguments for the names of a kernel that is not ours: its own, if it is an executable, and those of
    the file `symbols`, an executable with symbols or lines as System.map has them.
    """
    own = (("kernel", str(kernel.resolve())),) if kernel.read_bytes()[:4] == ELF_MAGIC else ()
    if symbols is None:
        return own
    try:
        data = symbols.read_bytes()
    except OSError as error:
        raise CobnutError(f"--symbols {symbols}: {(error.strerror or 'cannot be read').lower()}") from None
    if data[:4] == ELF_MAGIC:
        fault = modules.elf_fault(data, board.processor)
        if fault:
            raise CobnutError(f"--symbols {symbols}: {fault}")
    elif not SYMBOL.match(data):
        raise CobnutError(f"--symbols {symbols}: neither an ELF file nor lines of address, type and name")
    return (*own, ("symbols", str(symbols.resolve())))


def board_for(command: str, name: str) -> Board:
    """The board `name`, for a command that looks into the guest, which so far is known how for IA-32."""
    board = boards.find(name)
    if board.processor is ARM:
        raise CobnutError(f"{command}: not on board {name}")
    return board


def check_payload(command: str, module: list[str], root: str) -> None:
    """Refuses a boot in which nothing would run."""
    if not module and root == DEFAULT_ROOT:
        raise CobnutError(f"name at least one module, for example: ./cobnut {command} hello")


def check_seconds(seconds: float | None) -> None:
    """Refuses what --seconds cannot be."""
    if seconds is not None and not 0 < seconds < MOST_SECONDS:
        raise CobnutError(f"--seconds {seconds:g}: must be more than 0 and less than {MOST_SECONDS:,}")


def processor(asked: str | None, emulator: str, usual: str = Boot.cpu) -> str:
    """The emulator's name of a processor: the one that is asked for, or Bochs' usual one, or this one of QEMU's."""
    return asked or (bochs.DEFAULT_CPU if emulator == "bochs" else usual)


def check_memory(memory: int, least: int, emulator: str, board: Board | None = None) -> None:
    """Refuses what --memory cannot be."""
    if not least <= memory <= MOST_MEMORY_MB:
        raise CobnutError(f"--memory {memory}: must be from {least} to {MOST_MEMORY_MB} on {emulator}")
    if board and board.memory_mb and memory not in (DEFAULT_MEMORY_MB, board.memory_mb):
        raise CobnutError(f"--memory {memory}: {emulator}'s {board.name} has {board.memory_mb}")
