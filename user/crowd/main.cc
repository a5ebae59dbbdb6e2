// SPDX-License-Identifier: BSD-2-Clause
// crowd: many spaces and the two patterns of W03 (docs/lab.md): a server that calls clients at random (figure 5), and
// readers of the same few pages that yield in turn (figure 4).
//
// The root thread makes the members' spaces and is their pager. Each has a copy of the code in members.S, a stack and
// its interface page in one megabyte. Root takes no part in what is measured.
//
// Command line (defaults first):
//   pattern=calls|reads
//   place=apart     each member at addresses of its own above 2 GB
//         alike     all at the same addresses below 32 MB
//         collide   all at the same addresses above 2 GB
//         slots     every other one below 32 MB, and the others where PID relocation moves these to
//         within    for calls: all as threads of one space
//   members=1                  calls: clients beside the server, 1 to 64; reads: 2 to 16
//   rounds=1000 warmup=100     measured and unmeasured calls, or turns of each reader
//   seed=2463534242            of the random clients
//   pages=1:1:1                START:STOP:STEP pages that a reader reads a byte from in each turn, 1 to 64; STOP
//   inclusive shared=0                   1: the readers' pages are the same ones, in the same place; 0: each has its
//   own large=0                    1: these pages are mapped as one of 1 MB (not shared ones)
// Case 0 of calls: an iteration is a round trip. Case i of reads has the i-th number of pages: an iteration is a turn
// of each.
#include "crowd.h"

#include <cobnut/options.h>
#include <cobnut/root.h>
#include <l4/ipc.h>
#include <l4/kip.h>
#include <l4/sigma0.h>
#include <l4/space.h>

namespace crowd {
namespace {

using cobnut::fail;

constexpr Word utcb_size = 512, utcb_area_log2 = 16; // room for all members in one space
constexpr Word unmarked_case = ~Word{0};
constexpr unsigned most_rounds = 1000000; // 20 bits

enum class Place { apart, alike, collide, slots, within };

struct Wish {
    bool reads = false;
    Place place = Place::apart;
    unsigned members = 1, rounds = 1000, warmup = 100, seed = 2463534242;
    unsigned first = 1, last = 1, step = 1;
    unsigned shared = 0, large = 0;
};

constinit Wish wish = {};
constinit Word first_number = 0;
alignas(page_size) constinit unsigned char code[most_members][page_size] = {}, stacks[most_members][page_size] = {};
alignas(page_size) constinit unsigned char private_pages[most_readers][most_pages][page_size] = {};
alignas(page_size) constinit unsigned char shared_pages[most_pages][page_size] = {};

bool parse_place(cobnut::Text text)
{
    const struct {
        const char *name;
        Place place;
    } places[] = {{"apart", Place::apart},
                  {"alike", Place::alike},
                  {"collide", Place::collide},
                  {"slots", Place::slots},
                  {"within", Place::within}};
    for (const auto &one : places) {
        if (text && !(text == one.name)) continue;
        wish.place = one.place;
        return true;
    }
    return false;
}

bool parse(const char *command_line)
{
    const cobnut::Options options(command_line);
    const cobnut::Text pattern = options.find("pattern"), pages = options.find("pages");
    wish.reads = pattern == "reads";
    bool bad = (pattern && !wish.reads && !(pattern == "calls")) || !parse_place(options.find("place"));
    if (pages) bad = bad || !cobnut::parse_range(pages, wish.first, wish.last, wish.step);
    const struct {
        const char *key;
        unsigned *value;
        unsigned low, high;
    } numbers[] = {
        {"members", &wish.members, wish.reads ? 2u : 1u, wish.reads ? most_readers : most_members - 1},
        {"rounds", &wish.rounds, 1, most_rounds},
        {"warmup", &wish.warmup, 1, most_rounds},
        {"seed", &wish.seed, 1, ~0u},
        {"shared", &wish.shared, 0, 1},
        {"large", &wish.large, 0, wish.reads && !options.find("shared") ? 1u : 0u},
    };
    for (const auto &n : numbers) {
        *n.value = options.number(n.key, *n.value, &bad);
        bad = bad || *n.value < n.low || *n.value > n.high;
    }
    bad = bad || !wish.first || wish.last > most_pages || (wish.reads && wish.place == Place::within);
    if (bad) cobnut::print("crowd: FAIL bad option in '%s'\n", command_line);
    return !bad;
}

// Of calls, member 0 is the server.
Word members() { return wish.reads ? wish.members : wish.members + 1; }
L4_ThreadId_t thread(Word i) { return L4_GlobalId(first_number + i, 1); }
Word space(Word i) { return wish.place == Place::within ? 0 : i; }
Word base(Word i)
{
    switch (wish.place) {
    case Place::alike: return alike_base;
    case Place::collide: return collide_base;
    case Place::slots: return i && i % 2 == 0 ? i / 2 * slot_bytes + alike_base : alike_base;
    default: return apart_base + space(i) * mb;
    }
}

Word start_ip(Word i)
{
    const unsigned char *const code_of = wish.reads ? crowd_reader : i ? crowd_client : crowd_server;
    return base(i) + code_offset + static_cast<Word>(code_of - crowd_code);
}

/// All threads of a space after its first, which makes it.
void make_members()
{
    static constinit L4_Fpage_t utcbs[most_members] = {};
    const L4_ThreadId_t me = L4_Myself();
    for (Word i = 0; i < members(); i++) {
        const L4_ThreadId_t id = thread(i), where = thread(space(i));
        if (space(i) == i) {
            utcbs[i] = L4_FpageLog2(base(i) + mb / 2, utcb_area_log2);
            if (!L4_ThreadControl(id, id, me, L4_nilthread, reinterpret_cast<void *>(-1)))
                fail("ThreadControl", i, L4_ErrorCode());
            if (!Cobnut_SpaceControl(id, 0, L4_FpageLog2(base(i) + kip_offset, 12), &utcbs[i], L4_nilthread, nullptr))
                fail("SpaceControl", i, L4_ErrorCode());
        }
        const Word utcb = L4_Address(utcbs[space(i)]) + (i - space(i)) * utcb_size;
        if (!L4_ThreadControl(id, where, me, me, reinterpret_cast<void *>(utcb)))
            fail("ThreadControl to activate", i, L4_ErrorCode());
    }
}

void start(Word i)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, start_ip(i));
    L4_LoadMR(2, base(i) + stack_top_offset);
    if (L4_IpcFailed(L4_Send_Timeout(thread(i), L4_TimePeriod(1000000)))) fail("start message", i, L4_ErrorCode());
}

/// Where the page lies here that member i has at `address`.
Word source_of(Word i, Word address, bool &write)
{
    const Word page = address & -page_size, offset = page - base(i);
    write = false;
    if (offset == code_offset) return reinterpret_cast<Word>(code[space(i)]);
    if (page - shared_base < most_pages * page_size) return reinterpret_cast<Word>(shared_pages) + page - shared_base;
    const Word own = private_base + i * mb;
    if (wish.reads && page - own < most_pages * page_size) return reinterpret_cast<Word>(private_pages[i]) + page - own;
    write = offset == stack_offset;
    return write ? reinterpret_cast<Word>(stacks[space(i)]) : 0;
}

/// Loads the answer to a fault of a reader at its pages, with all of them at once: one megabyte that is sigma0's as one
/// page.
void answer_with_megabyte(Word i)
{
    constexpr int log2 = 20;
    const L4_Fpage_t f = L4_Sigma0_GetAny(L4_nilthread, log2, L4_CompleteAddressSpace);
    if (L4_IsNilFpage(f)) fail("no megabyte for a reader", i);
    const L4_MapItem_t item = L4_MapItem(f + L4_ReadeXecOnly, private_base + i * mb);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
}

/// Loads the answer to a fault.
void answer_fault(Word i, Word address, Word ip)
{
    if (wish.large && i < members() && address - (private_base + i * mb) < mb) return answer_with_megabyte(i);
    bool write;
    const Word source = i < members() ? source_of(i, address, write) : 0;
    if (!source) fail("page fault", address, ip);
    cobnut::load_page(source, address, write ? L4_FullyAccessible : L4_ReadeXecOnly);
}

/// Serves faults until a member wants orders; returns its number.
Word page_until_ready()
{
    const cobnut::Said said = cobnut::page_until_said(L4_nilthread, [](L4_ThreadId_t who, Word address, Word ip) {
        answer_fault(L4_ThreadNo(who) - first_number, address, ip);
    });
    const Word i = L4_ThreadNo(said.from) - first_number;
    if (said.label != ready_label || i >= members()) fail("unknown message", said.from.raw, said.label);
    return i;
}

/// Answers a member that is ready.
void order(Word i, Word first, Word second, Word third, Word fourth)
{
    const Word mr[5] = {4, first, second, third, fourth};
    L4_LoadMRs(0, 5, mr);
    if (L4_IpcFailed(L4_Reply(thread(i)))) fail("an order", i, L4_ErrorCode());
}

void expect_ready(Word i)
{
    const Word ready = page_until_ready();
    if (ready != i) fail("another member is ready", ready, i);
}

void run_calls()
{
    expect_ready(0);
    order(0, thread(1).raw, wish.members | wish.warmup << 8, wish.seed, wish.rounds);
    expect_ready(0);
}

/// All read the pages of one case. The others read on while reader 0 does, which leaves the marks if there are any.
void run_turns(Word pages, Word turns, Word marked_case)
{
    constexpr Word longer = 8;
    for (Word i = members(); i-- > 0;)
        order(i, wish.shared ? shared_base : private_base + i * mb, pages, i ? turns + longer : turns,
              i ? unmarked_case : marked_case);
    if (marked_case != unmarked_case) expect_ready(0);
    for (Word i = marked_case != unmarked_case; i < members(); i++) page_until_ready();
}

void run_reads()
{
    for (Word i = 0; i < members(); i++) page_until_ready();
    Word number = 0;
    for (Word pages = wish.first; pages <= wish.last; pages += wish.step, number++) {
        run_turns(pages, wish.warmup, unmarked_case);
        run_turns(pages, wish.rounds, number);
    }
}

} // namespace
} // namespace crowd

int cobnut_main(const char *command_line)
{
    using namespace crowd;
    if (!parse(command_line)) return 1;
    const auto bytes = static_cast<Word>(crowd_code_end - crowd_code);
    if (bytes > page_size) fail("the members' code is larger than a page", bytes);
    first_number = L4_ThreadNo(L4_Myself()) + 1;
    for (Word i = 0; i < members(); i++) __builtin_memcpy(code[i], crowd_code, bytes);
    make_members();
    for (Word i = members(); i-- > 0;) start(i);
    if (wish.reads) run_reads();
    else run_calls();
    cobnut::print("crowd: done\n");
    return 0;
}
