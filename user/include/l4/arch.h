// SPDX-License-Identifier: BSD-2-Clause
// What is peculiar to IA-32 below the convenience interface: the UTCB layout and the two assembly wrappers through
// which every system call goes (manual appendix A).
//
// The wrappers are out of line, in user/lib/syscall.S: Ipc and ExchangeRegisters return values in EBP, which no
// compiler lets inline assembly promise. They find the kernel interface page by `lock nop` once per thread and keep
// its address in ThreadWord1, so that one program image can run in spaces that have the page at different places.
#ifndef L4_ARCH_H
#define L4_ARCH_H
#include <l4/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The registers of a system call in the order of the manual's tables; in and out.
typedef struct {
    L4_Word_t eax, ecx, edx, esi, edi, ebx, ebp;
} L4_Registers_t;

/// Calls the kernel interface page's stub whose entry offset is stored at byte `field` of the page, with exactly
/// these registers, and stores all of them back.
void __L4_Call_Stub(L4_Word_t field, L4_Registers_t *regs);
/// The same with the entry's address itself; touches no memory but the stack and *regs.
void __L4_Call_Entry(L4_Word_t entry, L4_Registers_t *regs);

/// The Ipc or Lipc system call: MR0 is taken from the UTCB, MR0..MR2 are put back there.
/// Returns MR0 (the tag); *from is written if `from` is not null.
L4_Word_t __L4_Ipc_Stub(L4_Word_t to, L4_Word_t from_specifier, L4_Word_t timeouts, L4_Word_t *from, L4_Word_t field);

/// The address of the kernel interface page in the caller's space.
L4_Word_t __L4_Kip_Base(void);

#ifdef __cplusplus
}
#endif

// Byte offsets of the entry-offset fields inside the kernel interface page.
enum {
    L4_KIP_SPACE_CONTROL = 0xD0, L4_KIP_THREAD_CONTROL = 0xD4, L4_KIP_PROCESSOR_CONTROL = 0xD8,
    L4_KIP_MEMORY_CONTROL = 0xDC, L4_KIP_IPC = 0xE0, L4_KIP_LIPC = 0xE4, L4_KIP_UNMAP = 0xE8,
    L4_KIP_EXCHANGE_REGISTERS = 0xEC, L4_KIP_SYSTEM_CLOCK = 0xF0, L4_KIP_THREAD_SWITCH = 0xF4, L4_KIP_SCHEDULE = 0xF8,
};

// Word offsets of UTCB fields from the UTCB address (= local id). MR n is at word n.
enum {
    L4_UTCB_THREAD_WORD0 = -4,       ///< free for programs
    L4_UTCB_THREAD_WORD1 = -5,       ///< used by this library
    L4_UTCB_VIRTUAL_SENDER = -6,     ///< also ActualSender
    L4_UTCB_INTENDED_RECEIVER = -7,
    L4_UTCB_XFER_TIMEOUTS = -8,
    L4_UTCB_ERROR_CODE = -9,
    L4_UTCB_FLAGS = -10,             ///< byte 0 preempt flags, byte 1 coprocessor flags
    L4_UTCB_EXCEPTION_HANDLER = -11,
    L4_UTCB_PAGER = -12,
    L4_UTCB_USER_DEFINED_HANDLE = -13,
    L4_UTCB_PROCESSOR_NO = -14,
    L4_UTCB_MY_GLOBAL_ID = -15,
    L4_UTCB_BR0 = -16,               ///< BR n is at word -16 - n
};

enum {
    L4_NumMRs = 64,
    L4_NumBRs = 33,
    L4_UtcbIdOffset = 256, ///< local id = UTCB location given to ThreadControl + 256 (this kernel and Pistachio)
};

/// The caller's UTCB.
L4_INLINE volatile L4_Word_t *__L4_Utcb(void)
{
    volatile L4_Word_t *utcb;
    __asm__("mov %%gs:0, %0" : "=r"(utcb));
    return utcb;
}

#endif
