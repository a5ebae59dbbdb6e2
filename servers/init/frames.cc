// SPDX-License-Identifier: BSD-2-Clause
#include "frames.h"

#include <l4/sigma0.h>
#include <l4/space.h>

extern "C" void *memset(void *, int, size_t);

namespace init {
namespace {

constexpr L4_Word_t page_log2 = 12, largest_log2 = 22;

} // namespace

void Frames::add(Word frame)
{
    if (!frame) return; // a PC's first page: 0 says that there is none
    *reinterpret_cast<Word *>(frame) = free_;
    free_ = frame;
    ++unreserved_;
}

void Frames::take_all(Word pages)
{
    for (L4_Word_t log2 = largest_log2; log2 >= page_log2; log2--)
        while (unreserved_ + (1u << (log2 - page_log2)) <= pages) {
            const L4_Fpage_t piece = L4_Sigma0_GetAny(L4_nilthread, log2, L4_CompleteAddressSpace);
            if (L4_IsNilFpage(piece)) break;
            for (Word at = 0; at < 1u << log2; at += 1u << page_log2) add(L4_Address(piece) + at);
        }
}

Frames::Word Frames::take()
{
    const Word frame = free_;
    free_ = *reinterpret_cast<Word *>(frame);
    memset(reinterpret_cast<void *>(frame), 0, 1u << page_log2);
    users_[index(frame)] = 1;
    return frame;
}

void Frames::drop(Word frame)
{
    L4_UnmapFpage(L4_FpageLog2(frame, page_log2) + L4_FullyAccessible);
    if (--users_[index(frame)]) return;
    *reinterpret_cast<Word *>(frame) = free_;
    free_ = frame;
}

} // namespace init
