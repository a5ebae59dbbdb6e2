// SPDX-License-Identifier: BSD-2-Clause
// What it takes at worst that a space gets a domain when it is switched to (with latency=1, under the laboratory).
#include "../harness.h"

namespace x2test {
namespace {

constexpr Word mb = 1u << 20, holders = 13, helpers = 7;
constexpr Word megabytes = 64;      // that a domain can stand in
constexpr Word first = 0x84000000;  // what the holders have: behind all slots
constexpr Word there = 0xC4000000;  // what is sent

Word do_read_each(Word first, Word step, Word count)
{
    Word sum = 0;
    for (; count; count--, first += step) sum += *reinterpret_cast<const volatile Word *>(first);
    return sum;
}

Word do_take_item(Word from, Word, Word)
{
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// Grants what there is at an address, and waits for no thread, so that the receiver runs at once.
Word do_grant_and_wait(Word to, Word from, Word log2)
{
    const L4_GrantItem_t item = L4_GrantItem(L4_FpageLog2(from, static_cast<int>(log2)) + L4_FullyAccessible, from);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    L4_ThreadId_t partner;
    L4_Ipc(L4_ThreadId_t{.raw = to}, L4_MyGlobalId(), L4_Timeouts(second, short_time), &partner);
    return 0;
}

/// A megabyte that a space and another one have in one piece, and many small parts of it: to grant a part of it takes
/// a split.
bool give_whole(Agent *a, Agent *mate, Word at)
{
    constexpr Word parts = 15;
    const L4_Fpage_t whole = own_memory(20) + L4_FullyAccessible;
    const L4_Fpage_t its = L4_FpageLog2(at, 20) + L4_FullyAccessible;
    give(a, L4_GrantItem(whole, 0).raw[0], whole.raw, its);
    bool good = pass(a, mate, its, 0, its);
    for (Word i = 0; i < parts; i++)
        good = good && pass(a, mate, page_at(at + i * 0x10000, L4_FullyAccessible), 0,
                            L4_FpageLog2(at + mb + i * page_size, 12));
    return good;
}

/// The receiver of a message that took long has no domain, and none is free: three are taken from holders with as many
/// megabytes as there can be. When that is depends on which spaces ran before (docs/tags-arm.md): several ways are
/// tried.
void long_message()
{
    constexpr Word ways = 3;
    if (!wish.latency) return;
    Agent *sender = agent(Kind::other), *receiver = agent(Kind::other), *mate = agent(Kind::other);
    if (!sender || !receiver || !mate || !agent(Kind::other)) return;
    Agent *holder[holders], *helper[helpers];
    for (Word n = 0; n < holders; n++) {
        if (!(holder[n] = agent(Kind::other))) return;
        for (Word i = 0; i < megabytes; i++)
            give_page(holder[n], i % arena_pages, first + (n * megabytes + i) * mb, L4_FullyAccessible);
    }
    for (Agent *&one : helper)
        if (!(one = agent(Kind::other))) return;
    for (Word round = 0; round < ways * ways; round++) {
        const Word at = there + round * 2 * mb;
        CHECK(give_whole(sender, mate, at));
        begin(receiver, do_take_item, sender->id.raw);
        for (Agent *one : helper) ask(one, do_nothing);
        for (Agent *one : holder) ask(one, do_read, arena_page(0));
        for (Word n = 0; n < round % ways; n++) ask(helper[n], do_nothing);
        ask(sender, do_grant_and_wait, receiver->id.raw, at + mb, 12); // nothing
        finish(receiver);
        // The sender keeps its domain, and turns out to be a server.
        begin(receiver, do_take_item, sender->id.raw);
        for (Agent *one : helper) ask(one, do_nothing), ask(sender, do_nothing);
        for (Word n = 0; n < holders; n++) {
            ask(holder[n], do_read_each, first + n * megabytes * mb, mb, megabytes);
            ask(sender, do_nothing);
        }
        for (Word n = 0; n < round / ways; n++) ask(helper[n], do_nothing);
        ask(sender, do_nothing);
        begin(sender, do_grant_and_wait, receiver->id.raw, at, 16);
        CHECK_EQUAL(finish(receiver).value, 0);
        finish(sender);
    }
}

/// Two spaces share a megabyte, of which each has been granted all, and no domain is free for it: three are taken from
/// holders with as many megabytes as there can be.
void region_without_a_domain()
{
    constexpr Word ways = 3, helping = 4;
    if (!wish.latency) return;
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *holder[holders], *helper[helping];
    if (!a || !b) return;
    Agent *const both[] = {a, b};
    for (Word n = 0; n < holders; n++) {
        if (!(holder[n] = agent(Kind::other))) return;
        for (Word i = 0; i < megabytes; i++)
            give_page(holder[n], i % arena_pages, first + (n * megabytes + i) * mb, L4_FullyAccessible);
    }
    for (Agent *&one : helper)
        if (!(one = agent(Kind::other))) return;
    for (Word round = 0; round < ways * ways; round++) {
        const Word at = there + round * mb;
        const L4_Fpage_t whole = own_memory(20);
        if (L4_IsNilFpage(whole)) return;
        for (Agent *one : both) give(one, whole + L4_FullyAccessible, 0, L4_FpageLog2(at, 20));
        ask(b, do_read_each, at, page_size, mb / page_size);
        for (Agent *one : helper) ask(one, do_nothing);
        for (Word n = 0; n < holders; n++) ask(holder[n], do_read_each, first + n * megabytes * mb, mb, megabytes);
        ask(a, do_read_each, at, page_size, mb / page_size);
        for (Word n = 0; n < round / ways; n++) ask(helper[n], do_nothing);
        ask(b, do_nothing);
        for (Word n = 0; n < round % ways; n++) ask(helper[ways - n], do_nothing);
        ask(a, do_nothing);
        CHECK_EQUAL(ask(b, do_read, at).faults, 0);
    }
}

} // namespace

const Test residence_tests[] = {
    {"latency.long_message", long_message},
    {"latency.region_without_a_domain", region_without_a_domain},
    {nullptr, nullptr},
};

} // namespace x2test
