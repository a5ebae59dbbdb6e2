# SPDX-License-Identifier: BSD-2-Clause
"""GDB commands that know the kernel's threads and spaces, on IA-32, and whose program runs: `help cobnut` lists them.

For a kernel with debug information: gdb -x kernel/gdb/cobnut.py build/pc/kernel/cobnut-kernel. They look and change
nothing of the guest (`cobnut backtrace` puts the stack pointer back).
"""

import os
import struct

import gdb

VERSION_BITS = 14
ANY, ANY_LOCAL = 0xFFFFFFFF, 0xFFFFFFC0
KERNEL_BASE = 0xF0000000
# bits of directory and table entries (processor manual, volume 3, 3.7.6)
ENTRY_BITS = (
    (0x1, "present"),
    (0x2, "writable"),
    (0x4, "user"),
    (0x8, "write-through"),
    (0x10, "uncached"),
    (0x20, "accessed"),
    (0x40, "dirty"),
    (0x100, "global"),
)
PRESENT, LARGE_PAGE = 0x1, 0x80
OWN_TABLE = 0x200  # of a space's own directory, whose entries need not be present (kernel/ia32/page_tables.hpp)


# The kernel's objects


def members(head, link):
    """The elements of a circular List, in order."""
    first = head["head_"]
    element = first
    while int(element):
        yield element.dereference()
        element = element[link]["next"]
        if element == first:
            return


def all_spaces():
    return members(gdb.parse_and_eval("spaces::all"), "all_link")


def all_threads():
    for space in all_spaces():
        yield from members(space["members"], "space_link")


def address_of(value):
    return int(value.address)


def processor():
    return gdb.parse_and_eval("*(Processor*)&processor")


def current():
    """The address of the running thread's control block, 0 while nobody runs."""
    top = gdb.parse_and_eval("(unsigned)&((Thread*)0)->frame + sizeof(Frame)")
    return (int(processor()["esp0"]) - int(top)) & 0xFFFFFFFF


def in_user_mode():
    return (int(gdb.parse_and_eval("$cs")) & 3) == 3


# How they are written


def id_text(raw):
    """A thread id as people write it: NUMBER.VERSION, a local id in hex."""
    raw = int(raw)
    if raw in (0, ANY, ANY_LOCAL):
        return {0: "-", ANY: "anybody", ANY_LOCAL: "anybody here"}[raw]
    return f"{raw >> VERSION_BITS}.{raw & (1 << VERSION_BITS) - 1}" if raw & 0x3F else f"{raw:#x}"


def name_of(enumerator):
    return str(enumerator).rsplit("::", 1)[-1]


def bits_text(entry):
    return " ".join([name for bit, name in ENTRY_BITS if entry & bit] + (["4 MB page"] if entry & LARGE_PAGE else []))


def kind_of(space):
    slot = space["arch"]["slot"]
    if not int(slot["size"]):
        return "large"
    return f"small, slot {int(slot['base']):#x} + {int(slot['size']) >> 20} MB"


def is_open(state_word):
    """Whether a thread is open: its state word is then the id of the awaited sender (core/thread.hpp)."""
    return state_word & 63 != 0


def state_of(thread):
    """What a thread does, and its partner."""
    if address_of(thread) == current():
        return "running", "-"
    word = int(thread["state_word"])
    if is_open(word):
        return "receiving", id_text(word)
    state = name_of(gdb.Value(word).cast(gdb.lookup_type("State")))
    if state == "sending":
        return state, id_text(thread["partner"]["id"]["raw"])
    if state in ("receiving", "reflected"):
        return state, id_text(thread["awaited"]["raw"])
    return ("halted" if state == "ready" and bool(thread["halted"]) else state), "-"


def user_place(thread):
    """Instruction and stack pointer of a thread in user mode."""
    if address_of(thread) == current() and in_user_mode():
        return int(gdb.parse_and_eval("(unsigned)$eip")), int(gdb.parse_and_eval("(unsigned)$esp"))
    # the gate leaves a whole frame
    stub = is_open(int(thread["state_word"])) and bool(gdb.parse_and_eval("cpu::features.sysenter"))
    frame = thread["fast"] if stub else thread["frame"]
    return int(frame["eip"]), int(frame["esp"])


def table(header, rows):
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


# How they are named on the command line


def find_thread(text):
    """The thread NUMBER, or NUMBER.VERSION."""
    number, _, version = text.partition(".")
    try:
        wanted = int(number, 0), int(version, 0) if version else None
    except ValueError:
        raise gdb.GdbError(f"{text}: a thread is NUMBER or NUMBER.VERSION") from None
    for thread in all_threads():
        raw = int(thread["id"]["raw"])
        if raw >> VERSION_BITS == wanted[0] and wanted[1] in (None, raw & (1 << VERSION_BITS) - 1):
            return thread
    raise gdb.GdbError(f"no thread {text}")


def find_space(text):
    """The space at an address of the kernel's, or that of a thread."""
    if text.lower().startswith("0xf"):
        for space in all_spaces():
            if address_of(space) == int(text, 16):
                return space
        raise gdb.GdbError(f"no space at {text}")
    return find_thread(text)["space"].dereference()


class Command(gdb.Command):
    """A command `cobnut NAME`, whose documentation is that of its class; `arguments` says how many words it takes."""

    name = ""
    arguments = (0, 0)

    def __init__(self):
        super().__init__(f"cobnut {self.name}".strip(), gdb.COMMAND_DATA, prefix=not self.name)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if not self.arguments[0] <= len(words) <= self.arguments[1]:
            raise gdb.GdbError(f"usage: {self.__doc__.splitlines()[0]}")
        self.run(*words)


class Cobnut(Command):
    """cobnut: threads, spaces and page tables of the kernel."""

    def invoke(self, argument, from_tty):
        if argument:
            raise gdb.GdbError(f"no command cobnut {argument}; help cobnut lists those that there are")
        gdb.execute("help cobnut")


class Threads(Command):
    """cobnut threads: all threads, * the running one; id, state, awaited sender, priority, space, ip and sp in user
    mode.
    """

    name = "threads"

    def run(self):
        rows = []
        for thread in all_threads():
            state, partner = state_of(thread)
            ip, sp = user_place(thread)
            mark = "*" if state == "running" else " "
            rows.append(
                (
                    mark + id_text(thread["id"]["raw"]),
                    state,
                    partner,
                    str(int(thread["priority"])),
                    f"{int(thread['space']):#x}",
                    f"{ip:#010x}",
                    f"{sp:#010x}",
                )
            )
        table((" thread", "state", "partner", "priority", "space", "ip", "sp"), rows)


class ThreadCommand(Command):
    """cobnut thread ID: one thread, by number or as NUMBER.VERSION."""

    name = "thread"
    arguments = (1, 1)

    def run(self, which):
        thread = find_thread(which)
        state, partner = state_of(thread)
        ip, sp = user_place(thread)
        print(f"thread {id_text(thread['id']['raw'])} at {address_of(thread):#x}: {state}, partner {partner}")
        print(
            f"  space {int(thread['space']):#x} ({kind_of(thread['space'])}), priority {int(thread['priority'])}, "
            f"scheduler {id_text(thread['scheduler']['raw'])}"
        )
        print(
            f"  ip {ip:#010x} sp {sp:#010x} UTCB {int(thread['utcb_address']):#010x}, the kernel's view"
            f" {int(thread['utcb']):#x}"
        )
        registers = thread["registers"]
        print(
            "  "
            + " ".join(
                f"{name} {int(registers[name]):08x}" for name in ("eax", "ebx", "ecx", "edx", "esi", "edi", "ebp")
            )
        )
        print(
            f"  roles: sends as {name_of(thread['send_role'])}, receives as {name_of(thread['receive_role'])}; "
            f"fast path vetoed by {int(thread['fast_veto']):#x}"
        )
        senders = [id_text(sender["id"]["raw"]) for sender in members(thread["senders"], "sender_link")]
        print(f"  wait to send to it: {' '.join(senders) or 'nobody'}")


class Spaces(Command):
    """cobnut spaces: all spaces, * the one whose page directory is in force; kind, slot, page directory, threads."""

    name = "spaces"

    def run(self):
        host = int(processor()["host"])
        rows = []
        for space in all_spaces():
            mark = "*" if address_of(space["arch"]["own"]) == host else " "
            directory = int(space["arch"]["directory"]) - KERNEL_BASE
            threads = " ".join(id_text(thread["id"]["raw"]) for thread in members(space["members"], "space_link"))
            rows.append((f"{mark}{address_of(space):#x}", kind_of(space), f"{directory:#010x}", threads))
        table((" space", "kind", "directory", "threads"), rows)


class Walk(Command):
    """cobnut walk SPACE ADDRESS: the page walk of an address in a space, which is named by its address or by a thread's
    number.
    """

    name = "walk"
    arguments = (2, 2)

    def run(self, which, where):
        space = find_space(which)
        address = int(gdb.parse_and_eval(where)) & 0xFFFFFFFF
        base = int(space["arch"]["slot"]["base"])
        linear = f", linear address {base + address:#010x}" if base else ""
        print(f"space {address_of(space):#x} ({kind_of(space)}), address {address:#010x}{linear}")
        entry = int(space["arch"]["directory"]["entry"][address >> 22])
        print(f"  directory entry {address >> 22}: {entry:#010x} {bits_text(entry) or 'not present'}")
        if base:
            host = int(processor()["host"]["directory"])
            copy = int(gdb.parse_and_eval(f"((PageTable*){host + KERNEL_BASE:#x})->entry[{base + address >> 22}]"))
            print(
                f"  its copy in the host {host:#010x}, entry {base + address >> 22}: "
                f"{copy:#010x} {bits_text(copy) or 'not copied'}"
            )
        if not entry & (PRESENT | OWN_TABLE):
            return
        if entry & LARGE_PAGE:
            print(f"  physical address {(entry & 0xFFC00000) + (address & 0x3FFFFF):#010x}")
            return
        shared = int(space["arch"]["shared_table"])  # of a slot below 4 MB
        table_at, index = (shared, base + address) if shared else ((entry & ~0xFFF) + KERNEL_BASE, address)
        page = gdb.parse_and_eval(f"((PageTable*){table_at:#x})->entry[{index >> 12 & 0x3FF}]")
        print(f"  table entry {address >> 12 & 0x3FF}: {int(page):#010x} {bits_text(int(page)) or 'not present'}")
        if int(page) & PRESENT:
            print(f"  physical address {(int(page) & ~0xFFF) + (address & 0xFFF):#010x}")


class Ready(Command):
    """cobnut ready: the ready queues; the running thread is in none."""

    name = "ready"

    def run(self):
        queues = gdb.parse_and_eval("schedule::ready")["queues_"]
        last = queues.type.range()[1]
        filled = [
            (priority, [id_text(thread["id"]["raw"]) for thread in members(queues[priority], "ready_link")])
            for priority in range(last, -1, -1)
            if int(queues[priority]["head_"])
        ]
        for priority, threads in filled:
            print(f"{priority:3}: {' '.join(threads)}")
        if not filled:
            print("nobody is ready")


class Trace(Command):
    """cobnut trace [N]: the last N (20) events of the kernel's trace (boot option trace=KB), times in microseconds
    before the last.
    """

    name = "trace"
    arguments = (0, 1)

    def run(self, count="20"):
        ring = gdb.parse_and_eval("*(trace::Ring*)&trace_ring")
        start, end, following = (int(ring[name]) for name in ("records", "end", "next"))
        if not start:
            raise gdb.GdbError("the kernel keeps no trace: boot with the option trace=KB")
        size = gdb.lookup_type("trace::Record").sizeof
        there = (end - start if int(ring["wraps"]) else following - start) // size
        wanted = min(there, int(count, 0))
        events = []
        for back in range(wanted, 0, -1):
            at = start + (following - start - back * size) % (end - start)
            events.append(gdb.parse_and_eval(f"*(trace::Record*){at:#x}"))
        last = int(events[-1]["time"]) if events else 0
        rows = [
            (
                f"{(int(event['time']) - last) * 1000 / int(ring['ticks_per_ms']):.3f}",
                name_of(event["event"]),
                id_text(event["thread"]),
                " ".join(f"{int(event['words'][index]):#x}" for index in range(4)),
            )
            for event in events
        ]
        table(("us", "event", "thread", "words (kernel/core/trace.hpp)"), rows)


# Programs. Several are linked at the same address, and gdb has one table of symbols for all spaces: it gets those of
# the program in whose code the guest stops, which is told by its bytes. So nothing of the kernel's has to be known for
# it, nor which processor it is.

# ELF header and program header (System V ABI, chapters 4 and 5)
PROGRAM_HEADERS, LOADED, EXECUTABLE = "<28xI10xHH", 1, 1
PAGE_BYTES, NEAR_BYTES = 4096, 64


class Executable:
    """A program's file: its name, and what of it is code, with the addresses."""

    def __init__(self, path):
        self.path, self.name = os.path.abspath(path), os.path.basename(path)
        with open(path, "rb") as file:
            data = file.read()
        at, size, count = struct.unpack_from(PROGRAM_HEADERS, data)
        self.parts = []
        for index in range(count):
            kind, offset, address, _, length, _, flags, _ = struct.unpack_from("<8I", data, at + index * size)
            if kind == LOADED and flags & EXECUTABLE:
                self.parts.append((address, data[offset : offset + length]))

    def code(self, address, size):
        """Its bytes at an address, as far as they are code."""
        for start, code in self.parts:
            if start <= address < start + len(code):
                return code[address - start : address - start + size]
        return b""

    def is_behind(self, base):
        """Whether all of its code that the processor can see there is in memory from `base` on."""
        pieces = [
            (start + at, code[at : at + PAGE_BYTES])
            for start, code in self.parts
            for at in range(0, len(code), PAGE_BYTES)
        ]
        return all(seen(base + address, len(piece)) in (None, piece) for address, piece in pieces)


executables = []
shown = None  # the one whose symbols gdb has


def seen(address, size):
    """Memory at a linear address, None where there is none now."""
    try:
        return bytes(gdb.selected_inferior().read_memory(address & 0xFFFFFFFF, size))
    except gdb.error:
        return None


def slot_base():
    """Where the running thread's space has its slot: gdb takes linear addresses, and a program counts from there."""
    if not on_ia32:
        return 0
    try:
        thread = current()
        return int(gdb.parse_and_eval(f"((Thread*){thread:#x})->space->arch.slot.base")) if thread else 0
    except gdb.error:
        return 0  # before the kernel runs


def program_here():
    """In whose code the guest has stopped; None in the kernel's, and where it cannot be read."""
    ip = int(gdb.parse_and_eval("(unsigned)$pc"))
    candidates = [one for one in executables if one.code(ip, 1)]
    if not candidates:
        return None
    base = slot_base()
    near = [one for one in candidates if seen(base + ip, len(one.code(ip, NEAR_BYTES))) == one.code(ip, NEAR_BYTES)]
    found = near if len(near) < 2 else [one for one in near if one.is_behind(base)]
    return found[0] if found else None


def show(program):
    """Lets gdb have its symbols, and not those that it had from here before."""
    global shown
    if shown:
        gdb.execute(f'remove-symbol-file "{shown.path}"', to_string=True)
        shown = None
    if not any(
        one.filename == os.path.realpath(program.path) for one in gdb.objfiles()
    ):  # a person may have added them
        gdb.execute(f'with confirm off -- add-symbol-file "{program.path}"', to_string=True)
        shown = program


def follow(event):
    """The guest has stopped: its symbols are those of the program that runs there."""
    found = program_here() if executables else None
    if found and found is not shown:
        show(found)
        print(f"cobnut: in {found.name}, whose symbols say:")  # what gdb has said already was by others
        gdb.execute("frame")


def find_program(name):
    for one in executables:
        if one.name == name:
            return one
    raise gdb.GdbError(f"no program {name} (there are {', '.join(one.name for one in executables) or 'none'})")


class Programs(Command):
    """cobnut programs FILE...: the programs that run, whose symbols gdb is given where the guest stops in them."""

    name = "programs"
    arguments = (1, 1000)

    def run(self, *paths):
        try:
            executables[:] = [Executable(path) for path in dict.fromkeys(paths)]
        except (OSError, struct.error) as error:
            raise gdb.GdbError(f"cobnut programs: {error}") from None


class ProgramCommand(Command):
    """cobnut program [NAME]: in which program the guest has stopped; with NAME, gdb has that one's symbols until it
    stops in another.
    """

    name = "program"
    arguments = (0, 1)

    def run(self, name=None):
        if name:
            show(find_program(name))
        found = program_here()
        where, whose = found.name if found else "none of the programs", shown.name if shown else "none"
        print(f"stopped in {where}, symbols of {whose}")


class Backtrace(Command):
    """cobnut backtrace: who called, in a program that runs in a small space; elsewhere what backtrace says.

    The arguments have no values: gdb would follow pointers without the slot.
    """

    name = "backtrace"

    def run(self):
        base = slot_base() if in_user_mode() else 0
        if not base:
            gdb.execute("backtrace")
            return
        # gdb finds a caller at an address that it reckons from the stack pointer, which is to be a linear one
        stack = int(gdb.parse_and_eval("(unsigned)$esp"))
        gdb.execute(f"set $esp = {base + stack & 0xFFFFFFFF:#x}")
        try:
            gdb.execute("backtrace -frame-arguments none")
        finally:
            gdb.execute(f"set $esp = {stack:#x}")


class ProgramBreakpoint(gdb.Breakpoint):
    """One that is not for what others have at its address."""

    def __init__(self, program, address):
        super().__init__(f"*{address:#x}")
        self.program, self.address = program, address

    def stop(self):
        return program_here() is self.program


class SlotFollower(gdb.Breakpoint):
    """Lets the emulator stop where small spaces reach a ProgramBreakpoint, which gdb puts at the program's own address.

    The emulator takes linear addresses. It is told those behind gdb's back, so gdb finds the guest stopped at the
    program's address, where it has the breakpoint; and a single step over it runs past the emulator's own.
    """

    def __init__(self):
        # where every change of a slot ends
        super().__init__("-source small_space.cpp -function set_segments", internal=True)
        self.told = set()
        gdb.events.breakpoint_modified.connect(lambda _: self.tell())
        gdb.events.breakpoint_deleted.connect(lambda gone: self.tell(without=gone))

    def stop(self):
        self.tell()
        return False

    def tell(self, without=None):
        points = [one for one in gdb.breakpoints() if isinstance(one, ProgramBreakpoint) and one is not without]
        addresses = {one.address for one in points if one.enabled}
        wanted = {base + address & 0xFFFFFFFF for base in slot_bases() for address in addresses}
        connection = gdb.selected_inferior().connection
        if not connection:
            return  # the guest is gone
        for order, changed in (("z0", self.told - wanted), ("Z0", wanted - self.told)):
            for address in changed:
                connection.send_packet(f"{order},{address:x},1")
        self.told = wanted


slot_follower = None  # from the first breakpoint in a program on


def follow_slots():
    global slot_follower
    if on_ia32:
        slot_follower = slot_follower or SlotFollower()
        slot_follower.tell()


def slot_bases():
    """Where the small spaces have their slots."""
    try:
        return {int(space["arch"]["slot"]["base"]) for space in all_spaces()} - {0}
    except gdb.error:
        return set()  # before the kernel runs


class Break(Command):
    """cobnut break PROGRAM PLACE: a breakpoint in one program: a function, or FILE:LINE. It stays when gdb has another
    program's symbols.
    """

    name = "break"
    arguments = (2, 2)

    def run(self, name, place):
        program = find_program(name)
        show(program)
        places = [one.pc for one in gdb.decode_line(place)[1] or () if program.code(one.pc, 1)]
        if not places:
            raise gdb.GdbError(f"no {place} in {name}")
        for address in places:
            ProgramBreakpoint(program, address)
        follow_slots()


on_ia32 = "i386" in gdb.execute("show architecture", to_string=True)
for command in (Cobnut, Programs, ProgramCommand, Break):
    command()
if on_ia32:
    for command in (Threads, ThreadCommand, Spaces, Walk, Ready, Trace, Backtrace):
        command()
gdb.events.stop.connect(follow)
