# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel trace in the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing show.

A space is a process and a thread a thread of it: slices where it runs, instants for what happens meanwhile, arrows for
messages. The first process is the kernel: idle time and interrupts. Times are microseconds.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cobnut.kernel_trace import LEAST_US, ROLES, Record, Trace, interrupt_thread, number, thread_name, user_thread

FunctionAt = Callable[[int], str | None]  # the name of the user's code at an address
# the kernel's process, and its threads: idle, then one for each interrupt line; not 0, which readers keep for
# themselves
KERNEL, IDLE, FIRST_LINE = 1, 1, 2
# threads by their numbers, counted from the first user thread: the initial servers (kernel/ia32/boot.cpp), and what our
# root server starts, in the order of the modules (user/root/main.cc)
SIGMA0, ROOT, FIRST_PAYLOAD = 0, 2, 3
# IA-32 exceptions (processor manual, volume 3, 6.3.1)
EXCEPTIONS = {
    0: "#DE",
    1: "#DB",
    3: "#BP",
    4: "#OF",
    5: "#BR",
    6: "#UD",
    7: "#NM",
    11: "#NP",
    12: "#SS",
    13: "#GP",
    14: "#PF",
}
IPC_ERRORS = (
    "",
    "timeout",
    "no partner",
    "canceled",
    "overflow",
    "transfer timeout (own)",
    "transfer timeout (partner's)",
    "aborted",
)


@dataclass(frozen=True)
class Program:
    """A program and its code. `thread` is the first one of its space, counted from the first user thread; None where
    that is not known.
    """

    name: str
    function_at: FunctionAt
    thread: int | None = None


@dataclass
class Slice:
    """A thread, or the idle loop, runs."""

    track: tuple[int, int]
    start: float
    name: str
    args: dict
    end: float = 0.0


def convert(trace: Trace, programs: Sequence[Program] = ()) -> dict:
    """The whole file as an object to be written as JSON; `programs` are those that may run in it."""
    writer = _Writer(trace, programs)
    for index, record in enumerate(trace.records):
        writer.take(record, trace.records[index + 1] if index + 1 < len(trace.records) else None)
    writer.end()
    return {
        "displayTimeUnit": "ns",
        "otherData": {"events": len(trace.records), "lost": trace.lost},
        "traceEvents": [*writer.names(), *sorted(writer.events, key=lambda event: event["ts"])],
    }


def _by_places(trace: Trace, programs: Sequence[Program]) -> dict[tuple[int, int], list[Program]]:
    """The programs that a space may run, by the space and how many were deleted at its place before: those that have
    code wherever its threads entered the kernel. Places at which no program has any, as in the interface page, say
    nothing.
    """
    lives: Counter[int] = Counter()
    places: dict[tuple[int, int], set[int]] = {}
    for record in trace.records:
        if record.event == "switched":
            space, _, ip, _ = record.words
            places.setdefault((space, lives[space]), set()).add(ip)
        elif record.event == "space_deleted":
            lives[record.words[0]] += 1
    code = {ip: [one for one in programs if one.function_at(ip)] for some in places.values() for ip in some}
    known = {life: [code[ip] for ip in some if code[ip]] for life, some in places.items()}
    return {
        life: [one for one in programs if all(one in having for having in some)] for life, some in known.items() if some
    }


class _Writer:
    def __init__(self, trace: Trace, programs: Sequence[Program]):
        self.events: list[dict] = []
        self._programs = programs
        self._first_user = trace.first_user_thread
        self._processes: dict[int, int] = {}  # space: process
        self._run: dict[int, Program] = {}  # space: what it runs, where that is known
        self._may_run = _by_places(trace, programs)
        self._lives: Counter[int] = Counter()  # spaces that were deleted, by their place
        self._process_names = {KERNEL: "kernel"}
        self._thread_names = {(KERNEL, IDLE): "idle"}
        self._spaces: dict[int, int] = {}  # thread: space
        self._running: Slice | None = None
        self._host = 0  # the space whose page directory is in force; 0: the kernel's own
        self._last: dict[int, Slice] = {}  # thread: what it did last
        self._arrows: dict[int, list[int]] = {}  # thread: messages that it has not seen yet
        self._messages = 0
        self._now = 0.0

    def take(self, record: Record, following: Record | None) -> None:
        """The next record, and the one behind it."""
        self._now = round(record.microseconds, 3)
        getattr(self, f"_{record.event}", self._ignored)(record, following)

    def end(self) -> None:
        """Nothing follows."""
        self._stop()

    def names(self) -> list[dict]:
        """What processes and threads are called."""
        processes = [
            {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": name}}
            for pid, name in sorted(self._process_names.items())
        ]
        threads = [
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}
            for (pid, tid), name in sorted(self._thread_names.items())
        ]
        return processes + threads

    def _ignored(self, record: Record, following: Record | None) -> None:
        pass

    # who runs

    def _switched(self, record: Record, following: Record | None) -> None:
        space, slot, ip, host = record.words
        self._belongs(record.thread, space)
        kind = f"small at {slot:#010x}, host {self._space_name(host)}" if slot else "large"
        name = self._function_at(record.thread, ip) or "running"
        runs = Slice(self._track(record.thread), self._now, name, {"ip": f"{ip:#010x}", "space": kind})
        self._start(runs)
        self._last[record.thread] = runs
        if host != self._host:
            self._host = host
            self._instant(record, "host changes", "tag", {"host": self._space_name(host)})
        for arrow in self._arrows.pop(record.thread, []):
            self._add("f", "message", runs.track, cat="ipc", id=arrow, bp="e")

    def _idle(self, record: Record, following: Record | None) -> None:
        self._start(Slice((KERNEL, IDLE), self._now, "idle", {}))

    def _start(self, what: Slice) -> None:
        self._stop()
        self._running = what

    def _stop(self) -> None:
        if self._running:
            self._running.end = self._now
            self._slice(self._running)

    def _slice(self, it: Slice) -> None:
        duration = round(max(it.end - it.start, LEAST_US), 3)
        self._add("X", it.name, it.track, ts=it.start, dur=duration, cat="run", args=it.args)

    # what happens

    def _message(self, record: Record, following: Record | None) -> None:
        receiver, tag, send_role, receive_role = record.words
        args = {
            "to": thread_name(receiver),
            "label": f"{tag >> 16:#06x}",
            "untyped": tag & 0x3F,
            "typed": tag >> 6 & 0x3F,
            "sent by": _role(send_role),
            "received by": _role(receive_role),
        }
        last = self._last.get(record.thread)
        if last is None:
            return  # its sender's last event is lost
        self._add("i", f"message to {thread_name(receiver)}", last.track, s="t", cat="ipc", args=args)
        self._messages += 1
        # Queued, it was sent when its sender ran last; so an arrow starts in a slice of the sender's in any case.
        start = self._now if last is self._running else max(last.start, round(last.end - LEAST_US, 3))
        self._add("s", "message", last.track, ts=start, cat="ipc", id=self._messages)
        self._arrows.setdefault(receiver, []).append(self._messages)

    def _ipc_failed(self, record: Record, following: Record | None) -> None:
        code, role, receiver, _ = record.words
        args = {"error": IPC_ERRORS[code >> 1 & 7], "phase": "receive" if code & 1 else "send", "of": _role(role)}
        if receiver:
            args["also told"] = thread_name(receiver)
        self._instant(record, f"IPC failed: {args['error']}", "ipc", args)

    def _fault(self, record: Record, following: Record | None) -> None:
        role, *words = record.words
        args: dict[str, str | int | None] = {
            "ip": f"{words[1]:#010x}",
            "function": self._function_at(record.thread, words[1]),
        }
        if _role(role) == "page_fault":
            name, args["address"] = "page fault", f"{words[0]:#010x}"
        elif _role(role) == "port_fault":
            name, args["ports"] = "port fault", f"{words[0] >> 16:#x}, log2 of their number {words[0] >> 10 & 0x3F}"
        elif _role(role) == "exception":
            name = f"exception {EXCEPTIONS.get(words[2], words[2])}"
            args = {"ip": f"{words[0]:#010x}", "function": self._function_at(record.thread, words[0])}
        else:
            name, args = _role(role), {"at_us": words[1] << 32 | words[0]}
        self._instant(record, name, "fault", args)

    def _interrupt(self, record: Record, following: Record | None) -> None:
        line = record.words[0]
        track = (KERNEL, FIRST_LINE + line)
        self._thread_names[track] = f"interrupt {line}"
        interrupted = thread_name(record.thread) if record.thread else "nobody"
        end = following.microseconds if following else self._now
        it = Slice(track, self._now, f"interrupt {line}", {"interrupted": interrupted}, end)
        self._slice(it)
        self._last[interrupt_thread(line)] = it

    def _thread_created(self, record: Record, following: Record | None) -> None:
        self._belongs(record.thread, record.words[0])
        self._track(record.thread)
        self._happens(f"creates {thread_name(record.thread)}", "thread", {"space": self._space_name(record.words[0])})

    def _thread_deleted(self, record: Record, following: Record | None) -> None:
        self._happens(f"deletes {thread_name(record.thread)}", "thread", {"space": self._space_name(record.words[0])})

    def _space_deleted(self, record: Record, following: Record | None) -> None:
        self._happens("deletes a space", "space", {"space": self._space_name(record.words[0])})
        self._lives[record.words[0]] += 1
        for known in (self._processes, self._run):
            known.pop(record.words[0], None)  # its place may become another one's

    def _entry_copied(self, record: Record, following: Record | None) -> None:
        space, address, host, _ = record.words
        args = {"space": self._space_name(space), "address": f"{address:#010x}", "host": self._space_name(host)}
        self._instant(record, "directory entry copied", "tag", args)

    def _slot_taken(self, record: Record, following: Record | None) -> None:
        self._instant(record, "slot taken", "tag", self._slot(record))

    def _slot_released(self, record: Record, following: Record | None) -> None:
        self._instant(record, "slot released", "tag", self._slot(record))

    def _promoted(self, record: Record, following: Record | None) -> None:
        self._instant(record, "promoted", "tag", {"space": self._space_name(record.words[0])})

    def _slot(self, record: Record) -> dict:
        space, base, size, _ = record.words
        return {"space": self._space_name(space), "base": f"{base:#010x}", "mb": size >> 20}

    # how it is written

    def _instant(self, record: Record, name: str, category: str, args: dict) -> None:
        self._add("i", name, self._track(record.thread), s="t", cat=category, args=args)

    def _happens(self, name: str, category: str, args: dict) -> None:
        """An instant event of the running thread."""
        track = self._running.track if self._running else (KERNEL, IDLE)
        self._add("i", name, track, s="t", cat=category, args=args)

    def _add(self, phase: str, name: str, track: tuple[int, int], ts: float | None = None, **more: object) -> None:
        event = {"ph": phase, "name": name, "ts": self._now if ts is None else ts, "pid": track[0], "tid": track[1]}
        self.events.append(event | more)

    def _belongs(self, thread: int, space: int) -> None:
        self._spaces[thread] = space
        if space not in self._processes:
            self._processes[space] = KERNEL + len(self._process_names)
            pid = self._processes[space]
            named = {SIGMA0: "sigma0", ROOT: "root server"}
            for program in self._programs:
                if program.thread is not None and thread == user_thread(self._first_user + program.thread):
                    self._run[space] = program
                    named.setdefault(program.thread, program.name)
            fitting = self._may_run.get((space, self._lives[space]), [])
            if space not in self._run and len(fitting) == 1:
                self._run[space] = fitting[0]
                named.setdefault(number(thread) - self._first_user, f"{fitting[0].name}, space {pid}")
            self._process_names[pid] = named.get(number(thread) - self._first_user, f"space {pid}")

    def _track(self, thread: int) -> tuple[int, int]:
        if not thread or thread not in self._spaces:
            return (KERNEL, IDLE)
        track = (self._processes.get(self._spaces[thread], KERNEL), number(thread))
        self._thread_names[track] = f"thread {thread_name(thread)}"
        return track

    def _function_at(self, thread: int, address: int) -> str | None:
        """The function of the thread's program; if that is not known, the one that all possible programs have there."""
        space = self._spaces.get(thread, 0)
        program = self._run.get(space)
        if program:
            return program.function_at(address)
        fitting = self._may_run.get((space, self._lives[space])) or self._programs
        names = {name for one in fitting if (name := one.function_at(address))}
        return names.pop() if len(names) == 1 else None

    def _space_name(self, space: int) -> str:
        return self._process_names.get(
            self._processes.get(space, -1), "the kernel's own" if not space else f"{space:#010x}"
        )


def _role(role: int) -> str:
    return ROLES[role] if role < len(ROLES) else str(role)
