// SPDX-License-Identifier: BSD-2-Clause
// groups: many spaces that talk to each other in a pattern, for the kernel's rules about tags (docs/tags.md).
//
// The root thread makes the spaces, one thread in each, and is their pager. Each has the image, one to one, pages of
// its own, and its UTCB area and interface page at the end of the slot that it needs. Space 0, the driver, runs the
// pattern until the kernel's rules have reached a steady state, and then as case 0 for the laboratory; an iteration is
// a batch.
//
// Command line (defaults first):
//   pattern=pipeline|star|web|random
//     pipeline  groups of 3 or 4 in a row: the first passes each item on to the second, it to the third, and so on
//     star      one server, that all others call
//     web       groups of a server and its workers, and one global server: for each item a server calls the global
//               server, a worker, and the global server again; the worker calls the global server
//     random    any calls any
//   spaces=8        8 to 512, the driver among them
//   size_mb=16      what a space needs, 4 to 256, a power of two
//   pages=3         touched by a space at each message, 1 to 64
//   batch=16        items until the driver chooses another group; in star and random, calls
//   rounds=100      measured batches; as many before them warm what is measured
//   warmup_ms=100   before that
//   fixed_mb=0      slots are asked for in a row, in so many of the first 512 MB of the area
//   names=0         1: at the end each space makes a case of its own, of number 1 + space
// It prints the IPCs of the measured batches, each space's tag at the end, and how many have changed since the warm-up.
#include "groups.h"

#include <cobnut/options.h>
#include <cobnut/tags.h>
#include <l4/kip.h>
#include <l4/space.h>

extern "C" char image_start[], image_end[];

namespace groups {

constinit Setup setup = {};

namespace {

constexpr Word page_size = 4096, mb = 1u << 20;
constexpr Word own_memory = 16 * mb; // physical memory that becomes the spaces' own pages, from here on
constexpr Word most_pages = 64;

constinit cobnut::Tag steady[most_spaces] = {};

bool parse_pattern(cobnut::Text text, Wish &wish)
{
    if (!text || text == "pipeline") return true;
    if (text == "star") wish.pattern = Pattern::star;
    if (text == "web") wish.pattern = Pattern::web;
    if (text == "random") wish.pattern = Pattern::random;
    return wish.pattern != Pattern::pipeline;
}

bool parse(const char *command_line, Wish &wish)
{
    const cobnut::Options options(command_line);
    const struct {
        const char *key;
        unsigned *value;
        unsigned low, high;
    } numbers[] = {
        {"spaces", &wish.spaces, 8, most_spaces}, {"size_mb", &wish.size_mb, 4, 256},
        {"pages", &wish.pages, 1, most_pages},    {"batch", &wish.batch, 1, 1000000},
        {"rounds", &wish.rounds, 1, 1000000},     {"warmup_ms", &wish.warmup_ms, 0, 1000000},
        {"fixed_mb", &wish.fixed_mb, 0, 512},
    };
    bool bad = !parse_pattern(options.find("pattern"), wish);
    for (const auto &n : numbers) {
        *n.value = options.number(n.key, *n.value, &bad);
        bad = bad || *n.value < n.low || *n.value > n.high;
    }
    wish.names = options.number("names", 0, &bad) != 0;
    if (!bad && !(wish.size_mb & (wish.size_mb - 1))) return true;
    cobnut::print("groups: FAIL bad option in '%s'\n", command_line);
    return false;
}

void make_space(Word i)
{
    const Word end = setup.wish.size_mb * mb, kip = end - 2 * page_size, utcb = end - page_size;
    const L4_ThreadId_t id = thread(i), me = L4_Myself();
    if (!L4_ThreadControl(id, id, me, L4_nilthread, reinterpret_cast<void *>(utcb)))
        fail("ThreadControl", i, L4_ErrorCode());
    if (!L4_SpaceControl(id, 0, L4_FpageLog2(kip, 12), L4_FpageLog2(utcb, 12), L4_nilthread, nullptr))
        fail("SpaceControl", i, L4_ErrorCode());
    if (!L4_ThreadControl(id, id, me, me, reinterpret_cast<void *>(-1)))
        fail("ThreadControl to activate", i, L4_ErrorCode());
}

void ask_for_slot(Word i)
{
    const Word size_mb = setup.wish.size_mb;
    if ((i + 1) * size_mb > setup.wish.fixed_mb) return;
    Word old = 0;
    L4_SpaceControl(thread(i), L4_SmallSpaceChange | L4_SmallSpace(i * size_mb, size_mb), L4_Nilpage, L4_Nilpage,
                    L4_nilthread, &old);
    if (!(old & L4_SmallSpaceChange)) fail("no room for a small space", i);
}

void start(Word i)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
    L4_LoadMR(1, reinterpret_cast<Word>(i ? space_main : driver_main));
    L4_LoadMR(2, own_pages + page_size - 16);
    if (L4_IpcFailed(L4_Send_Timeout(thread(i), L4_TimePeriod(1000000)))) fail("start message", i, L4_ErrorCode());
}

/// Loads the answer to a fault: a page of this image in the same place, or one of the faulter's own.
void answer_fault(Word space, Word address, Word ip)
{
    const auto low = reinterpret_cast<Word>(image_start), high = reinterpret_cast<Word>(image_end);
    const Word own = (address - own_pages) / page_size;
    Word source = address & -page_size;
    if (address >= own_pages && own < setup.wish.pages)
        source = own_memory + (space * setup.wish.pages + own) * page_size;
    else if (address < low || address >= high) fail("page fault outside the image", address, ip);
    cobnut::load_page(source, address);
}

/// Returns what the driver says at its end.
Word page_until_done()
{
    const auto answer = [](L4_ThreadId_t from, Word address, Word ip) {
        answer_fault(L4_ThreadNo(from) - setup.first_number, address, ip);
    };
    for (L4_ThreadId_t from = L4_nilthread;;) {
        const cobnut::Said said = cobnut::page_until_said(from, answer);
        if (said.label == done_label) return said.value;
        if (said.label != steady_label) fail("unknown message", said.from.raw, said.label);
        from = said.from;
        for (Word i = 0; i < setup.wish.spaces; i++) steady[i] = cobnut::tag_of(thread(i));
        L4_Set_MsgTag(L4_Niltag);
    }
}

void report(Word ipcs)
{
    Word moved = 0;
    for (Word i = 0; i < setup.wish.spaces; i++) {
        const cobnut::Tag tag = cobnut::tag_of(thread(i)), &before = steady[i];
        const Group group = group_of(i);
        moved += tag.offset_mb != before.offset_mb || tag.size_mb != before.size_mb || tag.bound != before.bound;
        cobnut::print("groups: space %u in group %d at %u MB of %u%s\n", i,
                      group.size ? static_cast<int>(group.number) : -1, tag.offset_mb, tag.size_mb,
                      tag.bound ? " bound" : "");
    }
    cobnut::print("groups: %u ipcs, %u moved\n", ipcs, moved);
}

} // namespace
} // namespace groups

int cobnut_main(const char *command_line)
{
    using namespace groups;
    if (!parse(command_line, setup.wish)) return 1;
    if (reinterpret_cast<Word>(image_end) > own_pages) fail("the image reaches into the spaces' own pages");
    setup.first_number = L4_ThreadNo(L4_Myself()) + 1;
    for (Word i = 0; i < setup.wish.spaces; i++) make_space(i);
    for (Word i = 0; i < setup.wish.spaces; i++) ask_for_slot(i);
    for (Word i = setup.wish.spaces; i-- > 0;) start(i);
    report(page_until_done());
    cobnut::print("groups: done\n");
    return 0;
}
