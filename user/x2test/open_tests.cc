// SPDX-License-Identifier: BSD-2-Clause
// A thread that the fast path has left waiting, met by everything else: what the kernel keeps of it beside its state is
// of earlier waits, under other roles.
#include "harness.h"

namespace x2test {
namespace {

constexpr bool both[] = {false, true};
constexpr Word keep = ~0u;
constexpr Word label = 0x0BED, error_bit = 0x8000;
constexpr Word no_partner = 5, canceled = 7, overflow_received = 9, overflow_sent = 8;

Word do_wait(Word, Word, Word)
{
    L4_ThreadId_t from;
    L4_Wait(&from);
    return from.raw;
}

/// A page fault at `address` if that is not 0, then a call by the shortest way.
Word do_fault_and_call(Word to, Word address, Word)
{
    if (address) do_read(address, 0, 0);
    L4_Set_MsgTag(L4_Niltag);
    return L4_Call(L4_ThreadId_t{.raw = to}).raw;
}

Word do_send(Word to, Word tag, Word timeout)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = tag});
    return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, L4_Time_t{.raw = static_cast<L4_Word16_t>(timeout)}).raw;
}

/// Two of one space and a partner: `a` has had a page fault, and now waits for `b` after a call of the shortest kind.
struct Open {
    Agent *a = agent(Kind::other), *mate = a ? agent_beside(a) : nullptr, *b = nullptr;
    bool good = false;

    explicit Open(bool together = false)
    {
        b = a && mate ? together ? agent_beside(a) : agent(Kind::other) : nullptr;
        if (!b) return;
        ask(mate, do_nothing);
        begin(b, do_wait);
        begin(a, do_fault_and_call, b->id.raw, free_area);
        const Word caller = finish(b).value;
        good = caller == (together ? a->local : a->id).raw && a->out.faults == 1;
        if (!good) fail("%08x has not called but %08x", a->id.raw, caller);
    }
    void answer() const { ask(b, do_send, a->id.raw, label << 16, second.raw); }
    void expect_answer() const { CHECK_EQUAL(finish(a).value, label << 16); }
    void expect_error(Word error) const
    {
        CHECK(finish(a).value & error_bit);
        CHECK_EQUAL(a->out.error, error);
    }
};

constinit volatile Word seen_control = 0, seen_sp = 0, seen_ip = 0;

Word do_exchange(Word dest, Word control, Word)
{
    L4_ThreadId_t pager;
    Word old, sp, ip, flags, handle;
    const L4_ThreadId_t id = L4_ExchangeRegisters(L4_ThreadId_t{.raw = dest}, control, 0, 0, 0, 0, L4_nilthread, &old,
                                                  &sp, &ip, &flags, &handle, &pager);
    seen_control = old;
    seen_sp = sp;
    seen_ip = ip;
    return id.raw;
}

/// Where it waits is known, not where it was before; and looking changes nothing.
void registers()
{
    const Open open;
    if (!open.good) return;
    CHECK_EQUAL(ask(open.mate, do_exchange, open.a->local.raw, 0x200).value, open.a->id.raw);
    CHECK_EQUAL(seen_control, 2);
    CHECK(seen_sp <= stack_of(open.a) && seen_sp > stack_of(open.a) - page_size);
    CHECK(seen_ip != open.a->out.fault_ip);
    L4_ThreadSwitch(open.a->id);
    CHECK_EQUAL(L4_Schedule(open.a->id, keep, keep, keep, keep, nullptr), L4_SCHEDRESULT_WAITING);
    CHECK(L4_Set_Priority(open.a->id, 90));
    CHECK(L4_Set_Timeslice(open.a->id, L4_TimePeriod(10000), L4_Never));
    open.answer();
    open.expect_answer();
}

void cancels()
{
    const Open open;
    if (!open.good) return;
    ask(open.mate, do_exchange, open.a->id.raw, L4_EXREGS_RECV | L4_EXREGS_SEND);
    open.expect_error(canceled);
}

/// It gets its message, and goes on with it when it is resumed.
void halted()
{
    constexpr Word halt_means = 0x100, halt = 1;
    const Open open;
    if (!open.good) return;
    ask(open.mate, do_exchange, open.a->id.raw, halt_means | halt);
    open.answer();
    CHECK(!finish(open.a, true).done);
    ask(open.mate, do_exchange, open.a->id.raw, halt_means);
    CHECK_EQUAL(seen_control, 1);
    open.expect_answer();
}

void partner_goes()
{
    const Open open;
    if (!open.good) return;
    remove(open.b);
    open.expect_error(no_partner);
}

void partner_renamed()
{
    const Open open;
    if (!open.good) return;
    const L4_ThreadId_t other = L4_GlobalId(L4_ThreadNo(open.b->id), L4_Version(open.b->id) ^ 1);
    const L4_ThreadId_t id = L4_Version(other) % 64 ? other : L4_GlobalId(L4_ThreadNo(other), L4_Version(other) + 2);
    CHECK(L4_ThreadControl(id, open.b->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    open.b->id = id;
    open.expect_error(no_partner);
}

/// Where a page fault would have taken anything, a user takes what it has said.
void takes_no_items()
{
    const Open open;
    if (!open.good) return;
    const L4_MapItem_t item = L4_MapItem(page_at(arena_page(0), L4_FullyAccessible), free_area + page_size);
    give_page(open.b, 0, arena_page(0), L4_FullyAccessible);
    begin(open.b, [](Word to, Word item0, Word item1) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = label << 16 | 2u << 6});
        L4_LoadMR(1, item0);
        L4_LoadMR(2, item1);
        return L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second).raw;
    }, open.a->id.raw, item.raw[0], item.raw[1]);
    CHECK(finish(open.b).value & error_bit);
    CHECK_EQUAL(open.b->out.error, overflow_sent);
    open.expect_error(overflow_received);
    CHECK_EQUAL(seen(open.a, free_area + page_size), faulted);
}

/// Its partner sends on in its name: from then on it waits for the thread that has got that.
void propagated()
{
    const Open open(true);
    Agent *d = agent(Kind::large);
    if (!open.good || !d) return;
    begin(d, do_wait);
    begin(open.b, [](Word to, Word sender, Word) {
        constexpr Word propagates = 1u << 12;
        L4_Set_VirtualSender(L4_ThreadId_t{.raw = sender});
        return do_send(to, propagates, second.raw);
    }, d->id.raw, open.a->id.raw);
    CHECK_EQUAL(finish(d).value, open.a->id.raw);
    CHECK_EQUAL(finish(open.b).value, 0);
    CHECK(ask(open.b, do_send, open.a->id.raw, 0, short_time.raw).value & error_bit);
    CHECK_EQUAL(ask(d, do_send, open.a->id.raw, label << 16, second.raw).value, 0);
    open.expect_answer();
}

constinit volatile Word stop = 0;
Word do_count_and_call(Word to, Word, Word)
{
    while (!stop) {}
    return do_fault_and_call(to, 0, 0);
}

/// It has waited for a new quantum before; a further one does not end the wait that it is in.
void another_quantum()
{
    for (const bool goes : both) {
        Agent *a = agent(Kind::other), *b = agent(Kind::other);
        if (!a || !b) return;
        stop = 0;
        begin(b, do_wait);
        CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_TimePeriod(5000)));
        begin(a, do_count_and_call, b->id.raw);
        CHECK_EQUAL(L4_Receive_Timeout(a->id, second).raw, 0xFFD00002);
        stop = 1;
        CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_TimePeriod(500000)));
        CHECK_EQUAL(finish(b).value, a->id.raw);
        CHECK(L4_Set_Timeslice(a->id, L4_TimePeriod(10000), L4_Never));
        pause(3000);
        CHECK_EQUAL(L4_Schedule(a->id, keep, keep, keep, keep, nullptr), L4_SCHEDRESULT_WAITING);
        if (goes) {
            remove(b);
            CHECK(finish(a).value & error_bit);
            CHECK_EQUAL(a->out.error, no_partner);
        } else {
            ask(b, do_send, a->id.raw, label << 16, second.raw);
            CHECK_EQUAL(finish(a).value, label << 16);
        }
    }
}

constinit volatile Word partner = 0;

/// What an agent says when it is done (agents.cc).
[[noreturn]] void started()
{
    constexpr Word done_label = 0x0D0E;
    const Word value = do_fault_and_call(partner, 0, 0), error = L4_ErrorCode();
    for (;;) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = done_label << 16 | 2});
        L4_LoadMR(1, value);
        L4_LoadMR(2, error);
        L4_Call(main_id);
    }
}

/// It has waited for nothing but its start before; moving it, or giving it another id, ends its wait.
void ends_when_it_changes()
{
    for (const bool moves : both) {
        Agent *b = agent(Kind::other), *a = b ? create(L4_nilthread, Kind::other) : nullptr,
              *there = agent(Kind::other);
        if (!a || !there) return;
        if (moves && a->utcb_area != there->utcb_area) continue; // UTCBs keep their addresses
        partner = b->id.raw;
        begin(b, do_wait);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2});
        L4_LoadMR(1, reinterpret_cast<Word>(started));
        L4_LoadMR(2, stack_of(a));
        CHECK(L4_IpcSucceeded(L4_Send_Timeout(a->id, second)));
        finish(b);
        CHECK_EQUAL(b->out.value, a->id.raw);
        const Word version = L4_Version(a->id) + 1;
        const L4_ThreadId_t other = L4_GlobalId(L4_ThreadNo(a->id), version % 64 ? version : version + 1);
        CHECK(L4_ThreadControl(moves ? a->id : other, moves ? there->id : a->id, L4_nilthread, L4_nilthread,
                               reinterpret_cast<void *>(-1)));
        if (!moves) a->id = other;
        CHECK(finish(a).value & error_bit);
        CHECK_EQUAL(a->out.error, canceled);
    }
}

} // namespace

const Test open_tests[] = {
    {"open.registers", registers},
    {"open.cancels", cancels},
    {"open.halted", halted},
    {"open.partner_goes", partner_goes},
    {"open.partner_renamed", partner_renamed},
    {"open.takes_no_items", takes_no_items},
    {"open.propagated", propagated},
    {"open.another_quantum", another_quantum},
    {"open.ends_when_it_changes", ends_when_it_changes},
    {nullptr, nullptr},
};

} // namespace x2test
