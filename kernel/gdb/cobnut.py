# SPDX-License-Identifier: BSD-2-Clause
"""GDB commands that know the kernel's threads and spaces, on IA-32: `help cobnut` lists them.

For a kernel with debug information: gdb -x kernel/gdb/cobnut.py build/pc/kernel/cobnut-kernel. They look and change
nothing.
"""

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
    return members(gdb.parse_and_eval("'spaces::(anonymous namespace)::list'"), "all_link")


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


def state_of(thread):
    """What a thread does, and with whom."""
    if address_of(thread) == current():
        return "running", "-"
    if int(thread["open_to"]):
        return "receiving", id_text(
            int(thread["open_to"])
        )  # the short form of waiting, which the fast path leaves behind
    state = name_of(thread["state"])
    if state == "sending":
        return state, id_text(thread["partner"]["id"]["raw"])
    if state == "receiving":
        return state, id_text(thread["awaited"]["raw"])
    return ("halted" if state == "ready" and bool(thread["halted"]) else state), "-"


def user_place(thread):
    """Instruction and stack pointer of a thread in user mode."""
    if address_of(thread) == current() and in_user_mode():
        return int(gdb.parse_and_eval("(unsigned)$eip")), int(gdb.parse_and_eval("(unsigned)$esp"))
    frame = thread["fast"] if int(thread["open_to"]) else thread["frame"]
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
    """cobnut threads: all threads, * the running one; id, state, whom it waits for, priority, space, ip and sp in user
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


for command in (Cobnut, Threads, ThreadCommand, Spaces, Walk, Ready, Trace):
    command()
