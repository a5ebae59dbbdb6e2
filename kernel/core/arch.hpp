// SPDX-License-Identifier: BSD-2-Clause
// The architecture contract: what a port defines beside arch/context.hpp (user registers), arch/paging.hpp (what it
// keeps of a space) and core/paging.hpp (page tables). Beside these only: the functions of core/string.hpp, `ready_top`
// (core/schedule.hpp) and the interface page itself (core/kip.hpp).
#pragma once

#include "core/mapping.hpp"
#include "core/space.hpp"
#include "core/thread.hpp"
#include "core/x2.hpp"

namespace arch {

// Threads and the processor.
extern "C" Thread* current_thread();  // nullptr while idle
// From now on `next` is the current thread, nullptr for nobody; what `before` had of the processor to itself is taken
// back.
void change_thread(Thread* before, Thread* next);
// What user mode needs to run `next`, its space included; `before` ran last, or nobody. False if it cannot run as it
// stands: then something has been done about that, or an exception has been raised in its name.
bool enter(Thread& next, const Thread* before);
// A thread that has not run yet: user registers as the start protocol wants them.
void prepare_user(Thread& t);
// The thread goes away, and what the port keeps for it beside its control block.
void destroy_thread(Thread& t);
// What that takes of kernel memory.
Word bytes_beside(const Thread& t);
void set_user_ip(Thread& t, Word ip);
void set_user_sp(Thread& t, Word sp);
void set_user_flags(Thread& t, Word flags);  // only the bits that a user may change
Word user_ip(const Thread& t);
Word user_sp(const Thread& t);
Word user_flags(const Thread& t);
// All registers of a user, `register_words` of them, in the order of the processor's exception message (IA-32, whose
// error words are 0 and not taken) or of docs/x2-arm.md.
void read_registers(const Thread& t, Word* words);
void write_registers(Thread& t, const Word* words);
// The result registers of an IPC: sender and message tag; the first message registers come from the UTCB.
void set_ipc_result(Thread& t, ThreadId from, Word tag);
// The result registers of Unmap: the first message registers come from the UTCB.
void set_unmap_result(Thread& t);
// Copies the registers that an exception message shows; takes those that the reply sets (manual A.8: 12 words).
void exception_message(const Thread& t, Word number, Word error, KernelMessage& message);
void exception_reply(Thread& t, const Word* words, Word count);
// What the fast path left behind becomes an ordinary frame (Thread::become); and back, false where something of the
// thread's needs the slow way out.
void leave_fast_frame(Thread& t);
bool offer_fast_frame(Thread& t);

// The thread table, by number. set_thread_at() allocates what backs it: false without memory, and never where a thread
// stood before.
Thread& thread_at(Word number);
bool set_thread_at(Word number, Thread& t);
// What stands in the table for numbers that are not in use, so that the fast path needs no test: a thread whose id and
// state match no sender.
Thread& nobody();
constexpr Word thread_numbers = 1u << ThreadId::number_bits;

// Spaces.
bool create_space(Space& space);
// Part of it, the work of some dozens of mappings; true when nothing is left but what free_space() frees.
bool destroy_space(Space& space);
// Kernel-owned user pages: the interface page and UTCBs.
bool map_kernel_page(Space& space, VAddr page, void* frame, bool writable);
// What the kernel owns at a user address, by its own address; nullptr if nothing.
void* kernel_page(const Space& space, VAddr page);
// What an initial server's space has beside memory. False when kernel memory is exhausted.
bool equip_server(Space& space);
Space* allocate_space();
void free_space(Space& space);
// SpaceControl has set the space's areas, or left them as they were, and has an architecture word: carries that out,
// returns the old one (sheet 7).
Word space_control(Space& space, Word control);
// A map item has mapped pages in the space up to `end`, where it must be able to reach them (manual A.5). What takes
// long then uses the budget up (mappings::between_points), or is not done: false where less is left than it takes.
bool mapped_up_to(Space& space, VAddr end, Word& budget);
// A space that is being destroyed has no mappings any more, and is to be taken off spaces::all: nothing that goes
// through these has to find it then. A part of what that takes; true if it is done.
bool leave_all(Space& space);
// What of a space's tag, and of what is in force of it, does not agree; nullptr if all does (core/books.hpp).
const char* disagreement(const Space& space);

// Copies bytes between two frames, each by its physical address; they may not cross a page. Nothing of it is a user's
// access: no translation of a user's is used or made. Where caches know users' addresses, about_to_copy
// (arch/paging.hpp) has been told both.
void copy(PAddr to, PAddr from, Word bytes);
// Lets an interrupt in that has come meanwhile. It forgets whatever the kernel is doing, like the way out to a user:
// what has to go on stands in control blocks. Returns when there was none.
void preemption_point();

// I/O fpages (manual A.4), where the processor has ports: maps or grants what `from` holds of `send`, as far as
// `window` (an I/O fpage, or the complete space) allows, as mappings::transfer() does. Unmaps them; true when all is
// done.
mappings::Mapped transfer_ports(Space& from, Fpage send, Space& to, Fpage window, bool grant,
    mappings::Progress& progress, Word& budget);
bool unmap_ports(Space& space, Fpage fpage, bool flush, Word& budget);

// Time: microseconds since the boot.
Microseconds now();
// The finest clock that is cheap to read, from any start; and its rate.
std::uint64_t ticks();
Word ticks_per_ms();

// Interrupt lines.
constexpr Word interrupt_lines = 16;
bool interrupt_available(Word line);
void mask_interrupt(Word line);
void unmask_interrupt(Word line);

// The debug console, and the end.
void console_put(char c);  // waits until it can
bool console_ready();  // it need not wait
int console_get();  // -1: nothing there
[[noreturn]] void stop(const char* why);  // one line, then power_off()
[[noreturn]] void power_off();

// The kernel interface page, as the kernel writes it.
void* kip_page();

}  // namespace arch

namespace user_memory {
// Reads up to `bytes` of a space as far as they are present; returns how many.
Word read(Space& space, VAddr from, void* to, Word bytes);
}
