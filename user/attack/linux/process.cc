// SPDX-License-Identifier: BSD-2-Clause
// A slot in this process: [ below | slot | above ] in a row. An attempt is entered and left by signals, since a return
// from one loads all registers, segments included: SIGUSR1's handler goes to the attempt, whatever stops it comes back.
#include "process.h"

#include <asm/ldt.h>
#include <initializer_list>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace attack {
namespace {

constexpr Word page = 4096, slot_size = 16 * page, middle = page / 2;
constexpr Word code_page = 4 * page, scratch_page = 8 * page, stack_top = 13 * page;

enum Entry : Word { entry_code, entry_data, entry_up, entry_down };
constexpr Word selector_of(Entry entry) { return entry << 3 | 7; }

unsigned char *slot, *host_page;
alignas(16) unsigned char signal_stack[65536];

greg_t flat[NGREG]; // this program, where it waits for the attempt to end
greg_t start[NGREG];
unsigned flat_gs;
Outcome outcome;

bool set_entry(Entry number, Word base, Word limit, bool code, bool down = false)
{
    user_desc d = {};
    d.entry_number = number;
    d.base_addr = base;
    d.limit = limit >> 12;
    d.limit_in_pages = 1;
    d.seg_32bit = 1;
    d.contents = code ? MODIFY_LDT_CONTENTS_CODE : down ? MODIFY_LDT_CONTENTS_STACK : MODIFY_LDT_CONTENTS_DATA;
    return syscall(SYS_modify_ldt, 1, &d, sizeof d) == 0;
}

bool set_entries(bool limited)
{
    const Word base = reinterpret_cast<Word>(slot), last = limited ? slot_size - 1 : ~0u;
    return set_entry(entry_code, base, last, true) && set_entry(entry_data, base, last, false) &&
           set_entry(entry_up, base + scratch_page, limited ? slot_size - scratch_page - 1 : ~0u, false) &&
           set_entry(entry_down, base + scratch_page, limited ? ~scratch_page : 0, false, true);
}

void on_start(int, siginfo_t *, void *context)
{
    greg_t *now = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    memcpy(flat, now, sizeof flat);
    memcpy(now, start, sizeof start);
}

// GS may be anything here, and the C library's is needed from the first call on.
void on_stop(int, siginfo_t *, void *context)
{
    __asm__ volatile("mov %0, %%gs" : : "r"(flat_gs));
    greg_t *now = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
    outcome = {static_cast<Word>(now[REG_TRAPNO]), static_cast<Word>(now[REG_ERR]), static_cast<Word>(now[REG_EIP]),
               static_cast<Word>(now[REG_EAX])};
    memcpy(now, flat, sizeof flat);
}

void fill()
{
    memset(slot, own_fill, slot_size);
    memcpy(slot + code_page, attack_code_start, static_cast<size_t>(attack_code_end - attack_code_start));
    slot[scratch_page + page - 2] = 0x0F; // ud2
    slot[scratch_page + page - 1] = 0x0B;
    memset(slot - page, foreign_fill, page);
    memset(slot + slot_size, foreign_fill, slot_size);
    memset(host_page, foreign_fill, page);
}

Word address_of(const Place &place)
{
    const Word base = reinterpret_cast<Word>(slot);
    const Word offset = static_cast<Word>(place.offset);
    switch (place.target) {
    case Target::own: return scratch_page + middle + offset;
    case Target::edge: return slot_size + offset;
    case Target::wrap: return offset;
    case Target::above: return slot_size + slot_size / 2 + middle + offset;
    case Target::host: return reinterpret_cast<Word>(host_page) + middle - base + offset;
    case Target::linear: return base + slot_size + slot_size / 2 + middle + offset;
    case Target::kernel: break; // above 4 GB
    }
    return 0;
}

} // namespace

Word code_selector() { return selector_of(entry_code); }
Word data_selector() { return selector_of(entry_data); }

void reset()
{
    fill();
    set_entries(true);
}
Word slot_end() { return slot_size; }
const volatile unsigned char *slot_byte(Word offset) { return slot + offset; }

bool prepare()
{
    void *memory =
        mmap(nullptr, page + 2 * slot_size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *host = mmap(nullptr, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || host == MAP_FAILED) {
        fprintf(stderr, "attack: no memory: %s\n", strerror(errno));
        return false;
    }
    slot = static_cast<unsigned char *>(memory) + page;
    host_page = static_cast<unsigned char *>(host);
    if (!set_entries(true)) {
        fprintf(stderr, "attack: modify_ldt: %s\n", strerror(errno));
        return false;
    }
    __asm__("mov %%gs, %0" : "=r"(flat_gs));
    stack_t stack = {};
    stack.ss_sp = signal_stack;
    stack.ss_size = sizeof signal_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    action.sa_sigaction = on_start;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_sigaction = on_stop;
    for (const int number : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE}) sigaction(number, &action, nullptr);
    return true;
}

Outcome run(const Attempt &attempt, bool inside, bool limited)
{
    fill();
    set_entries(limited);
    const bool own = inside && attempt.segment == Segment::none;
    Word selector = attempt.segment == Segment::up     ? selector_of(entry_up)
                    : attempt.segment == Segment::down ? selector_of(entry_down)
                    : own                              ? (attempt.own_code ? code_selector() : data_selector())
                                                       : attempt.selector;
    memcpy(start, flat, sizeof start);
    for (const int segment : {REG_DS, REG_ES, REG_FS, REG_SS}) start[segment] = static_cast<greg_t>(data_selector());
    __asm__("mov %%gs, %0" : "=r"(start[REG_GS]));
    start[REG_CS] = static_cast<greg_t>(code_selector());
    start[REG_EIP] = static_cast<greg_t>(code_page + static_cast<Word>(attempt.code - attack_code_start));
    start[REG_UESP] = start[REG_ESP] = stack_top;
    start[REG_EFL] = 0x202;
    const Word from = attempt.segment == Segment::none ? 0 : scratch_page;
    start[REG_ESI] = static_cast<greg_t>(address_of(inside ? attempt.inside : attempt.to) - from);
    start[REG_EDI] = scratch_page + middle;
    start[REG_EBX] = static_cast<greg_t>(selector);
    start[REG_ECX] = static_cast<greg_t>(attempt.count);
    start[REG_EAX] = static_cast<greg_t>(mark);
    start[REG_EDX] = start[REG_EBP] = 0;
    outcome = {};
    raise(SIGUSR1);
    return outcome;
}

bool foreign_memory_intact()
{
    auto intact = [](const unsigned char *from, Word size) {
        for (Word i = 0; i < size; i++)
            if (from[i] != foreign_fill) return false;
        return true;
    };
    return intact(slot - page, page) && intact(slot + slot_size, slot_size) && intact(host_page, page);
}

} // namespace attack
