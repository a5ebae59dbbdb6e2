// SPDX-License-Identifier: BSD-2-Clause
// exhaust: every way to ask the kernel for memory when there is too little of it.
//
// All of the kernel's memory is taken but a few pages, none at first, then one more each time, until what is tried
// works. Before that it has to fail with the error code for it, and leave the kernel's books as they were. Then
// everything is given back, and of each kind of object as many can be made again as before. Started with little kernel
// memory (the kernel's option kmem=), as it fills it often. It prints how many pages each kind of attempt needs.
#include "exhaust.h"

#include <l4/sigma0.h>

namespace exhaust {
namespace {

Word first_number;

constexpr Word candidate = 2, neighbour = 3; // numbers that attempts use
constexpr Word far_number = 8192;            // where the thread table has no page yet
constexpr Word other_region = 0x10000000;    // another page table's
constexpr Word irq = 5;

cobnut::Audit books()
{
    const cobnut::Audit now = cobnut::audit();
    if (now.faults) fail("the kernel's books", now.faults);
    return now;
}

/// A page table may have been made for nothing: it stays with its space.
void same(const char *what, const cobnut::Audit &a, const cobnut::Audit &b, bool with_table)
{
    constexpr Word table = 2;
    if (a.pages != b.pages && !(with_table && b.pages - a.pages == table)) fail(what, a.pages, b.pages);
    if (a.objects != b.objects) fail(what, a.objects, b.objects);
}

// --------------------------------------------------------------------------------------------------- what is tried
// Each is prepared before the memory is taken, tried, and undone. 0 is success.

struct Attempt {
    const char *name;
    void (*prepare)();
    Word (*run)();
    void (*undo)();
    Word error; ///< while there is too little
    bool maps = false;
};

void nothing() {}
void new_space()
{
    if (create(candidate, candidate)) fail("a space to try with");
}
void new_space_with_areas()
{
    if (create(candidate, candidate, false, other_region) || set_areas(candidate, other_region))
        fail("areas to try with");
}
void remove_candidate() { remove(candidate); }

Word try_thread() { return create(candidate, numbers_for_others); }
Word try_far_thread() { return create(far_number, numbers_for_others); }
void remove_far() { remove(far_number); }
Word try_space() { return create(candidate, candidate); }
Word try_areas()
{
    const Word error = set_areas(candidate);
    // All or nothing: without areas no thread can be active in it.
    if (error && activate(candidate, candidate) != 3) fail("areas by halves");
    return error;
}
Word try_utcb() { return activate(candidate, candidate); }
Word try_active_thread() { return create(neighbour, candidate, true, other_region + page_size); }
void remove_both()
{
    remove(neighbour);
    remove(candidate);
}

Word control_irq(L4_ThreadId_t handler)
{
    const L4_ThreadId_t id = L4_GlobalId(irq, 1);
    return L4_ThreadControl(id, id, L4_nilthread, handler, reinterpret_cast<void *>(-1)) ? 0 : L4_ErrorCode();
}
Word try_interrupt() { return control_irq(L4_Myself()); }
void detach() { control_irq(L4_GlobalId(irq, 1)); }

/// The partner has to have been told, too.
Word told_both(Word error)
{
    if (error_of_partner() != (error ? overflow_received : 0)) fail("the partner heard otherwise", error);
    return error;
}
Word try_mapping() { return told_both(map_page(0x403FF000)); }
Word try_mapping_elsewhere()
{
    static constinit Word region = 0x41000000;
    const Word error = told_both(map_page(region));
    if (!error) region += 0x400000;
    return error;
}
Word try_port() { return told_both(map_port(0xFFF0)); }
Word try_string() { return told_both(send_string()); }
Word try_page_of_sigma0()
{
    const L4_Fpage_t f = L4_Sigma0_GetPage(L4_Pager(), L4_FpageLog2(0x03000000, 12));
    return L4_IsNilFpage(f) ? overflow_received : 0;
}

constexpr Attempt attempts[] = {
    {"thread", nothing, try_thread, remove_candidate, no_memory},
    {"space", nothing, try_space, remove_candidate, no_memory},
    {"areas", new_space, try_areas, remove_candidate, no_memory},
    {"utcb", new_space_with_areas, try_utcb, remove_candidate, no_memory},
    {"active_thread", new_space_with_areas, try_active_thread, remove_both, no_memory},
    {"interrupt", nothing, try_interrupt, detach, no_memory},
    {"mapping", nothing, try_mapping, nothing, overflow_sent},
    {"mapping_elsewhere", nothing, try_mapping_elsewhere, nothing, overflow_sent, true},
    {"port", nothing, try_port, nothing, overflow_sent},
    {"string", nothing, try_string, nothing, overflow_sent},
    {"far_thread", nothing, try_far_thread, remove_far, no_memory},
    {"page_of_sigma0", nothing, try_page_of_sigma0, nothing, overflow_received, true},
};

/// Whether it works with so many pages.
bool works(const Attempt &a, Word pages)
{
    a.prepare();
    starve(pages);
    const cobnut::Audit before = books();
    const Word error = a.run();
    if (error && error != a.error) fail(a.name, pages, error);
    if (error) same(a.name, before, books(), a.maps);
    a.undo();
    feed();
    return !error;
}

void try_all()
{
    for (const Attempt &a : attempts) {
        Word pages = 0;
        while (!works(a, pages)) pages++;
        cobnut::print("exhaust: %s needs %u pages\n", a.name, pages);
    }
}

/// The instruction waits in its exception until there is memory.
void try_coprocessor()
{
    constexpr Word no_coprocessor = 7;
    starve(0);
    const cobnut::Audit before = books();
    if (use_coprocessor() != no_coprocessor || try_again() != no_coprocessor)
        fail("the coprocessor has no registers to lend");
    same("coprocessor", before, books(), false);
    feed();
    if (try_again()) fail("the coprocessor stays away");
    cobnut::print("exhaust: coprocessor lent\n");
}

/// A page fault is not sent again and again: its pager is told that the mapping failed, and may try once more.
void try_page_fault()
{
    starve(0);
    let_fault();
    const cobnut::Audit before = books();
    if (answer_fault() != overflow_sent || !still_waits()) fail("a page fault without memory for its answer");
    if (answer_fault() != overflow_sent || !still_waits()) fail("the same page fault");
    same("page fault", before, books(), false);
    feed();
    if (answer_fault()) fail("a page fault with memory for its answer");
    unmap_page();
    cobnut::print("exhaust: page fault answered\n");
}

// ------------------------------------------------------------------------------------------------------- as before

Word fill_with_spaces()
{
    Word n = 0, error = 0;
    for (;; n++) {
        const Word number = numbers_for_others + n;
        if ((error = create(number, number))) break;
        if ((error = set_areas(number)) || (error = activate(number, number))) {
            remove(number);
            break;
        }
    }
    if (error != no_memory) fail("a whole space", n, error);
    for (Word i = 0; i < n; i++) remove(numbers_for_others + i);
    return n;
}

Word fill_with_threads()
{
    Word n = 0, error = create(numbers_for_others, numbers_for_others);
    while (!error && n < 4000) error = create(numbers_for_others + ++n, numbers_for_others);
    if (error != no_memory) fail("a thread", n, error);
    for (Word i = 0; i <= n; i++) remove(numbers_for_others + i);
    return n;
}

/// Page tables go with their space.
void new_partner()
{
    end_partner();
    start_partner();
}

Word fill_with_mappings()
{
    Word n = 0, error = 0;
    for (; !error && n < 100000; n++) error = map_page(0x50000000 + n * page_size);
    if (error != overflow_sent) fail("a mapping", n, error);
    unmap_page();
    new_partner();
    return n;
}

void fill_again()
{
    const struct {
        const char *name;
        Word (*fill)();
    } kinds[] = {{"spaces", fill_with_spaces}, {"threads", fill_with_threads}, {"mappings", fill_with_mappings}};
    Word counts[3] = {};
    new_partner();
    for (int round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 3; i++) {
            const Word n = kinds[i].fill();
            books();
            if (round == 0) cobnut::print("exhaust: room for %u %s\n", n, kinds[i].name);
            // The first time, the kernel's pools have not kept a page each; a page is several objects.
            const bool steady = round > 1;
            if (steady && n != counts[i]) fail(kinds[i].name, counts[i], n);
            counts[i] = n;
        }
    }
    cobnut::print("exhaust: as many again\n");
}

} // namespace

L4_ThreadId_t thread(Word number) { return L4_GlobalId(first_number + number, 1); }

Word create(Word number, Word space, bool active, Word utcb)
{
    const L4_ThreadId_t me = L4_Myself();
    void *const at = reinterpret_cast<void *>(utcb);
    if (!L4_ThreadControl(thread(number), thread(space), me, active ? me : L4_nilthread, at)) return L4_ErrorCode();
    // What is tried here is that there is no memory, not that some is kept for others (user/share).
    if (number == space && !cobnut::limit_kernel_memory(thread(space), cobnut::no_limit))
        fail("a space without a limit", number);
    return 0;
}

Word activate(Word number, Word space)
{
    const L4_ThreadId_t me = L4_Myself();
    return L4_ThreadControl(thread(number), thread(space), me, me, reinterpret_cast<void *>(-1)) ? 0 : L4_ErrorCode();
}

Word set_areas(Word number, Word utcb)
{
    const L4_Fpage_t kip = L4_FpageLog2(kip_address, 12), utcbs = L4_FpageLog2(utcb, utcb_log2);
    return L4_SpaceControl(thread(number), 0, kip, utcbs, L4_nilthread, nullptr) ? 0 : L4_ErrorCode();
}

void remove(Word number)
{
    L4_ThreadControl(thread(number), L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1));
}

} // namespace exhaust

int cobnut_main(const char *)
{
    using namespace exhaust;
    first_number = L4_ThreadNo(L4_Myself()) + 1;
    touch_image();
    const cobnut::Audit before = books();
    start_partner();
    try_coprocessor();
    try_page_fault();
    try_all();
    fill_again();
    end_partner();
    const cobnut::Audit after = books();
    // What stays: pages of the thread table, and of sigma0's page two mappings and two page tables.
    cobnut::print("exhaust: %d pages and %d objects more than at first\n", static_cast<int>(after.pages - before.pages),
                  static_cast<int>(after.objects - before.objects));
    cobnut::print("exhaust: done\n");
    return 0;
}
