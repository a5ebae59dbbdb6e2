// SPDX-License-Identifier: BSD-2-Clause
// revoke: what it takes to take a slot back that stands in many page directories, and what the switches after it cost.
//
// The root thread makes large spaces with a server in each, and one space, the victim, that is small at first. It has
// all servers call the victim, so that each page directory holds a copy of its entries, and takes its slot away. Before
// everything that is measured it reads more memory than the caches hold.
//
// Command line (defaults first):
//   spaces=2     large spaces beside the root thread's, 2 to 1000
//   pages=8      pages of its own that the victim touches, 1 to 64
//   rounds=10    measured times, 1 to 1000
// Case 0: SpaceControl takes a slot of 16 MB. Cases 1 to 4: the way of a message to a large space that has missed 0, 1
// or 32 revocations (of 16 MB, of 16 MB, of the longest slots), or more than that. Every other iteration is measured,
// from the first on; the others prepare.
#include <cobnut/lab.h>
#include <cobnut/options.h>
#include <cobnut/root.h>
#include <cobnut/tags.h>
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/space.h>

extern "C" char image_start[], image_end[];

namespace {

using Word = L4_Word_t;
using cobnut::fail;

constexpr Word most_spaces = 1000, page_size = 4096, mb = 1u << 20;
constexpr Word slot_log2_mb = 4, longest_log2_mb = 8;
// Image, UTCBs and interface page of a space share one page table.
constexpr Word utcb_address = 0x003FE000, kip_address = 0x003FF000;
constexpr Word own_pages = 0x00300000; // where pages of its own begin in a space
// physical memory that becomes them: one for each server, the rest the victim's
constexpr Word own_memory = 16 * mb;
constexpr Word washing_memory = 32 * mb, washing_size = mb, line = 32;

// What a server or the victim is asked for.
constexpr Word answer = 0, call_victim = 1, mark_arrival = 2;

struct Wish {
    unsigned spaces = 2, pages = 8, rounds = 10;
};
constinit Wish wish = {};
constinit Word first_number = 0, revocations = 0;

/// Servers first, the victim last.
L4_ThreadId_t thread(Word i) { return L4_GlobalId(first_number + i, 1); }
L4_ThreadId_t victim() { return thread(wish.spaces); }

// ------------------------------------------------------------------------------------------------ servers and victim

/// False if the call failed.
bool call(L4_ThreadId_t to, Word what)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, what);
    return L4_IpcSucceeded(L4_Call(to));
}

/// Tells the root thread that it is there, and then answers with one word: whether all went well.
[[noreturn]] void space_main()
{
    const bool is_victim = L4_Myself() == victim();
    L4_ThreadId_t from;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, 1);
    L4_MsgTag_t tag = L4_Ipc(L4_Pager(), L4_anythread, L4_Timeouts(L4_Never, L4_Never), &from);
    for (;;) {
        Word what;
        L4_StoreMR(1, &what);
        bool right = L4_IpcSucceeded(tag);
        if (what == mark_arrival) cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        if (what == call_victim) right = right && call(victim(), answer);
        for (Word i = 0; is_victim && i < wish.pages; i++)
            *reinterpret_cast<volatile Word *>(own_pages + i * page_size) = i;
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
        L4_LoadMR(1, right);
        tag = L4_ReplyWait(from, &from);
    }
}

// ------------------------------------------------------------------------------------------------- the root thread

void make_space(Word i)
{
    const L4_ThreadId_t id = thread(i), me = L4_Myself();
    if (!L4_ThreadControl(id, id, me, L4_nilthread, reinterpret_cast<void *>(utcb_address)))
        fail("ThreadControl", i, L4_ErrorCode());
    if (!L4_SpaceControl(id, L4_SmallSpaceChange | L4_LargeSpace, L4_FpageLog2(kip_address, 12),
                         L4_FpageLog2(utcb_address, 12), L4_nilthread, nullptr))
        fail("SpaceControl", i, L4_ErrorCode());
    if (!L4_ThreadControl(id, id, me, me, reinterpret_cast<void *>(-1)))
        fail("ThreadControl to activate", i, L4_ErrorCode());
}

/// Loads the answer to a fault: a page of this image in the same place, or one of the faulter's own.
void answer_fault(Word space, Word address, Word ip)
{
    const auto low = reinterpret_cast<Word>(image_start), high = reinterpret_cast<Word>(image_end);
    const Word own = (address - own_pages) / page_size;
    Word source = address & -page_size;
    if (address >= own_pages && own < wish.pages) source = own_memory + (space + own) * page_size;
    else if (address < low || address >= high) fail("page fault outside the image", address, ip);
    cobnut::load_page(source, address);
}

/// Sends what is loaded, and is the pager of all until `server` answers.
void send_and_serve(L4_ThreadId_t server)
{
    L4_ThreadId_t to = server, from;
    for (;;) {
        const L4_MsgTag_t tag = L4_Ipc(to, L4_anythread, L4_Timeouts(L4_Never, L4_Never), &from);
        if (L4_IpcFailed(tag)) fail("an IPC", to.raw, L4_ErrorCode());
        Word mr[3];
        L4_StoreMRs(0, 3, mr);
        if (!cobnut::is_page_fault(tag)) {
            if (from != server || mr[1] != 1) fail("a call", from.raw, mr[1]);
            return;
        }
        answer_fault(L4_ThreadNo(from) - first_number, mr[1], mr[2]);
        to = from;
    }
}

void start(Word i)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(space_main));
    L4_LoadMR(2, own_pages + page_size - 16);
    send_and_serve(thread(i));
}

void ask(L4_ThreadId_t server, Word what)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, what);
    send_and_serve(server);
}

void give_slot(unsigned log2_mb)
{
    if (!cobnut::give_slot(victim(), log2_mb)) fail("no slot for the victim", log2_mb);
}

void take_slot()
{
    L4_SpaceControl(victim(), L4_SmallSpaceChange | L4_LargeSpace, L4_Nilpage, L4_Nilpage, L4_nilthread, nullptr);
    revocations++;
}

void check_victim_is_large()
{
    if (cobnut::tag_of(victim()).size_mb) fail("the victim is still small");
}

void wash_caches()
{
    for (Word i = 0; i < washing_size; i += line) *reinterpret_cast<volatile Word *>(washing_memory + i);
}

void measure_revocation()
{
    cobnut_lab_mark(COBNUT_LAB_BEGIN, 0);
    for (unsigned round = 0; round < wish.rounds; round++) {
        give_slot(slot_log2_mb);
        ask(victim(), answer); // a copy in the root's own directory
        for (Word i = 0; i < wish.spaces; i++) ask(thread(i), call_victim);
        wash_caches();
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        take_slot();
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        check_victim_is_large();
    }
    cobnut_lab_mark(COBNUT_LAB_END, 0);
}

void measure_switch(unsigned number, unsigned missed, unsigned log2_mb)
{
    cobnut_lab_mark(COBNUT_LAB_BEGIN, number);
    for (unsigned round = 0; round < wish.rounds; round++) {
        const L4_ThreadId_t server = thread(round % wish.spaces);
        ask(server, answer); // nothing is missed so far
        for (unsigned i = 0; i < missed; i++) give_slot(log2_mb), take_slot();
        wash_caches();
        cobnut_lab_mark(COBNUT_LAB_ITER, 0);
        ask(server, mark_arrival);
    }
    cobnut_lab_mark(COBNUT_LAB_END, number);
}

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    bool bad = false;
    wish.spaces = options.number("spaces", wish.spaces, &bad);
    wish.pages = options.number("pages", wish.pages, &bad);
    wish.rounds = options.number("rounds", wish.rounds, &bad);
    bad = bad || wish.spaces < 2 || wish.spaces > most_spaces || !wish.pages || wish.pages > 64 || !wish.rounds ||
          wish.rounds > 1000;
    if (bad) cobnut::print("revoke: FAIL bad option in '%s'\n", command_line);
    return !bad;
}

} // namespace

int cobnut_main(const char *command_line)
{
    if (!parse(command_line)) return 1;
    if (reinterpret_cast<Word>(image_end) > own_pages) fail("the image reaches into the spaces' own pages");
    first_number = L4_ThreadNo(L4_Myself()) + 1;
    for (Word i = 0; i <= wish.spaces; i++) make_space(i);
    for (Word i = 0; i <= wish.spaces; i++) start(i);
    wash_caches(); // its memory is there from here on
    for (Word i = 0; i < wish.spaces; i++) ask(thread(i), call_victim);
    constexpr unsigned remembered = 32; // kernel/ia32/hosts.cpp: the latest ones, each by itself
    measure_revocation();
    measure_switch(1, 0, slot_log2_mb);
    measure_switch(2, 1, slot_log2_mb);
    measure_switch(3, remembered, longest_log2_mb);
    measure_switch(4, remembered + 1, longest_log2_mb);
    cobnut::print("revoke: %u spaces, %u revocations\n", wish.spaces, revocations);
    cobnut::print("revoke: done\n");
    return 0;
}
