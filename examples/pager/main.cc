// SPDX-License-Identifier: BSD-2-Clause
// A root server that is a pager: starts a thread in a space of its own, which has no page at first, and gives it each
// when it touches it.
#include <cobnut/pager.h>
#include <cobnut/root.h>
#include <cobnut/space.h>

extern "C" char image_start[], image_end[]; // of this program: program.ld defines them

namespace {

constexpr L4_Word_t page_size = 4096, heap_base = 0x10000000, heap_pages = 4;

// What the other space sees at heap_base, and its thread's stack.
alignas(page_size) constinit L4_Word_t heap[heap_pages][page_size / sizeof(L4_Word_t)] = {};
alignas(page_size) constinit char stack[page_size] = {};

/// What runs in the other space: the same code, as its pager maps it, with other pages at heap_base.
void work()
{
    for (L4_Word_t n = 0; n < heap_pages; n++)
        *reinterpret_cast<volatile L4_Word_t *>(heap_base + n * page_size) = n * n;
    cobnut::tell_root(cobnut::done_label, heap_pages);
}

L4_Word_t address_of(const volatile void *place) { return reinterpret_cast<L4_Word_t>(place); }

/// Loads the answer to a page fault: pages of this program at their own addresses, the heap's where they are wanted.
void answer_fault(L4_ThreadId_t, L4_Word_t address, L4_Word_t ip)
{
    const L4_Word_t page = address & -page_size, in_heap = (page - heap_base) / page_size;
    if (page >= address_of(image_start) && page < address_of(image_end)) return cobnut::load_page(page, page);
    if (page < heap_base || in_heap >= heap_pages) cobnut::fail("a fault elsewhere", address, ip);
    cobnut::print("pager: page %u of the heap, wanted at %08x\n", in_heap, address);
    cobnut::load_page(address_of(heap[in_heap]), page);
}

} // namespace

int cobnut_main(const char *)
{
    // Thread numbers behind this thread's own are free, and a root server's to give away.
    const L4_ThreadId_t worker = L4_GlobalId(L4_ThreadNo(L4_Myself()) + 1, 1);
    L4_Fpage_t utcbs;
    if (const L4_Word_t error = cobnut_make_space(worker, L4_Myself(), &utcbs)) cobnut::fail("a space", error);
    cobnut::print("pager: a space, its UTCBs are at %08x\n", L4_Address(utcbs));
    if (const L4_Word_t error =
            cobnut_start(worker, reinterpret_cast<L4_Word_t>(work), address_of(stack) + sizeof stack))
        cobnut::fail("its start", error);

    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_fault);
    if (said.from != worker || said.label != cobnut::done_label) cobnut::fail("a word", said.from.raw, said.label);
    for (L4_Word_t n = 0; n < heap_pages; n++) cobnut::print("pager: page %u has %u\n", n, heap[n][0]);
    return 0; // ends the machine
}
