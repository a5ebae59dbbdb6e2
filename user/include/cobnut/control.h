// SPDX-License-Identifier: BSD-2-Clause
// Control of a space by its redirector, from outside (docs/controlled-spaces.md): all registers of its threads, whether
// they run, and what is mapped there. For pagers and servers of other systems' programs.
#pragma once

#include <cobnut/tags.h>

namespace cobnut {

/// From now on the redirector of the space of `space` (SpaceControl's last parameter) controls it, or does so no
/// longer. For threads of the initial servers' spaces. False if there is no such thread.
inline bool set_controlled(L4_ThreadId_t space, bool on)
{
    constexpr L4_Word_t operation = 5;
    return detail::change(space, operation, on);
}
inline bool is_controlled(L4_ThreadId_t space) { return detail::control(space, 5) >> 8 & 1; }

/// All registers of a thread, as ExchangeRegisters tells and takes them.
struct AllRegisters {
#ifdef __arm__
    static constexpr int words = 17;
    L4_Word_t r[13], sp, lr, pc, cpsr;
#else
    static constexpr int words = 12;
    L4_Word_t eip, eflags, zero[2], edi, esi, ebp, esp, ebx, edx, ecx, eax;
#endif
};
static_assert(sizeof(AllRegisters) == AllRegisters::words * sizeof(L4_Word_t));

enum ControlBits : L4_Word_t {
    control_halt = 1 | 1 << 8, ///< no user instruction of the thread's runs from now on
    control_resume = 1 << 8,
    control_cancel = 3 << 1, ///< ends the IPC that it is in, its own or the kernel's for it
    control_read = 1 << 10,
    control_write = 1 << 11,
};

/// To a thread of a controlled space, or of the own one if that is none: `what` of ControlBits. With control_write it
/// gets `in`, with control_read `*out` is what it had before. Bits 2..0 of the result: it sent, it received, it was
/// halted; all ones if there is no such thread, or it is not the caller's to control (ErrorCode 2). MR1 and those that
/// follow are lost.
inline L4_Word_t control_thread(L4_ThreadId_t thread, L4_Word_t what, const AllRegisters *in = nullptr,
                                AllRegisters *out = nullptr)
{
    if (what & control_write) L4_LoadMRs(1, AllRegisters::words, reinterpret_cast<const L4_Word_t *>(in));
    L4_Word_t old = 0;
    if (L4_IsNilThread(L4_ExchangeRegisters(thread, what, 0, 0, 0, 0, L4_nilthread, &old, nullptr, nullptr, nullptr,
                                            nullptr, nullptr)))
        return ~0u;
    if (what & control_read) L4_StoreMRs(1, AllRegisters::words, reinterpret_cast<L4_Word_t *>(out));
    return old & 7;
}

#ifndef __arm__
/// Another system's calls by sysenter, where the kernel's own IPC is by that: of a thread in a controlled space with 1
/// to `most_sysenter_call` in EAX, and its stack pointer in EBP. Its handler gets an exception 13 with `sysenter_call`
/// for an error code, and IP 0; the answer says where the thread goes on. An answer with `sysenter_answer` for an error
/// code and an IP where an lret stands takes less time: the kernel may execute that itself, and leaves ECX, EDX and the
/// flags undefined then.
inline constexpr L4_Word_t most_sysenter_call = 0x3FFF, sysenter_call = 0x10000, sysenter_answer = 0x10001;
#endif

/// Unmap (L4_Unmap's control word) as if `thread`, of a controlled space, had called it: the fpages are addresses
/// there. With bit 6 the pages are taken from that space, too, without it only from spaces that have them from there.
/// ErrorCode 3, and nothing is done, if the caller does not control that space; 0 otherwise.
inline L4_Word_t unmap_in(L4_ThreadId_t thread, L4_Word_t control)
{
    __L4_Utcb()[L4_UTCB_ERROR_CODE] = 0;
    __L4_Raw_Unmap(control | 1u << 7, thread.raw);
    return L4_ErrorCode();
}
/// The same for one fpage, which goes from that space, or loses the rights in it. Its status, as L4_Flush tells it.
inline L4_Fpage_t flush_in(L4_ThreadId_t thread, L4_Fpage_t fpage)
{
    L4_LoadMR(0, fpage.raw);
    unmap_in(thread, 0x40);
    L4_Word_t status = 0;
    L4_StoreMR(0, &status);
    return {.raw = status};
}

} // namespace cobnut
