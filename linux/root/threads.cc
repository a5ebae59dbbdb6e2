// SPDX-License-Identifier: BSD-2-Clause
#include "threads.h"

#include <cobnut/control.h>
#include <cobnut/space.h>
#include <l4/kdebug.h>
#include <l4/kip.h>
#include <l4/schedule.h>

namespace linux_root {
namespace {

using Word = L4_Word_t;

constexpr Word page = 4096, utcb_size = 512;
// A process's space: what is not its program's lies below the end of addresses,
constexpr Word reserved = 16 << 20, stub_below = 3 << 20, utcbs_below = 2 << 20;
constexpr int utcbs_log2 = 20;
// or at the start, where programs have no pages, if the space may be small. (Ids from 0x4000 on, controlled-spaces.md.)
constexpr Word small_stub = 0x4000, small_kip = 0x7000, small_utcbs = 0x8000, small_end = 0x10000;
constexpr int small_utcbs_log2 = 15;
// The server's space: below its image.
constexpr Word server_kip = 0x100000, server_utcbs = 0x110000;
// Above those of the processes' threads, which keep what threads begin with.
constexpr Word events_priority = 120, main_priority = 110;

alignas(page) constinit unsigned char console_stack[page] = {};
constinit L4_ThreadId_t console_to = {};

L4_ThreadId_t serial_interrupt() { return L4_GlobalId(4, 1); }

void out_byte(unsigned short port, unsigned char value) { __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port)); }

/// The first serial port, which is the kernel's console, tells when something was typed.
void enable_serial_interrupt()
{
    constexpr unsigned short port = 0x3F8, interrupt_enable = port + 1, modem_control = port + 4;
    out_byte(interrupt_enable, 1); // received data
    out_byte(modem_control, 0x0B); // DTR, RTS, and the line to the interrupt controller
}

/// The last thread of a space takes that with it.
bool take_away(L4_ThreadId_t id)
{
    return L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

/// Characters, as they are typed; the events thread takes each at once.
[[noreturn]] void console_main()
{
    for (;;) {
        for (int c = L4_KDB_ReadChar(); c >= 0; c = L4_KDB_ReadChar()) {
            L4_Set_MsgTag(L4_MsgTag_t{.raw = Word{EVENT_CHARACTER} << 16 | 1});
            L4_LoadMR(1, static_cast<Word>(c));
            L4_Send(console_to);
        }
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
        L4_Call(serial_interrupt()); // acknowledges the last, and waits for the next
    }
}

/// The end of the addresses of large spaces.
Word user_end()
{
    void *kip = L4_GetKernelInterface();
    for (Word i = 0; i < L4_NumMemoryDescriptors(kip); i++) {
        L4_MemoryDesc_t *m = L4_MemoryDesc(kip, i);
        if (L4_IsMemoryDescVirtual(m)) return L4_MemoryDescHigh(m) + 1;
    }
    return 0xC0000000;
}

/// Of the clock that runs on with the machine off.
unsigned char clock_register(unsigned char index)
{
    unsigned char value;
    out_byte(0x70, index);
    __asm__ volatile("inb $0x71, %0" : "=a"(value));
    return value;
}

Word clock_number(unsigned char index)
{
    const unsigned char value = clock_register(index);
    constexpr unsigned char binary = 4; // of status register B
    return clock_register(11) & binary ? value : (value >> 4) * 10u + (value & 15);
}

/// Seconds since 1970 by the machine's clock, which is taken to run on UTC.
Word seconds_now()
{
    Word second, minute, hour, day, month, year;
    do {
        while (clock_register(10) & 0x80) {} // it is being updated
        second = clock_number(0), minute = clock_number(2), hour = clock_number(4);
        day = clock_number(7), month = clock_number(8), year = 2000 + clock_number(9);
    } while (second != clock_number(0));
    if (month <= 2) month += 12, year--;
    const Word days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * (month - 3) + 2) / 5 + day - 1 - 719468;
    return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

} // namespace

bool Threads::is_servers(L4_ThreadId_t id) const
{
    return L4_IsGlobalId(id) && L4_ThreadNo(id) - first_ < most_threads;
}

L4_Fpage_t Threads::utcb_area(bool small) const
{
    return small ? L4_FpageLog2(small_utcbs, small_utcbs_log2) : L4_FpageLog2(user_end_ - utcbs_below, utcbs_log2);
}

Word Threads::activate(L4_ThreadId_t id, L4_ThreadId_t space, Word utcb, bool small)
{
    const Word address = L4_Address(utcb_area(small)) + utcb * utcb_size;
    if (!L4_ThreadControl(id, space, root_, main_, reinterpret_cast<void *>(address))) return L4_ErrorCode();
    made_[L4_ThreadNo(id) - first_] = id;
    return 0;
}

Word Threads::make_space(L4_ThreadId_t first, bool small)
{
    const Word kip = small ? small_kip : user_end_ - utcbs_below - page;

    if (!is_servers(first)) return L4_ErrInvalidThread;
    if (!L4_ThreadControl(first, first, root_, L4_nilthread, reinterpret_cast<void *>(-1))) return L4_ErrorCode();
    Word error = 0;
    // a space for which nothing is asked is left to the kernel's rules
    const Word asked = small ? 0 : L4_SmallSpaceChange | L4_LargeSpace;
    if (!L4_SpaceControl(first, asked, L4_FpageLog2(kip, 12), utcb_area(small), main_, nullptr) ||
        !cobnut::set_controlled(first, true))
        error = L4_ErrorCode();
    if (!error) error = activate(first, first, 0, small);
    if (error) take_away(first);
    return error;
}

Word Threads::make(L4_ThreadId_t id, L4_ThreadId_t space, Word utcb, bool small)
{
    const Word most = L4_Size(utcb_area(small)) / utcb_size;
    if (!is_servers(id) || !is_servers(space) || utcb >= most) return L4_ErrInvalidThread;
    return activate(id, space, utcb, small);
}

Word Threads::remove(L4_ThreadId_t id)
{
    if (!is_servers(id)) return L4_ErrInvalidThread;
    if (!take_away(id)) return L4_ErrorCode();
    made_[L4_ThreadNo(id) - first_] = L4_nilthread;
    return 0;
}

void Threads::end()
{
    for (L4_ThreadId_t &id : made_) {
        if (!L4_IsNilThread(id)) take_away(id);
        id = L4_nilthread;
    }
}

L4_Fpage_t Threads::utcbs() { return L4_FpageLog2(server_utcbs, 12); }

const char *Threads::make_server(unsigned slot)
{
    if (!L4_ThreadControl(main_, main_, root_, L4_nilthread, reinterpret_cast<void *>(-1)) ||
        !L4_SpaceControl(main_, 0, L4_FpageLog2(server_kip, 12), utcbs(), L4_nilthread, nullptr) ||
        !L4_ThreadControl(main_, main_, root_, root_, reinterpret_cast<void *>(server_utcbs)) ||
        !L4_ThreadControl(events_, main_, root_, root_, reinterpret_cast<void *>(server_utcbs + utcb_size)))
        return "the server's space cannot be made";
    // a large one is asked for, too, or the kernel's rules would make it small once it has many partners
    const Word wanted = L4_SmallSpaceChange | (slot ? L4_SmallSpace(0, slot) : L4_LargeSpace);
    Word old = 0;
    L4_SpaceControl(main_, wanted, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
    if (slot && !(old & L4_SmallSpaceChange)) return "the kernel has no room for a small space of that size";
    L4_Set_Priority(main_, main_priority);
    L4_Set_Priority(events_, events_priority);
    return nullptr;
}

/// The console's thread outlives the server.
const char *Threads::start_console()
{
    const L4_ThreadId_t console = L4_GlobalId(console_number(), 1);
    const Word own_utcb = reinterpret_cast<Word>(__L4_Utcb()) - L4_UtcbIdOffset;
    if (!L4_ThreadControl(console, root_, root_, root_, reinterpret_cast<void *>(own_utcb + utcb_size)))
        return "the console's thread cannot be made";
    if (!L4_AssociateInterrupt(serial_interrupt(), console)) return "somebody else has the console's interrupt";
    enable_serial_interrupt();
    L4_Set_Priority(console, events_priority);
    const Word top = reinterpret_cast<Word>(console_stack) + sizeof console_stack - 16;
    // a pager cannot map pages within its own space: what the thread touches must be there
    *const_cast<volatile unsigned char *>(console_stack) = 0;
    *const_cast<volatile unsigned char *>(console_stack + sizeof console_stack - 1) = 0;
    (void)*reinterpret_cast<volatile unsigned char *>(&console_main);
    if (cobnut_start(console, reinterpret_cast<Word>(&console_main), top))
        return "the console's thread does not take its start message";
    has_console_ = true;
    return nullptr;
}

const char *Threads::start(const init::Program &server, server_boot &boot, Word entry, Word stack, unsigned slot,
                           bool small_processes)
{
    root_ = L4_Myself();
    user_end_ = user_end();
    main_ = server.thread(0);
    events_ = server.thread(1);
    first_ = console_number() + 1;
    if (const char *wrong = make_server(slot)) return wrong;

    boot.root = root_.raw;
    boot.events = events_.raw;
    boot.console = L4_GlobalId(console_number(), 1).raw;
    boot.first_thread = first_;
    boot.threads = most_threads;
    boot.task_size = user_end_ - reserved;
    boot.stub = user_end_ - stub_below;
    boot.small_stub = small_processes ? small_stub : 0;
    boot.small_end = small_end;
    boot.time = seconds_now();
    const L4_Word64_t clock = L4_SystemClock().raw;
    boot.clock = static_cast<Word>(clock);
    boot.clock_high = static_cast<Word>(clock >> 32);
    console_to = events_;
    if (cobnut_start(main_, entry, stack)) return "the server does not take its start message";
    return has_console_ ? nullptr : start_console();
}

} // namespace linux_root
