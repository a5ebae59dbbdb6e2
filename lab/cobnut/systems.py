# SPDX-License-Identifier: GPL-2.0-or-later
"""Systems of servers: `systems/NAME.toml` says which programs a system has, and what each may have and use.

The description is checked here, where a mistake can be named in the words of the file; `init` gets what it says of a
program on the command line of the program's module (servers/init/description.h). docs/systems.md is the reference of
the file. A description of one's own is named by its path, which ends in `.toml`.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from cobnut import archives, fonts, modules, paths
from cobnut.boards import Board
from cobnut.emulators import nic
from cobnut.errors import CobnutError
from cobnut.modules import Module

FOLDER = paths.ROOT / "systems"
SUFFIX = ".toml"
ROOT_SERVER = "init"
# the programs that are built from a source which is fetched
TCP_IP, STORE = ("network", "single"), ("store",)
INITS_OWN = ("programs", "spaces")  # services that init itself provides
INITS_PORTS = range(0xCF8, 0xD00)  # PCI's configuration: whoever has it has all devices
PAGE_KB = 4
MOST_PROGRAMS, MOST_SERVICES, MOST_FILES, MOST_RANGES = 32, 32, 16, 8  # as init has room for
MOST_REGISTERS, MOST_REGISTER_BYTES = 5, 16 << 20  # ranges, beside a framebuffer; of one
MOST_MODULES, MOST_TEXT = 32, 3900  # as the kernel has room for (kernel/boot/modules.cpp), less what a loader adds
MOST_ARGUMENTS = 1023
INITS_KB = 1024  # what init itself and sigma0 take
FONT = "font:"  # of a file in [files]: a font with glyphs of so many lines
DISPLAY = "1234:1111"  # the device of a display
KERNELS_PART = 4  # a kernel takes one part in so many of the memory

Word = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,30}$")]
Identity = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4}:[0-9a-f]{4}$")]
PortRange = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{1,4}(-0x[0-9a-f]{1,4})?$")]
RegisterRange = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{1,8}-0x[0-9a-f]{1,8}$")]
BoardName = Literal["pc", "versatilepb"]
BOARDS = get_args(BoardName)  # that systems run on


class Slot(BaseModel):
    """A small space by hand: its size, and where it is if that matters."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    mb: Literal[1, 2, 4, 8, 16, 32, 64, 128, 256]
    at_mb: Annotated[int, Field(ge=0, lt=512)] | None = None


def _range(text: str) -> range:
    """FIRST-LAST, or one number."""
    bounds = [int(one, 16) for one in text.split("-")]
    return range(bounds[0], bounds[-1] + 1)


class Devices(BaseModel):
    """What a driver may use of a board."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    ports: Annotated[list[PortRange], Field(max_length=MOST_RANGES)] = []
    registers: Annotated[list[RegisterRange], Field(max_length=MOST_REGISTERS)] = []
    interrupts: list[Annotated[int, Field(ge=0, le=31)]] = []
    device: Identity | None = None
    dma: bool = False
    framebuffer_kb: Literal[0, 1024, 2048, 4096] = 0

    def port_ranges(self) -> list[range]:
        """The ports as numbers."""
        return [_range(text) for text in self.ports]

    def register_ranges(self) -> list[range]:
        """The addresses of the registers."""
        return [_range(text) for text in self.registers]


class Program(Devices):
    """One program of a system. Its devices are those of every board, and `on` has those of one more; a program that has
    `on` is there on the boards that it names.
    """

    file: str | None = None  # of the program; its name if left out
    arguments: Annotated[str, StringConstraints(max_length=MOST_ARGUMENTS)] = ""
    priority: Annotated[int, Field(ge=1, le=254)] = 100
    memory_kb: Annotated[int, Field(ge=64, le=1 << 18)] = 1024
    stack_kb: Annotated[int, Field(ge=8, le=256)] = 16
    provides: list[Word] = []
    uses: list[Word] = []
    files: list[Word] = []
    on: dict[BoardName, Devices] = {}
    space: Literal["rule", "large"] | Slot = "rule"
    restart: bool = False
    start: bool = True

    def there(self, board: str) -> bool:
        """Whether a system has it on a board."""
        return not self.on or board in self.on

    def devices(self, board: str) -> Devices:
        """What it may use of a board."""
        more = self.on.get(board) or Devices()  # type: ignore[call-overload]  # collie has none
        return Devices(
            ports=self.ports + more.ports,
            registers=self.registers + more.registers,
            interrupts=self.interrupts + more.interrupts,
            device=more.device or self.device,
            dma=more.dma or self.dma,
            framebuffer_kb=more.framebuffer_kb or self.framebuffer_kb,
        )


class Description(BaseModel):
    """A whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    description: str
    ends_with: Word
    files: dict[Word, str] = {}
    forward: list[Annotated[int, Field(ge=1, le=65535)]] = []
    program: dict[Word, Program]


class System:
    """A description that has passed its checks, with its programs in the order in which they start."""

    def __init__(self, name: str, folder: Path, description: Description, order: list[str]):
        self.name, self.folder, self.description, self.order = name, folder, description, order

    def has(self, files: tuple[str, ...]) -> bool:
        """Whether a program is one of these that are built here."""
        return any((program.file or name) in files for name, program in self.description.program.items())

    def programs(self, board: str) -> dict[str, Program]:
        """Those that it has on a board, in the order in which they start."""
        programs = self.description.program
        return {name: programs[name] for name in self.order if programs[name].there(board)}

    def cards(self, board: str) -> list[str]:
        """The network cards that its programs drive on a board."""
        devices = [one.devices(board) for one in self.programs(board).values()]
        soldered = [nic.SOLDERED.get(one.start, "") for device in devices for one in device.register_ranges()]
        return [one for one in [*(device.device for device in devices), *soldered] if one in nic.CARDS]

    def modules(self, board: Board, memory_mb: int) -> tuple[Module, ...]:
        """What boots, beside sigma0: init, the programs, the files."""
        self.check_board(board)
        chosen = [Module(board.program(ROOT_SERVER))]
        for name, program in self.programs(board.name).items():
            path = self._file(program.file or name, board)
            if not path.exists():
                raise CobnutError(
                    f"system {self.name}: program.{name}.file: no program '{program.file or name}' is built"
                )
            modules.check(Module(path), board.processor)
            chosen.append(Module(path, words(name, program, board, ends=name == self.description.ends_with)))
        for name, file in self.description.files.items():
            chosen.append(Module(self._boot_file(name, file, board), f"file={name}"))
        self._check_memory(chosen, board, memory_mb)
        text = sum(len(f"{module.name} {module.arguments}") + 1 for module in chosen)
        if text > MOST_TEXT:
            raise CobnutError(
                f"system {self.name}: its programs are described in {text:,} bytes, {MOST_TEXT:,} at most"
            )
        return tuple(chosen)

    def has_display(self, board: Board) -> bool:
        """Whether a program drives a display, which the machine then needs."""
        return any(program.devices(board.name).device == DISPLAY for program in self.programs(board.name).values())

    def _boot_file(self, name: str, file: str, board: Board) -> Path:
        if not file.startswith(FONT):
            return self._packed(name, self.folder / file, board)
        height = int(file.removeprefix(FONT))
        return fonts.write(height, board.folder / "systems" / f"font-{height}.psf")

    def changed(self, **changes: dict[str, Any]) -> "System":
        """The same with other words of some programs, by their names."""
        programs = {
            name: one.model_copy(update=changes.get(name, {})) for name, one in self.description.program.items()
        }
        return System(self.name, self.folder, self.description.model_copy(update={"program": programs}), self.order)

    def check_board(self, board: Board) -> None:
        """Refuses what the board does not have."""
        programs, end = self.programs(board.name), self.description.ends_with
        if end not in programs:
            raise self._refused(f"{end}.on", f"the system ends with it, and board {board.name} is none of these")
        provided = {service for program in programs.values() for service in program.provides} | {*INITS_OWN}
        for name, program in programs.items():
            for service in program.uses:
                if service not in provided:
                    raise self._refused(f"{name}.uses", f"on board {board.name} no program provides '{service}'")
            self._check_devices(name, program, board)

    def _check_devices(self, name: str, program: Program, board: Board) -> None:
        devices = program.devices(board.name)
        for line in devices.interrupts:
            if line >= board.lines:
                raise self._refused(f"{name}.interrupts", f"{line}: board {board.name} has 0 to {board.lines - 1}")
        if not board.registers:
            if devices.registers or devices.framebuffer_kb:
                word = "registers" if devices.registers else "framebuffer_kb"
                raise self._refused(f"{name}.{word}", f"board {board.name} has devices in I/O ports and on PCI")
            return
        if devices.ports or devices.device:
            word = "ports" if devices.ports else "device"
            raise self._refused(f"{name}.{word}", f"board {board.name} has no I/O ports and no PCI")
        if program.space != "rule":
            raise self._refused(f"{name}.space", f"on board {board.name} the kernel chooses")
        for one in devices.register_ranges():
            if not any(one.start in there and one.stop - 1 in there for there in board.registers):
                raise self._refused(
                    f"{name}.registers", f"{one.start:#x}: board {board.name} has its devices elsewhere"
                )

    def _refused(self, where: str, what: str) -> CobnutError:
        return CobnutError(f"system {self.name}: program.{where}: {what}")

    def _packed(self, name: str, path: Path, board: Board) -> Path:
        """A file of the boot image as it is, a folder as an archive."""
        if not path.is_dir():
            return path
        return archives.write(path, board.folder / "systems" / f"{self.name}-{name}.tar")

    def _file(self, file: str, board: Board) -> Path:
        """A program by its path, in which {board} is the board's name, or one that is built here."""
        return self.folder / file.replace("{board}", board.name) if "/" in file else board.program(file)

    def _check_memory(self, chosen: list[Module], board: Board, memory_mb: int) -> None:
        files_kb = sum(-(-module.path.stat().st_size // 1024) for module in chosen)
        programs = self.programs(board.name).values()
        programs_kb = sum(program.memory_kb + program.devices(board.name).framebuffer_kb for program in programs)
        there_kb = memory_mb * 1024 * (KERNELS_PART - 1) // KERNELS_PART
        wanted_kb = files_kb + programs_kb + INITS_KB
        if wanted_kb > there_kb:
            raise CobnutError(
                f"system {self.name}: needs {wanted_kb:,} KB (programs {programs_kb:,}, the boot image {files_kb:,},"
                f" init {INITS_KB:,}), and {memory_mb} MB leave {there_kb:,} KB beside the kernel"
            )


def words(name: str, program: Program, board: Board, *, ends: bool = False) -> str:
    """What init reads of a program on its module's command line; with `ends` the system ends with it."""
    said = [f"name={name}", f"priority={program.priority}", f"memory={program.memory_kb // PAGE_KB}"]
    said.append(f"stack={program.stack_kb // PAGE_KB}")
    lists = {"provides": program.provides, "uses": program.uses, "files": program.files}
    said += [f"{key}={'+'.join(names)}" for key, names in lists.items() if names]
    devices = program.devices(board.name)
    for key, ranges in {"ports": devices.port_ranges(), "registers": devices.register_ranges()}.items():
        if ranges:
            said.append(f"{key}=" + "+".join(f"{one.start:#x}-{one.stop - 1:#x}" for one in ranges))
    if devices.interrupts:
        said.append("lines=" + "+".join(map(str, devices.interrupts)))
    if devices.framebuffer_kb:
        said.append(f"framebuffer={devices.framebuffer_kb // PAGE_KB}")
    if devices.device:
        vendor, device = (int(half, 16) for half in devices.device.split(":"))
        said.append(f"device={device << 16 | vendor:#x}")
    if devices.device or devices.dma:
        said.append(f"dma={devices.dma:d}")
    if isinstance(program.space, Slot):
        place = "" if program.space.at_mb is None else f"@{program.space.at_mb}"
        said.append(f"slot={program.space.mb}{place}")
    elif program.space == "large":
        said.append("slot=large")
    flags = {"restart": program.restart, "start": program.start, "ends": ends}
    said += [f"{key}={value:d}" for key, value in flags.items()]
    return " ".join(said) + (f" -- {program.arguments}" if program.arguments else "")


def known() -> dict[str, Path]:
    """The systems of this tree, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob("*.toml"))}


def asked_for(names: list[str], board: Board) -> str | None:
    """The system that a command line names in a module's place; None: it names none."""
    found = [name for name in names if name in known() or name.endswith(SUFFIX)]
    if not found:
        return None
    name = found[0]
    if name in known() and (name in board.programs or Path(name).is_file()):
        raise CobnutError(f"{name}: is a system and a module, too; say ./{name} for the file or rename one of them")
    if len(names) > 1:
        raise CobnutError(f"{name}: is a system, which brings all its modules")
    return name


def load(name: str) -> System:
    """Reads and checks the description of a system, or the one in a file."""
    path = known().get(name, Path(name))
    try:
        text = path.read_text()
    except OSError as error:
        raise CobnutError(f"system {name}: {(error.strerror or 'cannot be read').lower()}") from None
    return check(path.stem, path.parent, text)


def check(name: str, folder: Path, text: str) -> System:
    """Checks the text of a description, whose files are in `folder`; what is wrong is one line."""
    try:
        described = Description.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise CobnutError(f"system {name}: {error}") from None
    except ValidationError as error:
        deepest = max(error.errors(), key=lambda one: len(one["loc"]))  # of a value that may be of several types
        raise CobnutError(f"system {name}: {_said(deepest)}") from None
    _check_names(name, folder, described)
    for board in BOARDS:
        _check_devices(name, described, board)
    return System(name, folder, described, _order(name, described))


def _said(error: Any) -> str:
    where = ".".join(
        str(part) for part in error["loc"] if part not in ("Slot",) and not str(part).startswith("literal")
    )
    what = {"extra_forbidden": "unknown word", "missing": "is missing"}.get(error["type"], error["msg"])
    return f"{where}: {what[0].lower()}{what[1:]}"


def _providers(described: Description) -> dict[str, list[str]]:
    """Who provides a service: several, if no board has two of them."""
    providers: dict[str, list[str]] = {service: ["init"] for service in INITS_OWN}
    for name, program in described.program.items():
        for service in program.provides:
            providers.setdefault(service, []).append(name)
    return providers


def _other_provider(one: str, service: str, described: Description) -> str | None:
    """Who provides a service of a program's, too, where that does."""
    for other in _providers(described)[service]:
        if other == "init" or (other == one and described.program[one].provides.count(service) > 1):
            return other
        boards = [board for board in BOARDS if described.program[one].there(board)]
        if other != one and any(described.program[other].there(board) for board in boards):
            return other
    return None


def _check_names(name: str, folder: Path, described: Description) -> None:
    def refuse(what: str) -> CobnutError:
        return CobnutError(f"system {name}: {what}")

    programs, providers = described.program, _providers(described)
    if len(programs) > MOST_PROGRAMS or len(described.files) > MOST_FILES:
        raise refuse(f"more than {MOST_PROGRAMS} programs or {MOST_FILES} files")
    if len(programs) + len(described.files) > MOST_MODULES - 2:  # sigma0 and init
        raise refuse(f"more than {MOST_MODULES - 2} programs and files together")
    if len(providers) > MOST_SERVICES:
        raise refuse(f"more than {MOST_SERVICES - len(INITS_OWN)} services")
    if described.ends_with not in programs:
        raise refuse(f"ends_with: there is no program '{described.ends_with}'")
    for file, path in described.files.items():
        if path.startswith(FONT):
            if path not in {f"{FONT}{height}" for height in fonts.SIZES}:
                raise refuse(f"files.{file}: a font has {fonts.SIZES[0]} to {fonts.SIZES[-1]} lines: {FONT}16")
        elif (folder / path).is_dir():
            try:
                archives.members(folder / path)
            except CobnutError as error:
                raise refuse(f"files.{file}: {path}: {error}") from None
        elif not (folder / path).is_file():
            raise refuse(f"files.{file}: there is no file or folder {path} beside the description")
    for one, program in programs.items():
        for service in program.provides:
            if other := _other_provider(one, service, described):
                raise refuse(f"program.{one}.provides: '{service}' is provided by {other}, too")
        for service in program.uses:
            if service not in providers:
                raise refuse(f"program.{one}.uses: no program provides '{service}'")
        for file in program.files:
            if file not in described.files:
                raise refuse(f"program.{one}.files: there is no '{file}' in [files]")


def _check_devices(name: str, described: Description, board: str) -> None:
    """A device has one driver."""
    owners: dict[tuple[str, str | int], str] = {}  # of a port, a page of registers, a line or a device

    def take(one: str, word: str, what: str | int, shown: str) -> None:
        if owners.setdefault((word, what), one) != one:
            raise CobnutError(f"system {name}: program.{one}.{word}: {shown} is {owners[word, what]}'s")

    for one, program in described.program.items():
        if not program.there(board):
            continue
        devices = program.devices(board)
        _check_ranges(f"system {name}: program.{one}", devices)
        for port in (port for ports in devices.port_ranges() for port in ports):
            take(one, "ports", port, f"{port:#x}")
        for page in (page for pages in devices.register_ranges() for page in pages[:: PAGE_KB * 1024]):
            take(one, "registers", page, f"{page:#x}")
        for line in devices.interrupts:
            take(one, "interrupts", line, str(line))
        if devices.device:
            take(one, "device", devices.device, devices.device)
        elif devices.dma and not devices.registers:
            raise CobnutError(f"system {name}: program.{one}.dma: there is no device that could use memory")
        if devices.framebuffer_kb and not devices.dma:
            raise CobnutError(f"system {name}: program.{one}.framebuffer_kb: is for a device with dma")


def _check_ranges(where: str, devices: Devices) -> None:
    for ports in devices.port_ranges():
        if not ports:
            raise CobnutError(f"{where}.ports: a range ends before it begins")
        if INITS_PORTS.start < ports.stop and ports.start < INITS_PORTS.stop:
            raise CobnutError(f'{where}.ports: {INITS_PORTS.start:#x} is init\'s: say device = "V:D"')
    for registers in devices.register_ranges():
        size = len(registers)
        if size < PAGE_KB * 1024 or size > MOST_REGISTER_BYTES or size & (size - 1) or registers.start % size:
            raise CobnutError(
                f"{where}.registers: {registers.start:#x}: not a power of two from {PAGE_KB} KB to"
                f" {MOST_REGISTER_BYTES >> 20} MB, at a multiple of it"
            )


def _order(name: str, described: Description) -> list[str]:
    """Each program behind those whose services it uses."""
    providers, order, path = _providers(described), list[str](), list[str]()

    def visit(one: str) -> None:
        if one in path:
            circle = " -> ".join([*path[path.index(one) :], one])
            raise CobnutError(f"system {name}: a circle of needs: {circle}")
        if one in order:
            return
        path.append(one)
        for service in described.program[one].uses:
            for provider in providers[service]:
                if provider != "init":
                    visit(provider)
        path.pop()
        order.append(one)

    for one in described.program:
        visit(one)
    return order
