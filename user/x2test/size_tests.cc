// SPDX-License-Identifier: BSD-2-Clause
// Pages of several sizes (manual 1.1, 4.1, 5.2): what is mapped as a whole can be used, passed on and taken back as a
// whole and in parts. All of it holds with one size of pages, too, on processors or kernels that have no other.
#include "harness.h"

#include <cobnut/audit.h>
#include <l4/misc.h>

namespace x2test {
namespace {

constexpr Word mb = 1 << 20, kb64 = 1 << 16;
/// in the agents' spaces: where addresses may be relocated, and where not
constexpr Word low = free_area, high = 0x20000000;
using List = const Word[];
constexpr int mb_log2 = 20, kb64_log2 = 16;

L4_Fpage_t part(Word at, int log2, Word rights = L4_FullyAccessible) { return L4_FpageLog2(at, log2) + rights; }

volatile Word &word(Word at) { return *reinterpret_cast<volatile Word *>(at); }

bool put(Agent *a, Word at, Word value)
{
    const bool good = !ask(a, do_write, at, value).faults;
    scratch_reset();
    return good;
}

/// main's megabyte to `a` at `low`, and from there to `b` at `high`.
struct Given {
    Word base;
    Agent *a, *b;

    Given() : base(L4_Address(own_memory(mb_log2))), a(agent(Kind::other)), b(agent(Kind::large))
    {
        if (!good()) return;
        give(a, part(base, mb_log2), 0, L4_FpageLog2(low, mb_log2));
        if (!pass(a, b, part(low, mb_log2), 0, L4_FpageLog2(high, mb_log2))) fail("the megabyte cannot be passed on");
    }
    bool good() const { return base && a && b; }
};

constexpr Word places[] = {0, page_size, 5 * kb64 + 3 * page_size, mb - page_size};

void used_as_a_whole()
{
    const Given g;
    if (!g.good()) return;
    for (const Word at : places) {
        word(g.base + at) = at + 1;
        CHECK_EQUAL(seen(g.b, high + at), at + 1);
        CHECK(put(g.b, high + at + 4, at + 2));
        CHECK_EQUAL(seen(g.a, low + at + 4), at + 2);
        CHECK_EQUAL(word(g.base + at + 4), at + 2);
    }
    L4_Unmap(part(g.base, mb_log2));
    for (const Word at : places) {
        CHECK_EQUAL(seen(g.a, low + at), faulted);
        CHECK(!put(g.b, high + at, 0xBAD));
        CHECK_EQUAL(word(g.base + at), at + 1);
    }
}

/// What the kernel keeps books of is one page, where it announces pages that large, and no more than necessary of a
/// part.
void kept_as_one()
{
    const Word mask = L4_PageSizeMask(L4_GetKernelInterface());
    Word largest = mb, next = page_size;
    while (!(mask & largest)) largest /= 2;
    for (Word size = page_size; size < largest; size *= 2)
        if (mask & size) next = size;
    const Word base = L4_Address(own_memory(mb_log2));
    Agent *a = agent(Kind::other), *b = agent(Kind::large);
    if (!base || !a || !b) return;
    const auto objects = [] { return cobnut::audit().objects; };
    const Word before = objects(), whole = mb / largest;
    give(a, part(base, mb_log2), 0, L4_FpageLog2(low, mb_log2));
    CHECK_EQUAL(objects() - before, whole);
    CHECK(pass(a, b, part(low, mb_log2), 0, L4_FpageLog2(high, mb_log2)));
    CHECK_EQUAL(objects() - before, 2 * whole);
    // One of `next` size, of a's and of b's: b loses it.
    const Word parts = largest / next;
    ask(a, do_flush, (L4_Fpage(low, next) + L4_FullyAccessible).raw, 0);
    CHECK_EQUAL(objects() - before, 2 * whole + 2 * (parts - 1) - 1);
    L4_Unmap(part(base, mb_log2));
    CHECK_EQUAL(objects(), before);
}

/// What has been used before goes as well, and what is around it stays.
void parts_are_taken()
{
    const Given g;
    if (!g.good()) return;
    constexpr Word page = 7 * kb64 + 2 * page_size, piece = 9 * kb64;
    for (const Word at : List{page, page + page_size, piece, piece + page_size, piece + kb64})
        CHECK(put(g.b, high + at, at) && put(g.a, low + at, at + 1));
    L4_Unmap(part(g.base + page, 12));
    CHECK_EQUAL(seen(g.a, low + page), faulted);
    CHECK(!put(g.b, high + page, 0xBAD));
    CHECK_EQUAL(seen(g.b, high + page + page_size), page + page_size + 1);
    CHECK_EQUAL(seen(g.a, low + page - page_size), word(g.base + page - page_size));
    ask(g.a, do_flush, part(low + piece, kb64_log2).raw, 0x40);
    CHECK_EQUAL(seen(g.a, low + piece), faulted);
    CHECK(!put(g.b, high + piece + page_size, 0xBAD));
    CHECK(put(g.a, low + piece + kb64, 0x64));
    CHECK_EQUAL(seen(g.b, high + piece + kb64), 0x64);
    CHECK_EQUAL(word(g.base + page), page + 1);
    CHECK_EQUAL(word(g.base + piece + page_size), piece + page_size + 1);
}

void parts_lose_writing()
{
    const Given g;
    if (!g.good()) return;
    constexpr Word page = 3 * kb64, piece = 12 * kb64;
    for (const Word at : List{page, page + page_size, piece, piece + kb64}) CHECK(put(g.b, high + at, at));
    L4_Unmap(part(g.base + page, 12, L4_Writable));
    ask(g.a, do_flush, part(low + piece, kb64_log2, L4_Writable).raw, 0x40);
    for (const Word at : List{page, piece}) CHECK_EQUAL(seen(g.b, high + at), at);
    for (const Word at : List{page + page_size, page - page_size, piece + kb64})
        CHECK(put(g.b, high + at, 0x600D) && put(g.a, low + at, 0x600D));
    // They get it back, each for itself.
    give(g.a, part(g.base + page, 12), 0, L4_FpageLog2(low + page, 12));
    CHECK(put(g.a, low + page, 0xBACC));
    CHECK_EQUAL(seen(g.b, high + page), 0xBACC);
    CHECK(!put(g.b, high + page, 0xBAD));
    for (const Word at : List{piece, piece + 9 * page_size})
        CHECK(!put(g.b, high + at, 0xBAD) && !put(g.a, low + at, 0xBAD));
    CHECK_EQUAL(word(g.base + page), 0xBACC);
    CHECK_EQUAL(word(g.base + piece), piece);
}

void whole_loses_writing()
{
    const Given g;
    if (!g.good()) return;
    for (const Word at : places) CHECK(put(g.b, high + at, at + 9));
    L4_Unmap(part(g.base, mb_log2, L4_Writable));
    for (const Word at : places) {
        CHECK_EQUAL(seen(g.b, high + at), at + 9);
        CHECK(!put(g.b, high + at, 0xBAD) && !put(g.a, low + at, 0xBAD));
        CHECK_EQUAL(word(g.base + at), at + 9);
    }
}

void parts_are_granted()
{
    const Given g;
    if (!g.good()) return;
    Agent *c = agent(Kind::other);
    if (!c) return;
    constexpr Word piece = 4 * kb64, page = 6 * kb64 + page_size;
    CHECK(put(g.a, low + piece + page_size, 0x6A) && put(g.a, low + page, 0x6B));
    CHECK(pass(g.a, c, part(low + piece, kb64_log2), 0, L4_FpageLog2(low, kb64_log2), true));
    CHECK(pass(g.a, c, part(low + page, 12), 0, L4_FpageLog2(low + kb64, 12), true));
    CHECK_EQUAL(seen(c, low + page_size), 0x6A);
    CHECK_EQUAL(seen(c, low + kb64), 0x6B);
    CHECK_EQUAL(seen(g.a, low + piece), faulted);
    CHECK_EQUAL(seen(g.a, low + page), faulted);
    CHECK_EQUAL(seen(g.b, high + page), 0x6B); // derived from it where it is now
    ask(c, do_flush, part(low + kb64, 12).raw, 0);
    CHECK_EQUAL(seen(g.b, high + page), faulted);
    CHECK_EQUAL(seen(g.b, high + piece + page_size), 0x6A);
    L4_Unmap(part(g.base, mb_log2));
    CHECK_EQUAL(seen(c, low + page_size), faulted);
}

/// A window that is smaller than what is sent, and pieces that do not lie as they lay.
void other_places()
{
    const Word base = L4_Address(own_memory(mb_log2));
    Agent *a = agent(Kind::other);
    if (!base || !a) return;
    for (Word i = 0; i < mb; i += kb64) word(base + i) = i + 0xAB;
    give(a, part(base, mb_log2), 3 * kb64, L4_FpageLog2(low + 2 * kb64, kb64_log2));
    CHECK_EQUAL(seen(a, low + 2 * kb64), 3 * kb64 + 0xAB);
    CHECK_EQUAL(seen(a, low + 3 * kb64), faulted);
    give(a, part(base + 5 * kb64, kb64_log2), 4 * kb64, L4_FpageLog2(low, mb_log2));
    CHECK_EQUAL(seen(a, low + 4 * kb64), 5 * kb64 + 0xAB);
    // A page of it in another's middle, and then all of it over these.
    give(a, part(base, 12), 0, L4_FpageLog2(low + 4 * kb64 + page_size, 12));
    CHECK_EQUAL(seen(a, low + 4 * kb64 + page_size), 0xAB);
    CHECK_EQUAL(seen(a, low + 4 * kb64), 5 * kb64 + 0xAB);
    give(a, part(base, mb_log2), 0, L4_FpageLog2(low, mb_log2));
    for (Word i = 0; i < mb; i += kb64) CHECK_EQUAL(seen(a, low + i), i + 0xAB);
    CHECK(put(a, low + 4 * kb64 + page_size, 0xCD));
    CHECK_EQUAL(word(base + 4 * kb64 + page_size), 0xCD);
}

/// Status bits: what has been done to a part shows there and in the whole, once.
void status_of_parts()
{
    const Given g;
    if (!g.good()) return;
    auto status = [](Word f) {
        L4_LoadMR(0, f);
        L4_Unmap(0);
        return L4_MsgTag().raw & L4_FullyAccessible;
    };
    constexpr Word written = 2 * kb64, read = 11 * kb64;
    const Word whole = part(g.base, mb_log2, 0).raw;
    status(whole);
    CHECK_EQUAL(status(whole), 0);
    CHECK_EQUAL(seen(g.b, high + read), word(g.base + read));
    CHECK(status(whole) & L4_Readable);
    CHECK(put(g.b, high + written, 1));
    CHECK_EQUAL(status(part(g.base + written, 12, 0).raw), L4_FullyAccessible);
    CHECK_EQUAL(status(part(g.base + written, 12, 0).raw), 0);
    status(whole);
    CHECK(put(g.a, low + written, 2));
    CHECK_EQUAL(status(whole), L4_FullyAccessible);
    CHECK_EQUAL(status(whole), 0);
    // b's own: it has written, but not since it was asked.
    ask(g.b, do_flush, part(high, mb_log2, 0).raw, 0);
    CHECK_EQUAL(ask(g.b, do_flush, part(high, mb_log2, 0).raw, 0).value & L4_FullyAccessible, 0);
}

/// Two spaces have all of it at different addresses, a third one page: what one writes the others read.
void written_by_several()
{
    const Given g;
    if (!g.good()) return;
    Agent *c = agent(Kind::other);
    if (!c) return;
    constexpr Word page = 8 * kb64 + page_size, other = 13 * kb64;
    give(c, part(g.base + page, 12), 0, L4_FpageLog2(low + 2 * page_size, 12));
    for (Word i = 1; i < 12; i++) {
        CHECK(put(g.a, low + page, i) && put(g.b, high + other, ~i));
        CHECK_EQUAL(seen(c, low + 2 * page_size), i);
        CHECK_EQUAL(seen(g.a, low + other), ~i);
        CHECK(put(c, low + 2 * page_size + 4, i + 100));
        CHECK_EQUAL(seen(g.b, high + page + 4), i + 100);
        word(g.base + page + 8) = i;
        CHECK_EQUAL(seen(c, low + 2 * page_size + 8), i);
        CHECK_EQUAL(seen(g.b, high + page + 8), i);
    }
    CHECK_EQUAL(word(g.base + other), ~11u);
}

/// All of it twice in one space, and a page once more.
void twice_in_one_space()
{
    const Word base = L4_Address(own_memory(mb_log2));
    Agent *a = agent(Kind::large);
    if (!base || !a) return;
    give(a, part(base, mb_log2), 0, L4_FpageLog2(low, mb_log2));
    give(a, part(base, mb_log2), 0, L4_FpageLog2(high, mb_log2));
    give(a, part(base + kb64, 12), 0, L4_FpageLog2(high + mb, 12));
    for (Word i = 1; i < 8; i++) {
        CHECK(put(a, low + kb64, i));
        CHECK_EQUAL(seen(a, high + kb64), i);
        CHECK_EQUAL(seen(a, high + mb), i);
        CHECK(put(a, high + kb64, i + 50));
        CHECK_EQUAL(seen(a, low + kb64), i + 50);
        CHECK(put(a, high + mb, i + 90) && put(a, high + 4, i));
        CHECK_EQUAL(seen(a, low + kb64), i + 90);
        CHECK_EQUAL(seen(a, low + 4), i);
    }
    ask(a, do_flush, part(low, mb_log2).raw, 0x40);
    CHECK_EQUAL(seen(a, low + kb64), faulted);
    CHECK(put(a, high + kb64, 0x2));
    CHECK_EQUAL(word(base + kb64), 0x2);
}

/// Several have it at the same address, and some lose a part of it.
void at_one_address()
{
    const Word base = L4_Address(own_memory(mb_log2));
    constexpr unsigned most = 4;
    Agent *agents[most];
    for (Agent *&a : agents) {
        a = agent(Kind::large);
        if (!base || !a) return;
        give(a, part(base, mb_log2), 0, L4_FpageLog2(high, mb_log2));
    }
    for (Word i = 0; i < 12; i++) {
        const Word at = i % 4 * 5 * page_size + i % 3 * kb64;
        CHECK(put(agents[i % most], high + at, 0xA0 + i));
        for (Agent *a : agents) CHECK_EQUAL(seen(a, high + at), 0xA0 + i);
    }
    ask(agents[0], do_flush, part(high + kb64, kb64_log2).raw, 0x40);
    ask(agents[1], do_flush, part(high, 12, L4_Writable).raw, 0x40);
    for (unsigned i = 0; i < most; i++) {
        CHECK_EQUAL(seen(agents[i], high + kb64) == faulted, i == 0);
        CHECK_EQUAL(put(agents[i], high, i), i != 1);
        CHECK(put(agents[i], high + 2 * kb64, i));
        CHECK_EQUAL(seen(agents[(i + 1) % most], high + 2 * kb64), i);
    }
    L4_Unmap(part(base, mb_log2));
    for (Agent *a : agents) CHECK_EQUAL(seen(a, high + 2 * kb64), faulted);
}

/// Cached otherwise, as a whole and in part: what has been written is there all the same.
void attributes_of_parts()
{
    const Given g;
    if (!g.good()) return;
    constexpr Word uncached = 4, page = 10 * kb64 + page_size;
    CHECK(put(g.b, high + page, 1) && put(g.b, high + page + page_size, 2));
    CHECK(L4_Set_PageAttribute(part(g.base + page, 12), uncached));
    CHECK_EQUAL(seen(g.a, low + page), 1);
    CHECK_EQUAL(seen(g.a, low + page + page_size), 2);
    CHECK(put(g.a, low + page, 3) && put(g.a, low + page + page_size, 4));
    CHECK_EQUAL(seen(g.b, high + page), 3);
    CHECK(L4_Set_PageAttribute(part(g.base, mb_log2), uncached));
    CHECK_EQUAL(seen(g.b, high + page + page_size), 4);
    CHECK(put(g.b, high + page + page_size, 5));
    CHECK(L4_Set_PageAttribute(part(g.base, mb_log2), L4_DefaultMemory));
    CHECK_EQUAL(seen(g.a, low + page + page_size), 5);
    CHECK_EQUAL(seen(g.a, low + page), 3);
}

/// A random mixture of the above, checked against what should be there.
void random_parts()
{
    constexpr Word pages = mb / page_size;
    static constinit bool readable[2][pages], writable[2][pages];
    static constinit Word contents[pages];
    const Word base = L4_Address(own_memory(mb_log2));
    Agent *agents[] = {agent(Kind::other), agent(Kind::large)};
    if (!base || !agents[0] || !agents[1]) return;
    const Word at[] = {low, high};
    for (Word i = 0; i < pages; i++) {
        readable[0][i] = readable[1][i] = writable[0][i] = writable[1][i] = false;
        word(base + i * page_size) = contents[i] = i;
    }
    Random random(wish.seed);
    constexpr int sizes[] = {12, 13, 16, 17, 20};
    for (int step = 0; step < 400; step++) {
        const Word who = random.below(2), what = random.below(8);
        const int log2 = sizes[random.below(5)];
        const Word size = 1u << log2, offset = random.below(mb) & ~(size - 1), first = offset / page_size,
                   end = first + size / page_size;
        switch (what) {
        case 0:
        case 1: { // a piece, to where it belongs
            const bool write = random.below(4) != 0;
            give(agents[who], part(base + offset, log2, write ? L4_FullyAccessible : L4_ReadeXecOnly), 0,
                 L4_FpageLog2(at[who] + offset, log2));
            for (Word i = first; i < end; i++) readable[who][i] = true, writable[who][i] |= write;
            break;
        }
        case 2: // gone, for both or for one
            if (random.below(2)) {
                L4_Unmap(part(base + offset, log2));
                for (Word i = first; i < end; i++) readable[!who][i] = writable[!who][i] = false;
            } else {
                ask(agents[who], do_flush, part(at[who] + offset, log2).raw, 0x40);
            }
            for (Word i = first; i < end; i++) readable[who][i] = writable[who][i] = false;
            break;
        case 3:
            ask(agents[who], do_flush, part(at[who] + offset, log2, L4_Writable).raw, 0x40);
            for (Word i = first; i < end; i++) writable[who][i] = false;
            break;
        default:
            for (int access = 0; access < 4; access++) {
                const Word i = random.below(pages), value = random.next();
                const bool write = random.below(2);
                if (write) CHECK_EQUAL(put(agents[who], at[who] + i * page_size, value), writable[who][i]);
                if (write && writable[who][i]) contents[i] = value;
                else if (write) readable[who][i] = false; // the fault was resolved with another page
                CHECK_EQUAL(seen(agents[!who], at[!who] + i * page_size), readable[!who][i] ? contents[i] : faulted);
                CHECK_EQUAL(word(base + i * page_size), contents[i]);
            }
        }
    }
}

} // namespace

const Test size_tests[] = {
    {"size.used_as_a_whole", used_as_a_whole},
    {"size.kept_as_one", kept_as_one},
    {"size.parts_are_taken", parts_are_taken},
    {"size.parts_lose_writing", parts_lose_writing},
    {"size.whole_loses_writing", whole_loses_writing},
    {"size.parts_are_granted", parts_are_granted},
    {"size.other_places", other_places},
    {"size.status_of_parts", status_of_parts},
    {"size.written_by_several", written_by_several},
    {"size.twice_in_one_space", twice_in_one_space},
    {"size.at_one_address", at_one_address},
    {"size.attributes_of_parts", attributes_of_parts},
    {"size.random_parts", random_parts},
    {nullptr, nullptr},
};

} // namespace x2test
