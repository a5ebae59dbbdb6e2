// SPDX-License-Identifier: BSD-2-Clause
// What init does for the programs that it has started (docs/systems.md): names, memory, programs, threads. It is each
// program's pager.
#pragma once

#include <rpc/rpc.h>

namespace init {

using rpc::Name, rpc::Nothing, rpc::Word;

inline constexpr Word page_size = 4096;
inline constexpr Word most_programs = 32, most_threads = 16; ///< threads: of one program

// ------------------------------------------------------------------------------------------------------------- names

/// The main thread of the program that provides a service, if the caller's description lets it use that.
/// Errors: not_found, denied, not_running.
using Open = rpc::Operation<0x10, Word(Name service)>;

/// For a server: which program a thread belongs to, if that may use one of the caller's services: its number, and in
/// the upper half how often it has been started. Errors: denied.
using Admit = rpc::Operation<0x11, Word(Word thread)>;

/// For a server with several services: whether the program of a thread may use this one of the caller's. Errors:
/// not_found (none of the caller's), denied.
using MayUse = rpc::Operation<0x12, Nothing(Word thread, Name service)>;

// ------------------------------------------------------------------------------------------------------------ memory
// Memory comes in dataspaces, named by handles. A handle is good for the programs that hold it: the one that has
// made the dataspace, and those that a holder has passed it on to. A dataspace goes with its maker, or by Close.
// Where others have it attached they go on with a page of their own in its place, over and over: nobody dies for
// another one's end. What a program has passed on, those that have it from it hold no longer than it runs.

/// A new dataspace of zeros. All of its pages are reserved at once and count for the caller, so that no access to it
/// fails later. At most 16,384 pages. Errors: no_memory, full (a program has 32 at most, its own memory's among them),
/// bad_value.
using Create = rpc::Operation<0x20, Word(Word pages)>;

/// Copies a dataspace: the copy is new, as by Create, and shares each page until one of the two writes to it. Others
/// are served while a large one is made, and what they write to the original meanwhile may be in the copy or not.
/// Errors: as Create; not_found (also: the original has ended meanwhile); full (another thread of the caller's makes a
/// large copy, too).
using Copy = rpc::Operation<0x21, Word(Word handle)>;

/// Lets the caller have a dataspace at `address`, or if that is 0, at a free address, which is returned. The pages
/// arrive at the first access. Errors: not_found; denied (writable, held read-only); bad_value (not a page's address,
/// or something is there); full.
using Attach = rpc::Operation<0x22, Word(Word handle, Word address, Word writable)>;

/// Takes what is attached at `address` away. Errors: not_found.
using Detach = rpc::Operation<0x23, Nothing(Word address)>;

/// Makes the program of `thread` a holder, too. Nobody passes on more than it holds. Errors: not_found, denied.
using Pass = rpc::Operation<0x24, Nothing(Word handle, Word thread, Word writable)>;

/// Ends a dataspace: its pages are free, and it is detached from its maker, who alone may do that. Where others have it
/// attached, they find from now on a page of their own instead, the same one everywhere, until they detach it. So it is
/// with memory whose maker has died: who shares memory learns of that from a call, and never by a fault. Errors:
/// not_found, denied.
using Close = rpc::Operation<0x25, Nothing(Word handle)>;

struct File {
    Word handle, bytes;
};
/// A file of the boot image, as a dataspace to be read; it counts for nobody. Errors: not_found, denied (no file that
/// the description lets the caller use), full.
using OpenFile = rpc::Operation<0x26, File(Name name)>;

/// For a server: how many pages a dataspace has that both the caller and the program of `thread` hold. A server asks
/// for what a client names before it uses it: the handle might be one of the server's own or of another client's.
/// Errors: not_found (one of them does not hold it); denied (writable, and one of them holds it read-only).
using Shared = rpc::Operation<0x29, Word(Word handle, Word thread, Word writable)>;

struct Usage {
    Word used, limit; ///< pages of the caller's
    Word free; ///< pages of the machine's that are not reserved
};
using Memory = rpc::Operation<0x27, Usage()>;

// ---------------------------------------------------------------------------------------------------------- programs
// For programs that may use the service `programs`.

enum class State : Word { none, waiting, running, ended };

struct ProgramInfo {
    Name name;
    State state;
    Word thread; ///< the main thread's id
    Word pages, limit;
    Word priority;
    Word starts; ///< how often it has been started
    Word code; ///< what it has ended with
    Word threads;
    Word kernel_pages; ///< of kernel memory that its space holds, rounded up
    Word slot_offset_mb, slot_size_mb; ///< its tag; size 0: none
    Word bound; ///< its slot is in its group's page directory alone (docs/tags.md)
    Word used_ms; ///< processor time since its start; that of spaces that it has made is not in it
    Word messages; ///< how many of its messages init has had since its start: calls, faults, quanta
};
/// A program by its number, from 0. Errors: not_found behind the last, denied.
using Describe = rpc::Operation<0x30, ProgramInfo(Word number)>;

/// Ends a program as it is. Errors: not_found, denied.
using Kill = rpc::Operation<0x31, Nothing(Word number)>;

/// Starts a program of the description that does not run. Errors: not_found, denied, bad_value (it runs), no_memory.
using Run = rpc::Operation<0x32, Word(Name name)>;

/// Returns when a program does not run any more, what it has ended with. Errors: not_found, denied.
using Await = rpc::Operation<0x33, Word(Word number)>;

// ------------------------------------------------------------------------------------------------------------- trace
// What programs ask init for, and what happens to them: a ring of the latest events, while it is on. It is not the
// kernel's trace (docs/debugging.md), which lies where no program can read. For programs that may use `programs`.

enum class Kind : Word {
    call,       ///< of an operation: its number, and the error that it got (later: none yet)
    page_fault, ///< address, instruction
    port_fault, ///< port, instruction
    exception,  ///< number, instruction
    quantum,    ///< it has used up a thread's quantum
    started,    ///< how often now
    ended,      ///< its code
};
struct Event {
    Word us; ///< since the trace was switched on
    Kind kind;
    Word program, thread; ///< the program's number, and which of its threads
    Word what, more;
};
struct Events {
    static constexpr Word most = 8;
    Word first, next; ///< numbers of events; equal: there are none yet
    Event events[most];
};
/// Switches the trace on, with no events in it, or off. Errors: denied.
using Trace = rpc::Operation<0x38, Nothing(Word on)>;
/// Events from the number `from` on, or from the oldest that is kept, if that is a later one. Errors: denied.
using ReadTrace = rpc::Operation<0x39, Events(Word from)>;

// ----------------------------------------------------------------------------------------------------------- threads

/// A further thread of the caller's, which begins at `ip` with the stack pointer `sp`; its id. Errors: full.
using MakeThread = rpc::Operation<0x40, Word(Word ip, Word sp)>;

/// The calling thread gets the interrupts of a line (manual 7.2). Errors: denied; full (another program's device has
/// the same line); not_found.
using TakeInterrupt = rpc::Operation<0x41, Nothing(Word line)>;

/// A new space without any pages, for a server that may use the service `spaces`: its only thread, which waits for
/// the start message of the caller's main thread (cobnut_start()), its pager and exception handler. init hears nothing
/// of it; it counts as a thread of the caller's program, and goes with that. It is large if that is by its description.
/// Errors: denied, full, no_memory.
using MakeSpace = rpc::Operation<0x42, Word()>;

/// Ends a space by its thread. Errors: denied, not_found (the caller has made no such space).
using EndSpace = rpc::Operation<0x43, Nothing(Word thread)>;

// ------------------------------------------------------------------------------------------------------------ devices

/// Addresses that a device decodes: ports, or memory.
struct DeviceRange {
    Word first, size; ///< size 0: none
    Word is_ports;
};
struct Device {
    static constexpr Word most_ranges = 6;
    Word identity; ///< the vendor in the lower half, the device in the upper one
    Word line; ///< of its interrupt; ~0: none
    /// As its base address registers have them, in their order; or `registers` of the description, and behind them the
    /// framebuffer.
    DeviceRange ranges[most_ranges];
};
/// The device of the caller's description. Its ports arrive when they are used first, its line by TakeInterrupt.
/// Errors: not_found.
using FindDevice = rpc::Operation<0x48, Device()>;

/// The memory of a range of the caller's device, as a dataspace that can be attached and passed on, not copied.
/// Errors: not_found; bad_value (more than 64 MB, or what init cannot reach); full.
using OpenRange = rpc::Operation<0x49, File(Word range)>;

/// Where a page of a dataspace that the caller holds is in the machine's memory, for a device that uses memory by
/// itself. It stays there as long as the dataspace exists and nobody copies it. Errors: not_found; denied (no `dma` in
/// the description, or held read-only).
using Physical = rpc::Operation<0x4A, Word(Word handle, Word page)>;

/// Lets the caller's device use memory by itself: when it has been reset, so that it no longer has the addresses that
/// an earlier driver gave it. Ends with the caller. Errors: not_found; denied (no `dma` in the description).
using BusMaster = rpc::Operation<0x4B, Nothing()>;

using Operations = rpc::List<Open, Admit, MayUse, Create, Copy, Attach, Detach, Pass, Close, OpenFile, Shared, Memory,
                             Describe, Kill, Run, Await, Trace, ReadTrace, MakeThread, TakeInterrupt, MakeSpace,
                             EndSpace, FindDevice, OpenRange, Physical, BusMaster>;

/// What init tells a server: a client is gone. MR1: the client's number, and in the upper half which of its starts.
inline constexpr Word client_gone_label = 0x50;

} // namespace init
