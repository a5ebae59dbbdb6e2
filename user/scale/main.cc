// SPDX-License-Identifier: BSD-2-Clause
// scale: many threads in many spaces, what they take of the kernel's memory, and what a call costs among them.
//
// The root thread makes all of them, four to a space, and is their pager. One of them, the client, calls each of the
// others once and checks who answers; then it is measured how it calls one of them, and others at random. All others
// wait in a receive phase meanwhile.
//
// Command line (defaults first):
//   pair=large_large|small_small   kind of the client's and its partner's space; small: of the first spaces, up to 32
//   threads=2                  how many, 2 to 4000; two spaces for fewer than 8
//   rounds=100 warmup=10       measured and unmeasured calls
//   slot=16                    MB of a small space
// Case 0: calls of one partner, in another space. Case 1: of partners at random, in other spaces of the same kind.
// Case 2, for small_small: of partners at random, in small and large spaces.
#include <cobnut/account.h>
#include <cobnut/audit.h>
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/root.h>
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>

extern "C" char image_start[], image_end[];

namespace {

using Word = L4_Word_t;
using cobnut::done_label, cobnut::fail, cobnut::failed_label, cobnut::tell_root;

constexpr Word most_threads = 4000, threads_a_space = 4, most_rounds = 4096, most_small = 32;
// Image, UTCBs and interface page of a space share one page table.
constexpr Word utcb_address = 0x003FE000, kip_address = 0x003FF000, utcb_size = 512;
constexpr Word stack_size = 256; // a server's; a page of them serves four spaces

struct Wish {
    bool small = false;
    unsigned threads = 2, rounds = 100, warmup = 10, slot_mb = 16;
};
constinit Wish wish = {};
constinit Word first_number = 0;
constinit L4_ThreadId_t partners[most_rounds] = {};
alignas(4096) constinit unsigned char stacks[most_threads][stack_size] = {};
alignas(4096) constinit unsigned char client_stack[4096] = {};

/// Thread i is in space i modulo the number of spaces: the client is thread 0, its partner thread 1.
Word spaces() { return wish.threads < 2 * threads_a_space ? 2 : wish.threads / threads_a_space; }
L4_ThreadId_t thread(Word i) { return L4_GlobalId(first_number + i, 1); }
L4_ThreadId_t space_of(Word i) { return thread(i % spaces()); }

// ------------------------------------------------------------------------------------------------ the threads

/// Answers a message of one word with its own id, and an empty one with an empty one.
[[noreturn]] void server_main()
{
    L4_ThreadId_t from;
    L4_MsgTag_t tag = L4_Wait(&from);
    for (;;) {
        const bool who = L4_IpcSucceeded(tag) && L4_UntypedWords(tag) == 1;
        if (who) L4_LoadMR(1, L4_Myself().raw);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = who});
        tag = L4_ReplyWait(from, &from);
    }
}

/// How many of the others are there and say who they are.
Word count_answers()
{
    Word right = 0;
    for (Word i = 1; i < wish.threads; i++) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
        L4_LoadMR(1, 0);
        const L4_MsgTag_t tag = L4_Call(thread(i));
        Word id;
        L4_StoreMR(1, &id);
        right += L4_IpcSucceeded(tag) && L4_UntypedWords(tag) == 1 && id == thread(i).raw;
    }
    return right;
}

void call(unsigned rounds, bool measured)
{
    for (unsigned i = 0; i < rounds; i++) {
        if (measured) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        L4_Set_MsgTag(L4_Niltag);
        if (L4_IpcFailed(L4_Call(partners[i]))) tell_root(failed_label, L4_ErrorCode());
    }
}

void measure(unsigned number)
{
    call(wish.warmup, false);
    cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
    call(wish.rounds, true);
    cobnut_lab_mark(COBNUT_LAB_ITER, 0);
    cobnut_lab_mark(COBNUT_LAB_END, number);
}

bool is_small(Word space) { return wish.small && space < most_small; }

void choose_at_random(bool of_one_kind)
{
    Word state = 2463534242; // xorshift32, as Marsaglia gives it
    for (Word n = 0; n < most_rounds;) {
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        const Word i = state % wish.threads, space = i % spaces();
        if (space != 0 && (!of_one_kind || is_small(space) == is_small(0))) partners[n++] = thread(i);
    }
}

[[noreturn]] void client_main()
{
    const Word answers = count_answers();
    for (L4_ThreadId_t &partner : partners) partner = thread(1);
    measure(0);
    choose_at_random(true);
    measure(1);
    if (wish.small) {
        choose_at_random(false);
        measure(2);
    }
    tell_root(done_label, answers);
}

// ------------------------------------------------------------------------------------------------- the root thread

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    const cobnut::Text pair = options.find("pair");
    wish.small = pair == "small_small";
    bool bad = pair && !wish.small && !(pair == "large_large");
    wish.threads = options.number("threads", wish.threads, &bad);
    wish.rounds = options.number("rounds", wish.rounds, &bad);
    wish.warmup = options.number("warmup", wish.warmup, &bad);
    wish.slot_mb = options.number("slot", wish.slot_mb, &bad);
    bad = bad || wish.threads < 2 || wish.threads > most_threads || !wish.rounds || wish.rounds > most_rounds ||
          wish.warmup > most_rounds;
    if (!bad) return true;
    cobnut::print("scale: FAIL bad option in '%s'\n", command_line);
    return false;
}

Word slot_number(Word index) { return L4_SmallSpace(index * wish.slot_mb, wish.slot_mb); }
void control_thread(Word i, L4_ThreadId_t pager, void *utcb)
{
    if (!L4_ThreadControl(thread(i), space_of(i), L4_Myself(), pager, utcb)) fail("ThreadControl", i, L4_ErrorCode());
}

void *utcb_of(Word i) { return reinterpret_cast<void *>(utcb_address + i / spaces() * utcb_size); }

/// Kernel pages that have been taken since this was asked last.
struct Taken {
    Word pages = 0; ///< by themselves
    Word pools = 0; ///< for the kernel's pools of small objects
};

Taken taken()
{
    static constinit cobnut::Audit last = {};
    const cobnut::Audit now = cobnut::audit();
    if (now.faults) fail("the kernel's books", now.faults);
    const Word pages = now.pages - last.pages, all = last.unused - now.unused;
    last = now;
    return {pages, all - pages};
}

/// A first thread in each page of the kernel's thread table, which keeps it: spaces are counted without them.
void fill_thread_table()
{
    for (Word i = 0; i < wish.threads; i += 512) {
        const L4_ThreadId_t id = thread(i);
        if (!L4_ThreadControl(id, id, L4_Myself(), L4_nilthread, utcb_of(0)) ||
            !L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)))
            fail("ThreadControl for the thread table", i, L4_ErrorCode());
    }
}

/// All threads, in steps that take kernel memory of one kind each.
void make_threads()
{
    taken();
    fill_thread_table();
    const Taken table = taken();
    for (Word i = 0; i < spaces(); i++) control_thread(i, L4_nilthread, utcb_of(i));
    const Taken by_spaces = taken();
    for (Word i = 0; i < spaces(); i++)
        if (!L4_SpaceControl(thread(i), L4_SmallSpaceChange | L4_LargeSpace, L4_FpageLog2(kip_address, 12),
                             L4_FpageLog2(utcb_address, 12), L4_nilthread, nullptr))
            fail("SpaceControl", i, L4_ErrorCode());
    // As many as there is memory for: none of it is a reserve.
    for (Word i = 0; i < spaces(); i++)
        if (!cobnut::limit_kernel_memory(thread(i), cobnut::no_limit)) fail("SpaceControl", i, L4_ErrorCode());
    const Taken by_areas = taken();
    for (Word i = 0; i < spaces(); i++) control_thread(i, L4_Myself(), reinterpret_cast<void *>(-1));
    const Taken by_utcbs = taken();
    for (Word i = spaces(); i < wish.threads; i++) control_thread(i, L4_Myself(), utcb_of(i));
    const Taken by_threads = taken();
    const Word pools = table.pools + by_spaces.pools + by_areas.pools + by_utcbs.pools + by_threads.pools;
    cobnut::print("scale: pages spaces %u tables %u utcbs %u threads %u\n", by_spaces.pages, by_areas.pages,
                  by_utcbs.pages + by_threads.pages, table.pages + pools);
}

void make_small()
{
    for (Word i = 0; i < spaces() && is_small(i); i++) {
        Word old = 0;
        L4_SpaceControl(thread(i), L4_SmallSpaceChange | slot_number(i), L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
        if (!(old & L4_SmallSpaceChange)) fail("no room for a small space", i, slot_number(i));
    }
}

/// A space that was promoted during the run has measured something else.
void check_still_small()
{
    for (Word i = 0; i < spaces(); i++) {
        Word old = 0;
        L4_SpaceControl(thread(i), 0, L4_Nilpage, L4_Nilpage, L4_nilthread, &old);
        if ((old & 0xFF) != (is_small(i) ? slot_number(i) : L4_LargeSpace))
            fail("a space has changed its kind", i, old);
    }
}

void start(Word i, void (*ip)(), const unsigned char *stack_top)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(ip));
    L4_LoadMR(2, reinterpret_cast<Word>(stack_top));
    if (L4_IpcFailed(L4_Send_Timeout(thread(i), L4_TimePeriod(1000000)))) fail("start message", i, L4_ErrorCode());
}

/// Loads the answer to a fault: one page of this image, in the same place.
void answer_fault(L4_ThreadId_t, Word address, Word ip)
{
    const auto low = reinterpret_cast<Word>(image_start), high = reinterpret_cast<Word>(image_end);
    if (address < low || address >= high) fail("page fault outside the image", address, ip);
    cobnut::load_page(address & ~0xFFFu, address);
}

/// Returns what the client says at its end.
Word page_until_done()
{
    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, answer_fault);
    if (said.label != done_label) fail("unknown message", said.from.raw, said.label);
    return said.value;
}

} // namespace

int cobnut_main(const char *command_line)
{
    if (!parse(command_line)) return 1;
    if (reinterpret_cast<Word>(image_end) > utcb_address) fail("the image reaches into the UTCB area");
    first_number = L4_ThreadNo(L4_Myself()) + 1;
    make_threads();
    make_small();
    for (Word i = 1; i < wish.threads; i++) start(i, server_main, stacks[i] + stack_size - 16);
    start(0, client_main, client_stack + sizeof client_stack - 16);
    const Word answers = page_until_done();
    check_still_small();
    cobnut::print("scale: pages mappings %u\n", taken().pools);
    cobnut::print("scale: %u spaces, %u threads, %u answers\n", spaces(), wish.threads, answers);
    cobnut::print("scale: done\n");
    return 0;
}
