// SPDX-License-Identifier: BSD-2-Clause
// protect: what a program pays that uses page protection through a pager at user level: the operations of H97's
// table 5, which are those of Appel and Li, "Virtual memory primitives for user programs", ASPLOS 1991.
//
// An application has a hundred pages of a manager in another space, which is its pager. The root thread makes the two
// spaces, and is the pager of their image.
//
// Command line (defaults first):
//   pair=large_large|small_small   kinds of the application's and the manager's space
//   rounds=50 warmup=5             measured and unmeasured times
//   slot=16                        MB of a small space
// Cases, one for each operation: every other iteration is measured, from the first on; in the others the application
// brings the pages back to how they were.
//   0 fault     the application touches a page that is not mapped, and the manager maps it
//   1 trap      from a write to a write-protected page until the manager knows of it
//   2 prot1     the application has one page write-protected, by a call to the manager
//   3 prot100   the same of a hundred pages by one call
//   4 unprot    the application has one page made writable again, by a call
//   5 appel1    prot1+trap+unprot: a write to a protected page; the manager protects another page and unprotects this
//   6 appel100  protN+trap+unprot: a hundred pages are protected by one call, and each is then written to, in a random
//               order; the manager unprotects each
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/partners.h>
#include <l4/ipc.h>
#include <l4/space.h>

extern "C" char image_start[], image_end[];

namespace {

using Word = L4_Word_t;
using cobnut::done_label, cobnut::fail, cobnut::failed_label, cobnut::tell_root;

// In both spaces alike; all of it fits into 8 MB.
constexpr Word page_size = 4096, page_log2 = 12, page_count = 100;
constexpr Word pages_address = 0x00400000; // a multiple of 128 pages, so that few fpages have all of them
constexpr Word utcb_address = 0x00780000, kip_address = 0x00790000;
constexpr Word memory_address = 0x01000000; // of the root's, behind the manager's pages

/// Calls of the application: MR1 is a page's number, MR2 how many pages. The answer to unprotect maps the page.
constexpr Word protect_label = 1, unprotect_label = 2, take_label = 3;

struct Wish {
    bool small = false;
    unsigned rounds = 50, warmup = 5, slot_mb = 16;
};
constinit Wish wish = {};

constinit L4_ThreadId_t root = {}, application = {}, manager = {};
alignas(page_size) constinit unsigned char application_stack[page_size] = {}, manager_stack[page_size] = {};

// What the two share in the image, for measuring alone: a processor's own handler would have it in its memory.
constinit volatile Word traps = 0;        // writes to protected pages, as the manager has seen them
constinit volatile bool marks = false;    // a trap ends an iteration
constinit volatile Word protect_next = page_count; // the page that the manager protects at a trap; page_count: none

volatile Word *page(Word number) { return reinterpret_cast<volatile Word *>(pages_address + number * page_size); }

L4_Fpage_t fpage(Word number, int log2 = page_log2) { return L4_FpageLog2(pages_address + number * page_size, log2); }

// ------------------------------------------------------------------------------------------------------ the manager

/// Takes `rights` of pages from everybody who has got them, by as few fpages as there are, in one call.
void take(Word number, Word count, Word rights)
{
    int fpages = 0;
    for (Word end = number + count; number < end;) {
        Word pages = 1, log2 = page_log2;
        while (number % (2 * pages) == 0 && number + 2 * pages <= end) pages *= 2, log2++;
        L4_LoadMR(fpages++, (fpage(number, static_cast<int>(log2)) + rights).raw);
        number += pages;
    }
    L4_Unmap(static_cast<Word>(fpages - 1));
}

void load_writable(Word number)
{
    cobnut::load_answer(L4_MapItem(fpage(number) + L4_FullyAccessible, pages_address + number * page_size));
}

void answer_fault(Word address)
{
    const Word number = (address - pages_address) / page_size;
    traps = traps + 1;
    if (protect_next < page_count) take(protect_next, 1, L4_Writable);
    load_writable(number);
}

/// The application's call is answered: empty but for unprotect.
void answer_call(Word label, Word number, Word count)
{
    if (label == protect_label) take(number, count, L4_Writable);
    if (label == take_label) take(number, count, L4_FullyAccessible);
    L4_Set_MsgTag(L4_Niltag);
    if (label == unprotect_label) load_writable(number);
}

[[noreturn]] void manager_main()
{
    L4_Set_ExceptionHandler(L4_Pager());
    for (Word i = 0; i < page_count; i++) *page(i) = 0; // what is not there cannot be mapped
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        if (marks && cobnut::is_page_fault(tag)) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        if (L4_IpcFailed(tag)) tell_root(failed_label, L4_ErrorCode());
        Word first, second;
        L4_StoreMR(1, &first);
        L4_StoreMR(2, &second);
        if (!cobnut::is_page_fault(tag)) answer_call(L4_Label(tag), first, second);
        else if (first >= pages_address && first < pages_address + page_count * page_size) answer_fault(first);
        else if (first >= reinterpret_cast<Word>(image_start) && first < reinterpret_cast<Word>(image_end))
            cobnut::load_page(first & -page_size, first);
        else tell_root(failed_label, first);
        tag = L4_ReplyWait(from, &from);
    }
}

// -------------------------------------------------------------------------------------------------- the application

void must(bool holds, Word value)
{
    if (!holds) tell_root(failed_label, value);
}

void call(Word label, Word number, Word count)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | 2});
    L4_LoadMR(1, number);
    L4_LoadMR(2, count);
    must(!L4_IpcFailed(L4_Call(manager)), L4_ErrorCode());
}

constinit Word turn = 0; // of the iterations
Word current() { return turn % page_count; }

void touch() { *page(current()) = turn; }
void protect_one() { call(protect_label, current(), 1); }
void protect_all() { call(protect_label, 0, page_count); }
void unprotect_one() { call(unprotect_label, current(), 1); }
void take_one() { call(take_label, current(), 1); }
void unprotect_all()
{
    for (Word i = 0; i < page_count; i++) *page(i) = i;
}
void nothing() {}

/// A write to a page that is protected; the one that was written before it is protected instead.
constinit Word order[page_count] = {};
void write_next()
{
    protect_next = order[(turn + page_count - 1) % page_count];
    *page(order[current()]) = turn;
}
void write_all()
{
    protect_all();
    for (Word i : order) *page(i) = turn;
}

/// Each number once, in an order that is the same in every run.
void shuffle()
{
    Word random = 1;
    for (Word i = 0; i < page_count; i++) order[i] = i;
    for (Word i = page_count - 1; i; i--) {
        random = random * 1664525 + 1013904223;
        const Word other = (random >> 16) % (i + 1), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

struct Case {
    void (*before)(); // once
    void (*once)();
    void (*back)();
    Word traps; // in each iteration
    bool marked; // the manager's mark ends it
};
constexpr Case cases[] = {
    {nothing, touch, take_one, 1, false},
    {protect_all, touch, protect_one, 1, true},
    {unprotect_all, protect_one, unprotect_one, 0, false},
    {unprotect_all, protect_all, unprotect_all, 100, false},
    {protect_all, unprotect_one, protect_one, 0, false},
    {protect_all, write_next, nothing, 1, false},
    {unprotect_all, write_all, nothing, 100, false},
};

void run(const Case &c, unsigned rounds, bool measured)
{
    for (unsigned i = 0; i < rounds; i++) {
        const Word before = traps;
        if (measured) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        marks = measured && c.marked;
        c.once();
        marks = false;
        if (measured && !c.marked) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        c.back();
        must(traps - before == c.traps, traps - before);
        turn++;
    }
}

void measure(unsigned number)
{
    const Case &c = cases[number];
    protect_next = page_count;
    c.before();
    if (number == 0) call(take_label, 0, page_count);
    run(c, wish.warmup, false);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
    run(c, wish.rounds, true);
    cobnut_lab_mark(COBNUT_LAB_END, number);
}

[[noreturn]] void application_main()
{
    L4_Set_ExceptionHandler(root);
    L4_Set_Pager(manager);
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    shuffle();
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) measure(i);
    L4_Set_Pager(root);
    tell_root(done_label, 0);
}

// ------------------------------------------------------------------------------------------------- the root thread

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    const cobnut::Text pair = options.find("pair");
    wish.small = pair == "small_small";
    bool bad = pair && !wish.small && !(pair == "large_large");
    wish.rounds = options.number("rounds", wish.rounds, &bad);
    wish.warmup = options.number("warmup", wish.warmup, &bad);
    wish.slot_mb = options.number("slot", wish.slot_mb, &bad);
    if (!bad && wish.rounds) return true;
    cobnut::print("protect: FAIL bad option in '%s'\n", command_line);
    return false;
}

/// The page of this image in the same place; the manager's pages.
void answer_root_fault(L4_ThreadId_t from, Word address, Word ip)
{
    const bool of_manager =
        from == manager && address >= pages_address && address < pages_address + page_count * page_size;
    if (of_manager) return cobnut::load_page((address & -page_size) - pages_address + memory_address, address);
    if (address < reinterpret_cast<Word>(image_start) || address >= reinterpret_cast<Word>(image_end))
        fail("page fault outside the image", from.raw, ip);
    cobnut::load_page(address & -page_size, address);
}

} // namespace

int cobnut_main(const char *command_line)
{
    if (!parse(command_line)) return 1;
    if (reinterpret_cast<Word>(image_end) > pages_address) fail("the image reaches too far");
    root = L4_Myself();
    const Word number = L4_ThreadNo(root);
    application = L4_GlobalId(number + 1, 1);
    manager = L4_GlobalId(number + 2, 1);
    const L4_Fpage_t kip = L4_FpageLog2(kip_address, page_log2), utcbs = L4_FpageLog2(utcb_address, page_log2);
    cobnut::make_thread(application, application, kip, utcbs);
    cobnut::make_thread(manager, manager, kip, utcbs);
    if (wish.small) {
        cobnut::make_small(application, 0, wish.slot_mb);
        cobnut::make_small(manager, 1, wish.slot_mb);
    }
    cobnut::start(manager, manager_main, manager_stack + page_size);
    cobnut::start(application, application_main, application_stack + page_size);
    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_root_fault);
    if (said.label != done_label) fail("unknown message", said.from.raw, said.label);
    cobnut::check_still(application, wish.small, 0, wish.slot_mb);
    cobnut::check_still(manager, wish.small, 1, wish.slot_mb);
    cobnut::print("protect: done\n");
    return 0;
}
