// SPDX-License-Identifier: BSD-2-Clause
#include "fake_kernel.h"

#include <asm/ldt.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace fake {
namespace {

L4_Word_t pointer_to_utcb;
unsigned short selector;

} // namespace

bool prepare()
{
    pointer_to_utcb = reinterpret_cast<L4_Word_t>(utcb);
    user_desc segment = {};
    segment.entry_number = static_cast<unsigned>(-1);
    segment.base_addr = reinterpret_cast<L4_Word_t>(&pointer_to_utcb);
    segment.limit = 3;
    segment.seg_32bit = 1;
    if (syscall(SYS_set_thread_area, &segment) != 0) return false;
    selector = static_cast<unsigned short>(segment.entry_number << 3 | 3);
    return true;
}

WithUtcb::WithUtcb() { __asm__ volatile("mov %%gs, %0; mov %1, %%gs" : "=&r"(old_) : "r"(selector) : "memory"); }
WithUtcb::~WithUtcb() { __asm__ volatile("mov %0, %%gs" : : "r"(old_) : "memory"); }

} // namespace fake

extern "C" void __L4_Call_Stub(L4_Word_t field, L4_Registers_t *regs)
{
    fake::called_field = field;
    fake::called = *regs;
    *regs = fake::answer;
}

extern "C" L4_Word_t __L4_Ipc_Stub(L4_Word_t to, L4_Word_t from_specifier, L4_Word_t timeouts, L4_Word_t *from,
                                   L4_Word_t field)
{
    fake::called_field = field;
    fake::ipc_to = to;
    fake::ipc_from_specifier = from_specifier;
    fake::ipc_timeouts = timeouts;
    if (from) *from = fake::ipc_sender;
    return fake::answer.esi;
}
