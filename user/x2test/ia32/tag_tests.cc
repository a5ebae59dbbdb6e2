// SPDX-License-Identifier: BSD-2-Clause
// Tags that the kernel chooses by itself (L95 4.3), slots bound to one page directory, and slots that change hands
// (docs/tags.md). What the manual's own names do is in small_tests.cc.
#include "../harness.h"

#include <cobnut/tags.h>

namespace x2test {
namespace {

using cobnut::Tag;
using cobnut::tag_of;

constexpr Word mb = 1u << 20;

void check_tag(L4_ThreadId_t space, unsigned size_mb, bool bound, bool pinned)
{
    const Tag tag = tag_of(space);
    if (tag.size_mb != size_mb || tag.bound != bound || tag.pinned != pinned)
        fail("the tag is %u MB, bound %u, pinned %u; not %u, %u, %u", tag.size_mb, tag.bound, tag.pinned, size_mb,
             bound, pinned);
}

/// A thread in a space of its own whose areas end below 64 KB, without an image. It runs a few bytes that the test
/// maps: each run reads the word at `data`, writes one more behind it, and ends in a fault at one of two addresses.
class Bare {
public:
    ~Bare() { L4_ThreadControl(id, L4_nilthread, L4_nilthread, L4_nilthread, nothing_said); }

    /// `control` as for SpaceControl. Page `n` of the arena will be its data, page 0 its code.
    bool create(Word n, Word control = 0) { return create_at(0xA000, n, n, control); }
    /// With its UTCBs or interface page elsewhere, and a `number` of its own: several can share a page of data.
    bool create_at(Word utcbs, Word number, Word n, Word control = 0, Word kip = 0x8000);
    /// Runs once; the word that it wrote. ~0 after fail().
    Word run();

    L4_ThreadId_t id = {};

private:
    static constexpr Word ends[] = {0xE000, 0xF000}, code = 0x10000, data = 0x11000;
    static inline void *const nothing_said = reinterpret_cast<void *>(-1);

    void map(Word arena_at, Word to);

    Word page_ = 0;
    Word runs_ = 0;
};

bool Bare::create_at(Word utcbs, Word number, Word n, Word control, Word kip)
{
    static constexpr unsigned char program[] = {
        0xA1, 0x00, 0x10, 0x01, 0x00, // mov data, %eax
        0x40,                         // inc %eax
        0xA3, 0x04, 0x10, 0x01, 0x00, // mov %eax, data + 4
        0xA1, 0x00, 0xE0, 0x00, 0x00, // mov 0xE000, %eax
        0xA1, 0x00, 0x10, 0x01, 0x00, // the same
        0x40, 0xA3, 0x04, 0x10, 0x01, 0x00, 0xA1, 0x00, 0xF0, 0x00, 0x00, // mov 0xF000, %eax
        0xEB, 0xDE,                   // and again
    };
    for (unsigned i = 0; i < sizeof program; i++) reinterpret_cast<unsigned char *>(arena_page(0))[i] = program[i];
    page_ = n;
    constexpr Word first_number = 200; // behind the agents'
    id = L4_GlobalId(L4_ThreadNo(main_id) + first_number + number, 1);
    if (L4_ThreadControl(id, id, main_id, L4_nilthread, nothing_said) &&
        L4_SpaceControl(id, control, L4_FpageLog2(kip, 12), L4_FpageLog2(utcbs, 12), L4_nilthread, nullptr) &&
        L4_ThreadControl(id, id, main_id, main_id, reinterpret_cast<void *>(utcbs)))
        return true;
    fail("cannot create a thread: error %u", L4_ErrorCode());
    return false;
}

/// Answers its fault.
void Bare::map(Word arena_at, Word to)
{
    const L4_MapItem_t item = L4_MapItem(page_at(arena_page(arena_at), L4_FullyAccessible), to);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    L4_Reply(id);
}

Word Bare::run()
{
    constexpr Word end_page = 15; // of the arena: the first word is no space's data
    auto *const words = reinterpret_cast<volatile Word *>(arena_page(page_));
    words[1] = 0;
    if (runs_) {
        // What the last but one run ended at is taken away again; what the last one ended at is given.
        L4_Unmap(page_at(arena_page(end_page), L4_FullyAccessible));
        map(end_page, ends[(runs_ - 1) % 2]);
    } else {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
        L4_LoadMR(1, code);
        L4_LoadMR(2, 0);
        L4_Send(id);
    }
    const Word end = ends[runs_++ % 2];
    for (;;) {
        const L4_MsgTag_t tag = L4_Receive_Timeout(id, L4_TimePeriod(1000000));
        Word address;
        L4_StoreMR(1, &address);
        if (L4_IpcFailed(tag)) return fail("no fault of the thread: error %u", L4_ErrorCode()), ~0u;
        if (address == end) return words[1];
        const Word page = address & ~0xFFFu;
        if (page != code && page != data) return fail("a fault at %08x", address), ~0u;
        map(page == code ? 0 : page_, page);
    }
}

/// Gives the data page a value and sees it come back, one more.
void check_runs(Bare &space, Word n, Word value)
{
    arena_word(n) = value;
    CHECK_EQUAL(space.run(), value + 1);
}

void starts_with_a_tag()
{
    if (!wish.automatic) return;
    Agent *a = agent(Kind::automatic);
    if (!a) return;
    check_tag(a->id, 16, false, false);
    CHECK_EQUAL(small_number(a), 0); // a program cannot tell
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
}

/// Several slots share a directory entry: each sees its own pages, also after the others' have changed.
void slots_of_one_megabyte()
{
    if (!wish.automatic) return;
    constexpr Word count = 6;
    Bare space[count];
    for (Word i = 0; i < count; i++) {
        if (!space[i].create(i + 1)) return;
        check_tag(space[i].id, 1, false, false);
    }
    for (Word round = 0; round < 3; round++)
        for (Word i = 0; i < count; i++) check_runs(space[i], i + 1, 0x1000 * round + i);
    L4_Unmap(page_at(arena_page(2), L4_FullyAccessible)); // a fault more, and it goes on
    for (Word i = 0; i < count; i++) check_runs(space[i], i + 1, 0x9000 + i);
}

/// The example of L95 (4.3): a space of 3 GB beside 8 of 64 MB and 128 of 1 MB, in an area of 640 MB, in whatever order
/// they come. After that the area is full.
void sizes_of_the_paper()
{
    constexpr Word area_mb = 640, kinds = 3, many[kinds] = {1, 8, 128}, count = 137;
    constexpr unsigned size_mb[kinds] = {0, 64, 1};
    constexpr Word utcbs[kinds] = {0xBFFF0000, 64 * mb - 0x10000, 0xA000};
    if (wish.area_mb != area_mb) return;
    Word kind[count], n = 0;
    for (Word k = 0; k < kinds; k++)
        for (Word i = 0; i < many[k]; i++) kind[n++] = k;
    Random random(wish.seed);
    for (Word i = count; i > 1; i--) {
        const Word other = random.below(i), k = kind[i - 1];
        kind[i - 1] = kind[other];
        kind[other] = k;
    }
    Bare space[count], one_more;
    const auto page_of = [](Word i) { return 1 + i % 8; };
    for (Word i = 0; i < count; i++)
        if (!space[i].create_at(utcbs[kind[i]], i, page_of(i))) return;
    if (!one_more.create_at(utcbs[kinds - 1], count, page_of(count))) return;
    unsigned char users[area_mb] = {};
    for (Word i = 0; i < count; i++) {
        check_tag(space[i].id, size_mb[kind[i]], false, false);
        const Tag tag = tag_of(space[i].id);
        for (Word at = tag.offset_mb; at < tag.offset_mb + tag.size_mb; at++) users[at]++;
    }
    for (Word at = 0; at < area_mb; at++) CHECK_EQUAL(users[at], 1);
    check_tag(one_more.id, 0, false, false);
    for (Word round = 0; round < 3; round++)
        for (Word i = 0; i < count; i++) check_runs(space[i], page_of(i), 0x1000 * (round + 1) + i);
    check_runs(one_more, page_of(count), 0x3264);
}

/// The accessed and dirty bits of a page come back from the entry in the shared table.
void shared_tables_note_accesses()
{
    Bare space;
    if (!space.create(1)) return;
    check_runs(space, 1, 0x77);
    L4_LoadMR(0, (page_at(arena_page(1), 0)).raw);
    L4_Unmap(0);
    Word status;
    L4_StoreMR(0, &status);
    CHECK_EQUAL(status & 7, 7u);
}

void grows_with_its_mappings()
{
    if (!wish.automatic) return;
    Agent *a = agent(Kind::automatic);
    if (!a) return;
    arena_word(0) = 0x1995;
    const struct {
        Word at;
        unsigned size_mb;
    } steps[] = {{20 * mb, 32}, {120 * mb, 128}, {129 * mb, 256}, {300 * mb, 0}};
    for (const auto &step : steps) {
        if (step.size_mb > wish.area_mb) return;
        give_page(a, 0, step.at, L4_FullyAccessible);
        check_tag(a->id, step.size_mb, false, false);
        CHECK_EQUAL(ask(a, do_read, step.at).value, 0x1995);
        CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
    }
}

/// limits=1: an access past the limit is answered by a larger slot, too.
void grows_by_access()
{
    if (!wish.limits) return;
    Agent *a = agent(Kind::automatic);
    if (!a) return;
    CHECK_EQUAL(ask(a, do_read, 30 * mb).fault_address, 30 * mb);
    check_tag(a->id, 32, false, false);
}

/// A slot that SpaceControl names is not refused because the kernel has given it away by itself.
void named_slots_win()
{
    Agent *a = agent(Kind::automatic), *b = agent(Kind::large);
    if (!a || !b) return;
    const Tag tag = tag_of(a->id);
    if (tag.offset_mb + tag.size_mb > 512) return; // has no name
    Word old = 0;
    L4_SpaceControl(b->id, L4_SmallSpaceChange | L4_SmallSpace(tag.offset_mb, tag.size_mb), L4_Nilpage, L4_Nilpage,
                    L4_nilthread, &old);
    CHECK_EQUAL(old, L4_SmallSpaceChange);
    check_tag(b->id, tag.size_mb, false, true);
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
    CHECK_EQUAL(ask(b, do_read, kip_area).value, L4_KernelMagic);
}

void asked_to_be_large()
{
    if (!wish.automatic) return;
    Agent *a = agent(Kind::large);
    if (!a) return;
    check_tag(a->id, 0, false, true);
    CHECK(cobnut::leave_to_kernel(a->id));
    check_tag(a->id, 16, false, false);
    CHECK(cobnut::give_slot(a->id, 5));
    check_tag(a->id, 32, false, true);
    CHECK_EQUAL(ask(a, do_read, kip_area).value, L4_KernelMagic);
}

/// A slot does not become shorter in place: what is cached of its end would stay when others get it.
void a_shorter_slot()
{
    Bare space, next;
    if (!space.create(1) || !next.create(2)) return;
    const unsigned sizes_log2[] = {5, 3, 2, 0, 1, 4, 0};
    for (Word i = 0; i < sizeof sizes_log2 / sizeof *sizes_log2; i++) {
        CHECK(cobnut::give_slot(space.id, sizes_log2[i]));
        check_tag(space.id, 1u << sizes_log2[i], false, true);
        check_runs(space, 1, 0x100 + i);
        CHECK(cobnut::give_slot(next.id, i % 3));
        check_runs(next, 2, 0x200 + i);
        check_runs(space, 1, 0x300 + i);
    }
}

/// A space with more tables than are looked through when it loses its slot: whatever it is, it sees its own pages, and
/// nothing of them stays where another one comes.
void many_tables_change_hands()
{
    constexpr Word tables = 10, first = 16 * mb, apart = 4 * mb, agents = 3;
    if (wish.area_mb < 512) return;
    Agent *space[agents];
    for (Word n = 0; n < agents; n++) {
        if (!(space[n] = agent(Kind::large))) return;
        arena_word(n) = 0xD0 + n;
        for (Word t = 0; t < tables; t++) give_page(space[n], n, first + t * apart, L4_FullyAccessible);
    }
    const auto check_all = [&](Word n) {
        for (Word t = 0; t < tables; t++) CHECK_EQUAL(ask(space[n], do_read, first + t * apart).value, 0xD0 + n);
    };
    for (Word round = 0; round < 6; round++) {
        const Word n = round % 2;
        CHECK(round == 4 ? cobnut::bind(space[n]->id, space[2]->id) : cobnut::give_slot(space[n]->id, 6));
        for (Word other = 0; other < agents; other++) check_all((n + other) % agents);
        if (round == 3) CHECK(cobnut::give_slot(space[n]->id, 7)); // elsewhere, and it has not been there yet
        CHECK(make_large(space[n]));
        if (round == 2) { // a page that goes before its table has been touched
            L4_Unmap(page_at(arena_page(n), L4_FullyAccessible));
            for (Word t = 0; t < tables; t++) CHECK(faults_on_read(space[n], first + t * apart));
            for (Word t = 0; t < tables; t++) give_page(space[n], n, first + t * apart, L4_FullyAccessible);
        }
        for (Word other = 0; other < agents; other++) check_all((n + other) % agents);
    }
}

void own_requests_are_checked()
{
    Agent *a = agent(Kind::large);
    if (!a) return;
    CHECK(!cobnut::give_slot(a->id, 9));
    CHECK(!cobnut::bind(a->id, unused_id()));
    CHECK(!cobnut::bind(a->id, a->id));
    CHECK(!cobnut::detail::change(a->id, 0x7F, 0));
    // more than a thread number has bits for
    for (Word number = 0x40000; number <= 0xFFFFF; number += 0x6A6A) CHECK(!cobnut::detail::change(a->id, 1, number));
    check_tag(a->id, 0, false, true);
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
}

/// The same place in two hosts: to each leader its own member, and nothing of the other's.
void bound_slots_overlap()
{
    Agent *leader[2] = {agent(Kind::large), agent(Kind::large)};
    Agent *member[2] = {agent(Kind::large), agent(Kind::large)};
    for (int i = 0; i < 2; i++) {
        if (!leader[i] || !member[i]) return;
        CHECK(cobnut::bind(member[i]->id, leader[i]->id));
        check_tag(member[i]->id, 16, true, true);
        arena_word(i) = 0xB0 + static_cast<Word>(i);
        give_page(member[i], i, free_area, L4_FullyAccessible);
    }
    CHECK_EQUAL(tag_of(member[0]->id).offset_mb, tag_of(member[1]->id).offset_mb);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2; i++) {
            ask(leader[1 - i], do_nothing);
            CHECK_EQUAL(ask(member[i], do_read, free_area).value, 0xB0 + i);
        }
    remove(leader[0]);
    check_tag(member[0]->id, 0, false, true);
    CHECK_EQUAL(ask(member[0], do_read, free_area).value, 0xB0);
    CHECK_EQUAL(ask(member[1], do_read, free_area).value, 0xB1);
}

/// A slot that is too short, as it was asked for, does not make a space forget what it has beyond.
void check_binding_where_it_fits(const Agent *leader)
{
    Bare space;
    if (!space.create_at(0xA000, 0, 1, L4_SmallSpaceChange, 2 * mb)) return;
    CHECK(cobnut::give_slot(space.id, 0));
    check_tag(space.id, 1, false, true);
    CHECK(cobnut::bind(space.id, leader->id));
    check_tag(space.id, 4, true, true);
}

/// Bound slots below 4 MB share tables with those of their own host only.
void bound_slots_of_one_megabyte()
{
    Agent *leader[2] = {agent(Kind::large), agent(Kind::large)};
    if (!leader[0] || !leader[1]) return;
    check_binding_where_it_fits(leader[0]);
    Bare space[4];
    for (Word i = 0; i < 4; i++) {
        if (!space[i].create(i + 1, L4_SmallSpaceChange)) return;
        CHECK(cobnut::bind(space[i].id, leader[i / 2]->id));
        check_tag(space[i].id, 1, true, true);
    }
    for (Word round = 0; round < 3; round++)
        for (Word i = 0; i < 4; i++) check_runs(space[i], i + 1, 0x2000 * round + i);
    remove(leader[1]);
    for (Word i = 0; i < 4; i++) check_runs(space[i], i + 1, 0x8000 + i);
}

Word do_call(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
    return L4_Call(L4_ThreadId_t{.raw = to}).raw;
}
Word do_read_when_called(Word address, Word, Word)
{
    L4_ThreadId_t by;
    L4_Wait(&by); // not for a certain thread: to look that one up would take it from the fast path's way
    const Word value = do_read(address, 0, 0);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
    L4_Reply(by);
    return value;
}

Word do_call_when_called(Word by, Word to, Word)
{
    L4_Receive(L4_ThreadId_t{.raw = by});
    L4_Call(L4_ThreadId_t{.raw = to});
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0});
    L4_Reply(L4_ThreadId_t{.raw = by});
    return 0;
}

/// What a small agent reads while it runs on the page directory of another, large one. That one waits for a call by a
/// third since begin(host, do_call_when_called), so that it may be reached by the fast path.
Word read_on(Agent *host, Agent *caller, Agent *small, Word address)
{
    begin(small, do_read_when_called, address);
    ask(caller, do_call, host->id.raw);
    finish(host);
    return finish(small).value;
}

/// A slot goes from space to space, more often than the kernel remembers revocations, while some hosts do not run: none
/// of them finds what it had there before.
void hosts_forget_revoked_slots(Word reuses)
{
    Agent *host[2] = {agent(Kind::large), agent(Kind::large)};
    Agent *caller[2] = {agent(Kind::large), agent(Kind::small)};
    Agent *owner[2] = {agent(Kind::large), agent(Kind::large)};
    for (int i = 0; i < 2; i++) {
        if (!host[i] || !owner[i] || !caller[i]) return;
        arena_word(i) = 0xC0 + static_cast<Word>(i);
        give_page(owner[i], i, free_area, L4_FullyAccessible);
    }
    CHECK(make_small(caller[1], 3) && make_small(owner[0], 0));
    // Each host gets copies, runs once more, and waits.
    for (int i = 0; i < 2; i++) {
        begin(host[i], do_call_when_called, caller[i]->id.raw, owner[0]->id.raw);
        CHECK_EQUAL(read_on(host[i], caller[i], owner[0], free_area), 0xC0);
        begin(host[i], do_call_when_called, caller[i]->id.raw, owner[1]->id.raw);
    }
    pause(1000);
    Word now = 0;
    for (Word i = 0; i < reuses; i++) {
        CHECK(make_small(owner[now], 1 + now)); // elsewhere
        now = 1 - now;
        CHECK(make_small(owner[now], 0));
    }
    CHECK_EQUAL(now, 1);
    for (int i = 0; i < 2; i++) CHECK_EQUAL(read_on(host[i], caller[i], owner[1], free_area), 0xC1);
}
void forgotten_after_one() { hosts_forget_revoked_slots(1); }
void forgotten_after_many() { hosts_forget_revoked_slots(101); }

} // namespace

const Test tag_tests[] = {
    {"tags.starts_with_a_tag", starts_with_a_tag},
    {"tags.slots_of_one_megabyte", slots_of_one_megabyte},
    {"tags.sizes_of_the_paper", sizes_of_the_paper},
    {"tags.shared_tables_note_accesses", shared_tables_note_accesses},
    {"tags.grows_with_its_mappings", grows_with_its_mappings},
    {"tags.grows_by_access", grows_by_access},
    {"tags.named_slots_win", named_slots_win},
    {"tags.asked_to_be_large", asked_to_be_large},
    {"tags.a_shorter_slot", a_shorter_slot},
    {"tags.many_tables_change_hands", many_tables_change_hands},
    {"tags.own_requests_are_checked", own_requests_are_checked},
    {"tags.bound_slots_overlap", bound_slots_overlap},
    {"tags.bound_slots_of_one_megabyte", bound_slots_of_one_megabyte},
    {"tags.hosts_forget_one_revoked_slot", forgotten_after_one},
    {"tags.hosts_forget_many_revoked_slots", forgotten_after_many},
    {},
};

} // namespace x2test
