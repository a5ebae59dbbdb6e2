// SPDX-License-Identifier: BSD-2-Clause
// What a pager in this tree consists of (manual 7.3): its loop, and answers that map pages of its own.
#ifndef COBNUT_PAGER_H
#define COBNUT_PAGER_H
#include <l4/ipc.h>

namespace cobnut {

/// Whether a message is a page fault: the access in the label's low bits, address in MR1, IP in MR2.
inline bool is_page_fault(L4_MsgTag_t tag) { return (L4_Label(tag) & 0xFFF0) == 0xFFE0; }

/// Whether a message is a fault at an I/O port (manual A.5): an I/O fpage in MR1, IP in MR2.
inline bool is_port_fault(L4_MsgTag_t tag) { return (L4_Label(tag) & 0xFFF0) == 0xFF80; }

/// Whether a message is an exception: IP in MR1; its number in MR `exception_number`, and its code in the next.
inline bool is_exception(L4_MsgTag_t tag) { return L4_Label(tag) == 0xFFB0; }
#ifdef __arm__
inline constexpr unsigned exception_number = 4; // docs/x2-arm.md
#else
inline constexpr unsigned exception_number = 3; // manual A.8
#endif

/// Loads an answer to a page fault: the mapping alone.
inline void load_answer(L4_MapItem_t item)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
}

/// Loads the answer to a fault at `address`: the caller's page of 4 KB at `page`, with `rights`, in the place of the
/// one that is missing. The page is written to, unchanged: a page of the caller's that is not there yet, or not
/// writable yet, could not be mapped so.
inline void load_page(L4_Word_t page, L4_Word_t address, L4_Word_t rights = L4_FullyAccessible)
{
    constexpr int page_log2 = 12;
    volatile char *const present = reinterpret_cast<volatile char *>(page);
    *present = *present;
    load_answer(L4_MapItem(L4_FpageLog2(page, page_log2) + rights, address & (~L4_Word_t{0} << page_log2)));
}

/// Answers page faults until another message comes in; returns its tag, or one with the E flag if an answer fails.
/// `from`: in, the thread to answer first, with what is loaded, or nilthread; out, the sender of the message. The
/// message registers are as received. `answer(from, address, ip)` loads the answer to one fault.
template <typename Answer> L4_MsgTag_t serve_faults(L4_ThreadId_t &from, Answer answer)
{
    for (;;) {
        const L4_MsgTag_t tag = L4_ReplyWait(from, &from);
        if (L4_IpcFailed(tag) || !is_page_fault(tag)) return tag;
        L4_Word_t address, ip;
        L4_StoreMR(1, &address);
        L4_StoreMR(2, &ip);
        answer(from, address, ip);
    }
}

} // namespace cobnut
#endif
