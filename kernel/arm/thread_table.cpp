// SPDX-License-Identifier: BSD-2-Clause
// Where threads are found by number: a page of control block addresses for each 1024 numbers that are in use.
#include "arm/cpu.hpp"
#include "core/arch.hpp"
#include "core/memory.hpp"

namespace arch {
namespace {

constexpr Word threads_per_page = page_size / sizeof(Thread*);
struct Page {
    Thread* thread[threads_per_page];
};

// Matches the one id that is nobody's; as it is open to nobody, no message gets there.
constinit Thread nobody_thread{};
Page nobody_page;
Page* pages[thread_numbers / threads_per_page];

}  // namespace

Thread& nobody() { return nobody_thread; }

Thread& thread_at(Word number) { return *pages[number / threads_per_page]->thread[number % threads_per_page]; }

bool set_thread_at(Word number, Thread& t) {
    Page*& page = pages[number / threads_per_page];
    if (page == &nobody_page) {
        auto* fresh = static_cast<Page*>(memory::allocate_page());
        if (!fresh) return false;
        *fresh = nobody_page;
        page = fresh;
    }
    page->thread[number % threads_per_page] = &t;
    return true;
}

void initialise_thread_table() {
    nobody_thread.id = ThreadId::any();
    for (Thread*& t : nobody_page.thread) t = &nobody_thread;
    for (Page*& p : pages) p = &nobody_page;
    processor.threads = pages;
}

}  // namespace arch
