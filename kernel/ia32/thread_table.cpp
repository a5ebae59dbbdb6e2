// SPDX-License-Identifier: BSD-2-Clause
// Where threads are found by number: 1 MB of linear addresses, backed where numbers are in use.
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/memory.hpp"
#include "ia32/cpu.hpp"
#include "ia32/page_tables.hpp"

namespace arch {

// Unused pages of the table are all one page, filled with the entry for unused numbers (nobody).
namespace {

constinit Thread nobody_thread{};
// Entries are the tops of threads' frames, as in the task segment (ia32/cpu.hpp): the fast path's form.
using Top = Word;
constexpr Word slots_per_page = page_size / sizeof(Top);
alignas(page_size) Top nobody_page[slots_per_page];

VAddr slot(Word number) { return THREAD_TABLE + number * sizeof(Top); }

}  // namespace

Thread& nobody() { return nobody_thread; }

Thread& thread_at(Word number) { return *thread_of_frame_top(*reinterpret_cast<Top*>(slot(number))); }

bool set_thread_at(Word number, Thread& t) {
    check(number < thread_numbers);
    VAddr at = slot(number);
    if (page_tables::fixed_frame(at) == physical(nobody_page)) {
        auto* page = static_cast<Top*>(memory::allocate_page(memory::kernel));
        if (!page) return false;
        for (Word i = 0; i < slots_per_page; ++i) page[i] = frame_top(&nobody_thread);
        page_tables::map_fixed(at & ~page_mask, physical(page), page_tables::present | page_tables::writable);
    }
    *reinterpret_cast<Top*>(at) = frame_top(&t);
    return true;
}

}  // namespace arch

void page_tables::initialise_thread_table() {
    // An id that no thread can have; and it is open to no sender, so no message gets there.
    arch::nobody_thread.id = ThreadId::any();
    for (arch::Top& t : arch::nobody_page) t = frame_top(&arch::nobody_thread);
    for (Word i = 0; i < arch::thread_numbers / arch::slots_per_page; ++i)
        page_tables::map_fixed(THREAD_TABLE + i * page_size, physical(arch::nobody_page), page_tables::present);
}
