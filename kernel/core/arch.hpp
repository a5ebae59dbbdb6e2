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
// `next` becomes the current thread (nullptr: idle). Resources of the processor that `before` holds are taken back.
void change_thread(Thread* before, Thread* next);
// Prepares to run `next` in user mode, its space included; `before` ran last (nullptr: none). False if `next` cannot
// run yet: then the cause has been removed, or an exception has been raised in its name.
bool enter(Thread& next, const Thread* before);
// Initial user registers of a new thread, by the start protocol.
void prepare_user(Thread& t);
// Frees what the port keeps for a thread beside its control block.
void destroy_thread(Thread& t);
// How much kernel memory that takes.
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
// Completes the frame of a thread that the fast path left waiting (Thread::become); and the inverse, false where the
// thread holds something that needs the slow way out.
void leave_fast_frame(Thread& t);
bool offer_fast_frame(Thread& t);

// The thread table, by number. set_thread_at() allocates what backs it: false without memory, and never where a thread
// stood before.
Thread& thread_at(Word number);
bool set_thread_at(Word number, Thread& t);
// The entry for unused numbers, so that the fast path needs no test: a thread whose id and state match no sender.
Thread& nobody();
constexpr Word thread_numbers = 1u << ThreadId::number_bits;

// Spaces.
bool create_space(Space& space);
// Part of the work, as much as some dozens of mappings take; true when nothing is left but what free_space() frees.
bool destroy_space(Space& space);
// Kernel-owned user pages: the interface page and UTCBs.
bool map_kernel_page(Space& space, VAddr page, void* frame, bool writable);
// The kernel-owned page at a user address, by its kernel address; nullptr if there is none.
void* kernel_page(const Space& space, VAddr page);
// Gives an initial server's space what it owns beside memory. False when kernel memory is exhausted.
bool equip_server(Space& space);
Space* allocate_space();
void free_space(Space& space);
// What the port's tags need to know of a space (slots on IA-32, domains and slots on ARM). Shared code calls these on
// every port, without a condition on the processor; where there is nothing to do a port defines them inline in
// arch/paging.hpp, which costs no code (ARM: the last two, since its tags limit no addresses and are in no list).
//
// SpaceControl has set the space's areas, or left them as they were, and has an architecture word: carries that out,
// returns the old one (sheet 7; docs/x2-arm.md). `visits`: how many spaces it may look at, all of them at first; when
// it was preempted it is called again, with what it left of them.
Word space_control(Space& space, Word control, Word& visits);
// A map item has mapped pages in the space up to `end`, which it must be able to address (manual A.5). What takes long
// then uses up the budget (mappings::between_points), or is not done: false where less is left than it takes.
bool mapped_up_to(Space& space, VAddr end, Word& budget);
// A space that is being destroyed, without mappings, is about to be removed from spaces::all: gives up what walks over
// that list have to find, such as a slot. Does part of the work; true if it is done.
bool leave_all(Space& space);
// A disagreement in the state of a space's tag and what the processor has of it; nullptr if there is none
// (core/books.hpp).
const char* disagreement(const Space& space);

// Copies bytes between two frames, each by its physical address; they may not cross a page. This is not a user access:
// no user translation is used or made. Where caches are indexed by user addresses, about_to_copy() (arch/paging.hpp)
// has been called for both.
void copy(PAddr to, PAddr from, Word bytes);
// What the port has to do once for each tick of the clock, behind a preemption point: it may be long.
void after_tick();
// Takes a pending interrupt, which drops the kernel's stack like the way out to a user: what has to continue is in
// control blocks. Returns if none is pending.
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

// Interrupt lines, of which there are `interrupt_lines` (arch/context.hpp).
bool interrupt_available(Word line);
void mask_interrupt(Word line);
void unmask_interrupt(Word line);

// The debug console, and the end.
void console_put(char c);  // waits until the port is ready
bool console_ready();  // it would not wait
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
