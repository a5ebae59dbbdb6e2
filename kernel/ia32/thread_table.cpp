// SPDX-License-Identifier: BSD-2-Clause
// Where threads are found by number: 1 MB of linear addresses, backed where numbers are in use.
#include "core/arch.hpp"
#include "core/memory.hpp"
#include "ia32/page_tables.hpp"

namespace arch {

// Until a page of the table is needed, a page full of nobody stands there.
namespace {

constinit Thread nobody_thread{};
alignas(page_size) Thread* nobody_page[page_size / sizeof(Thread*)];
constexpr Word slots_per_page = page_size / sizeof(Thread*);

}  // namespace

Thread& nobody() { return nobody_thread; }

Thread** thread_slot(Word number, bool may_write) {
    VAddr at = THREAD_TABLE + number * sizeof(Thread*);
    if (may_write && page_tables::fixed_frame(at) == physical(nobody_page)) {
        auto* page = static_cast<Thread**>(memory::allocate_page());
        if (!page) return nullptr;
        for (Word i = 0; i < slots_per_page; ++i) page[i] = &nobody_thread;
        page_tables::map_fixed(at & ~page_mask, physical(page), page_tables::present | page_tables::writable);
    }
    return reinterpret_cast<Thread**>(at);
}

}  // namespace arch

void page_tables::initialise_thread_table() {
    // Matches the one id that is nobody's; as it is open to nobody, no message gets there.
    arch::nobody_thread.id = ThreadId::any();
    for (Thread*& t : arch::nobody_page) t = &arch::nobody_thread;
    for (Word i = 0; i < arch::thread_numbers / arch::slots_per_page; ++i)
        page_tables::map_fixed(THREAD_TABLE + i * page_size, physical(arch::nobody_page), page_tables::present);
}
