// SPDX-License-Identifier: BSD-2-Clause
// Strings that meet page faults on their way, and transfer timeouts (manual 5.6). Main is the pager of both sides and
// answers no fault until it serves them: a transfer that start() began stays in its first fault until wait().
#include "crowd.h"
#include "strings.h"

namespace x2test {
namespace {

using namespace strings;

/// Every page of one side, then of both, faults once: data and result are as if none had.
void faults_at_each_page(Kind from, Kind to)
{
    Agent *s = agent(from), *r = agent(to);
    if (!s || !r) return;
    for (Word sides = 1; sides < 4; sides++)
        for (Word page = 0; page <= pages; page++) {
            prepare(all, 5, 1000);
            expect(1000, 5, all);
            // Page `pages` stands for: all of them.
            const Word first = page < pages ? page : 0, count = page < pages ? 1 : pages + 1;
            if (sides & 1) lose(s, source() + first * page_size, count);
            if (sides & 2) lose(r, target() + first * page_size, count);
            transfer(s, r);
            CHECK(arrived());
            CHECK(target_as_expected());
        }
}
void each_page_large_large() { faults_at_each_page(Kind::large, Kind::large); }
void each_page_small_small() { faults_at_each_page(Kind::small, Kind::small); }
void each_page_large_small() { faults_at_each_page(Kind::large, Kind::small); }
void each_page_small_large() { faults_at_each_page(Kind::small, Kind::large); }

/// Sender and receiver fault at the same place of a string, in the middle of a word.
void faults_in_a_word()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    for (Word shift = 0; shift < 4; shift++) {
        prepare(9, page_size - 5 + shift, page_size - 2 - shift);
        expect(page_size - 2 - shift, page_size - 5 + shift, 9);
        lose(s, source(), 2);
        lose(r, target(), 2);
        transfer(s, r);
        CHECK(arrived());
        CHECK(target_as_expected());
    }
}

/// The pager is told the very byte that is needed, to be read in the sender's space and written in the receiver's.
void fault_messages()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    clear(), fill();
    send(free_area + 0x123, 2 * page_size);
    accept(target(), half);
    transfer(s, r);
    CHECK(arrived());
    CHECK_EQUAL(s->out.faults, 3);
    CHECK_EQUAL(r->out.faults, 0);
    CHECK_EQUAL(s->out.fault_address, free_area + 0x123);
    CHECK_EQUAL(s->out.fault_tag & 0xFFF2FFFF, 0xFFE00002);
    scratch_reset();
    clear(), fill();
    send(source(), 2 * page_size);
    accept(free_area + 0xFFF, half);
    transfer(s, r);
    CHECK(arrived());
    CHECK_EQUAL(s->out.faults, 0);
    CHECK_EQUAL(r->out.faults, 3);
    CHECK_EQUAL(r->out.fault_address, free_area + 0xFFF);
    CHECK_EQUAL(r->out.fault_tag & 0xFFF2FFFF, 0xFFE20002);
}

/// A page that is there to be read only is enough for a source, not for a buffer.
void read_only_pages()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(page_size);
    message.buffers.raw[1] = free_area;
    message.msg.raw[2] = free_area;
    give_page(s, 0, free_area, L4_Readable);
    give_page(r, arena_pages / 2, free_area, L4_Readable);
    transfer(s, r);
    CHECK(arrived());
    CHECK_EQUAL(s->out.faults, 0);
    CHECK_EQUAL(r->out.faults, 1);
    CHECK(r->out.write_fault());
}

/// What the kernel copies counts as read and written, as Unmap reports it.
void status_of_pages()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(100);
    const Word ask_status = 0;
    ask(s, do_flush, page_at(source(), ask_status).raw, 0);
    ask(r, do_flush, page_at(target(), ask_status).raw, 0);
    CHECK_EQUAL(ask(s, do_flush, page_at(source(), ask_status).raw, 0).value & 7, 0);
    CHECK_EQUAL(ask(r, do_flush, page_at(target(), ask_status).raw, 0).value & 7, 0);
    transfer(s, r);
    CHECK(arrived());
    CHECK_EQUAL(ask(s, do_flush, page_at(source(), ask_status).raw, 0).value & 7, L4_Readable | L4_eXecutable);
    CHECK_EQUAL(ask(r, do_flush, page_at(target(), ask_status).raw, 0).value & 7, L4_FullyAccessible);
}

/// As long as a string can be, across the limit of a small space; and strings of 31 such parts.
void longest_string()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    constexpr Word longest = 0x3FFFFF, from = 0x00F00001, to = beyond_small;
    clear();
    send(from, longest);
    accept(to, longest);
    transfer(s, r);
    CHECK(arrived());
    CHECK_EQUAL(s->out.faults, 1024);
    CHECK_EQUAL(r->out.faults, 1024);
    clear();
    send(from, longest);
    accept(to, longest - 1);
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, longest - 1));
}

/// A long transfer lets others run: main wakes up again and again, in the middle of it.
void long_transfers_are_preempted()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    constexpr Word longest = 0x3FFFFF, from = 0x01000801, to = beyond_small, parts = 31;
    clear();
    send(from, longest);
    accept(to, longest);
    transfer(s, r); // all pages are there now
    CHECK(arrived());
    clear();
    message.msg.raw[0] = 0x00010000 | (parts + 1) << 6;
    message.msg.raw[1] = message.buffers.raw[0] = longest << 10 | (parts - 1) << 4;
    for (Word i = 0; i < parts; i++) message.msg.raw[2 + i] = from, message.buffers.raw[1 + i] = to;
    start(s, r);
    // The clock may tick before the sender has come to its call.
    const auto state = [](Agent *a) { return L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr); };
    for (int ticks = 0; ticks < 10 && state(s) == L4_SCHEDRESULT_RUNNING; ticks++) pause(1000);
    unsigned woken = 0;
    for (; woken < 1000 && state(s) == L4_SCHEDRESULT_SENDING; woken++, pause(1000))
        CHECK_EQUAL(state(r), L4_SCHEDRESULT_RECEIVING);
    wait(s, r);
    CHECK(arrived());
    CHECK(woken >= 3);
}

// ---------------------------------------------------------------------------------------------- transfer timeouts

/// Times out on the sender's or the receiver's fault, at a page that has `before` bytes before it.
void time_out(L4_Time_t sender, L4_Time_t receiver, bool in_sender, Word before)
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    message.send_xfer = L4_Timeouts(sender, L4_ZeroTime);      // the other half is not for this phase
    message.receive_xfer = L4_Timeouts(L4_ZeroTime, receiver);
    if (in_sender) lose(s, source() + before, 1);
    else lose(r, target() + before, 1);
    expect(0, 0, before);
    start(s, r);
    pause(40000);
    wait(s, r);
    CHECK(in_sender ? strings::failed(mine, partners, before) : strings::failed(partners, mine, before));
    CHECK(target_as_expected());
    remove(s), remove(r);
}

void zero_timeout_of_sender()
{
    for (Word page = 0; page < pages; page++)
        for (int in_sender = 0; in_sender < 2; in_sender++)
            time_out(L4_ZeroTime, L4_Never, in_sender, page * page_size);
}
void zero_timeout_of_receiver()
{
    for (Word page = 0; page < pages; page++)
        for (int in_sender = 0; in_sender < 2; in_sender++)
            time_out(L4_Never, L4_ZeroTime, in_sender, page * page_size);
}
/// The smaller one counts, wherever the fault is.
void smaller_timeout_counts()
{
    for (int in_sender = 0; in_sender < 2; in_sender++) {
        time_out(short_time, L4_Never, in_sender, page_size);
        time_out(L4_Never, short_time, in_sender, page_size);
        time_out(short_time, second, in_sender, page_size);
        time_out(second, short_time, in_sender, page_size);
    }
}

/// Timeouts of zero are none where no page is missing.
void no_fault_no_timeout()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    expect(0, 0, all);
    message.send_xfer = message.receive_xfer = L4_Timeouts(L4_ZeroTime, L4_ZeroTime);
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
}

/// Faults that are answered in time are no matter, and send and receive timeouts do not count in a transfer.
void answered_in_time()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    expect(0, 0, all);
    message.send_xfer = message.receive_xfer = L4_Timeouts(second, second);
    lose(s, source(), pages);
    lose(r, target(), pages);
    begin(r, do_receive, s->id.raw, short_time.raw);
    begin(s, do_send, r->id.raw, short_time.raw);
    pause(30000);
    wait(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
}

/// The time counts from the first fault and for all of them: the second finds it over.
void one_time_for_all_faults()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    expect(0, 0, page_size);
    message.send_xfer = L4_Timeouts(L4_TimePeriod(60000), L4_Never);
    lose(s, source(), pages);
    lose(r, target(), pages);
    start(s, r);
    // The first two faults are answered, late; the third not before the time is over.
    for (int i = 0; i < 2; i++) {
        pause(20000);
        L4_ThreadId_t from;
        CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw & 0xFFF0FFFF, 0xFFE00002);
        CHECK(from == (i == 0 ? s->id : r->id));
        Word address;
        L4_StoreMR(1, &address);
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
        L4_LoadMR(1, address | 8);
        L4_LoadMR(2, page_at(address, L4_FullyAccessible).raw);
        CHECK(L4_IpcSucceeded(L4_Reply(from)));
    }
    pause(40000);
    wait(s, r);
    CHECK(strings::failed(mine, partners, page_size));
    CHECK(target_as_expected());
}

/// The pager gets one message of a fault, however many wait to send to the faulting thread: to look past them takes so
/// long that an interrupt comes in between, and then the strings wait for the end of that, too.
void fault_before_a_crowd()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    expect(0, 0, all);
    lose(r, target(), 1);
    const Crowd crowd(r->id, L4_nilthread, L4_Never, L4_Never);
    if (!crowd.complete()) return;
    start(s, r);
    pause(20000);
    L4_ThreadId_t from;
    CHECK_EQUAL(L4_Wait_Timeout(second, &from).raw & 0xFFF0FFFF, 0xFFE00002);
    CHECK(from == r->id);
    pause(20000);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, target() | 8);
    L4_LoadMR(2, page_at(target(), L4_FullyAccessible).raw);
    CHECK(L4_IpcSucceeded(L4_Reply(from)));
    wait(s, r);
    CHECK_EQUAL(r->out.faults, 0);
    CHECK(arrived());
    CHECK(target_as_expected());
}

/// A transfer timeout can be a point in time.
void point_of_time()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    lose(s, source(), 1);
    // 2^5 us units: carry bit and 10 bits of the clock 30 ms ahead.
    const Word then = static_cast<Word>((L4_SystemClock().raw + 30000) >> 5);
    message.receive_xfer = 0x8000 | 5u << 11 | (then & 0x7FF);
    start(s, r);
    pause(5000);
    CHECK_EQUAL(L4_Schedule(s->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_SENDING);
    pause(50000);
    wait(s, r);
    CHECK(strings::failed(mine, partners, 0));
}

Word do_orphaned_send(Word to, Word pager, Word)
{
    const L4_ThreadId_t old = L4_Pager();
    L4_Set_Pager(L4_ThreadId_t{.raw = pager});
    do_send(to, second.raw, 0);
    L4_Set_Pager(old);
    return 0;
}

/// A fault that no pager can ever resolve ends the transfer at once, for an endless timeout, too.
void without_a_pager()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    expect(0, 0, page_size);
    lose(s, source(page_size), 1);
    begin(r, do_receive, s->id.raw, second.raw);
    begin(s, do_orphaned_send, r->id.raw, unused_id().raw);
    wait(s, r);
    CHECK(strings::failed(mine, partners, page_size));
    CHECK(target_as_expected());
}

/// Two threads that are each other's pagers get out by the timeout.
void partner_is_pager()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    message.receive_xfer = L4_Timeouts(L4_Never, short_time);
    lose(s, source(page_size), 1);
    begin(r, do_receive, s->id.raw, second.raw);
    begin(s, do_orphaned_send, r->id.raw, r->id.raw);
    wait(s, r);
    CHECK(strings::failed(mine, partners, page_size));
}

/// A receiver that accepts strings only: a fault in its buffer opens no window to a map item behind.
void fault_opens_no_window()
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    prepare(all);
    L4_MsgAppendMapItem(&message.msg, L4_MapItem(page_at(source(), L4_FullyAccessible), free_area));
    lose(r, target(page_size), 1);
    transfer(s, r);
    CHECK(strings::failed(overflow, overflow, all));
    CHECK(faults_on_read(r, free_area));
}

} // namespace

const Test string_fault_tests[] = {
    {"string_fault.zero_timeout_of_sender", zero_timeout_of_sender},
    {"string_fault.zero_timeout_of_receiver", zero_timeout_of_receiver},
    {"string_fault.smaller_timeout_counts", smaller_timeout_counts},
    {"string_fault.one_time_for_all_faults", one_time_for_all_faults},
    {"string_fault.point_of_time", point_of_time},
    {"string_fault.fault_before_a_crowd", fault_before_a_crowd},
    {"string_fault.without_a_pager", without_a_pager},
    {"string_fault.partner_is_pager", partner_is_pager},
    {"string_fault.no_fault_no_timeout", no_fault_no_timeout},
    {"string_fault.answered_in_time", answered_in_time},
    {"string_fault.each_page_large_large", each_page_large_large},
    {"string_fault.each_page_small_small", each_page_small_small},
    {"string_fault.each_page_large_small", each_page_large_small},
    {"string_fault.each_page_small_large", each_page_small_large},
    {"string_fault.faults_in_a_word", faults_in_a_word},
    {"string_fault.fault_messages", fault_messages},
    {"string_fault.read_only_pages", read_only_pages},
    {"string_fault.status_of_pages", status_of_pages},
    {"string_fault.longest_string", longest_string},
    {"string_fault.fault_opens_no_window", fault_opens_no_window},
    {"string_fault.long_transfers_are_preempted", long_transfers_are_preempted},
    {nullptr, nullptr},
};

} // namespace x2test
