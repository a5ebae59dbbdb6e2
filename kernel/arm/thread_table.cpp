// SPDX-License-Identifier: BSD-2-Clause
// Where threads are found by number: a table of control block addresses in a megabyte of its own. Its unused pages are
// all one page, filled with the entry for unused numbers (nobody).
#include "arm/caches.hpp"
#include "arm/cpu.hpp"
#include "arm/page_tables.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/memory.hpp"

namespace arch {
namespace {

constexpr Word threads_per_page = page_size / sizeof(Thread*);
static_assert(thread_numbers * sizeof(Thread*) == 1u << 20, "one first-level entry");

struct alignas(page_size) Page {
    Thread* thread[threads_per_page];
};

// An id that no thread can have; and it is open to no sender, so no message gets there.
constinit Thread nobody_thread{};
Page nobody_page;
alignas(sizeof(CoarseTable)) CoarseTable pages;

Thread*& place(Word number) { return reinterpret_cast<Thread**>(THREAD_TABLE)[number]; }

Word entry_of(const Page& page) {
    using namespace page_tables;
    return physical(&page) | page_access(access_kernel) | buffered | cached | small_page;
}

// The page was written through another of the kernel's addresses.
void clean(const Page& page) { caches::clean_and_invalidate_data(reinterpret_cast<VAddr>(&page), page_size); }

}  // namespace

Thread& nobody() { return nobody_thread; }

Thread& thread_at(Word number) { return *place(number); }

bool set_thread_at(Word number, Thread& t) {
    check(number < thread_numbers);
    Word& entry = pages.entry[number / threads_per_page];
    if (entry == entry_of(nobody_page)) {
        auto* fresh = static_cast<Page*>(memory::allocate_page(memory::kernel));
        if (!fresh) return false;
        *fresh = nobody_page;
        clean(*fresh);
        VAddr at = reinterpret_cast<VAddr>(&place(number)) & ~page_mask;
        caches::clean_and_invalidate_data(at, page_size);
        page_tables::write(entry, entry_of(*fresh));
        cpu::invalidate_data_tlb_entry(at);
    }
    place(number) = &t;
    return true;
}

void initialise_thread_table() {
    nobody_thread.id = ThreadId::any();
    for (Thread*& t : nobody_page.thread) t = &nobody_thread;
    clean(nobody_page);
    for (Word& entry : pages.entry) page_tables::write(entry, entry_of(nobody_page));
    page_tables::write(page_tables::boot_directory.entry[THREAD_TABLE >> 20],
        physical(&pages) | page_tables::first_coarse);
}

}  // namespace arch
