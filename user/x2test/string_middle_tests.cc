// SPDX-License-Identifier: BSD-2-Clause
// What can happen in the middle of a transfer (manual 5.6, 2.3): abort, the end of a thread, changed mappings, tags,
// priorities and registers. Main answers no fault until it serves both sides, so that a transfer stays in its first
// one.
#include "strings.h"

namespace x2test {
namespace {

using namespace strings;

/// A transfer that has moved one page and waits for main to answer a fault of the sender or of the receiver.
struct Stuck {
    Agent *s, *r;
    explicit Stuck(bool in_sender, Agent *sender = nullptr, Agent *receiver = nullptr)
        : s(sender ? sender : agent(Kind::other)), r(receiver ? receiver : agent(Kind::other))
    {
        if (!s || !r) return;
        prepare(all);
        expect(0, 0, page_size);
        if (in_sender) lose(s, source(page_size), 1);
        else lose(r, target(page_size), 1);
        start(s, r);
        pause(3000);
    }
    bool under_way() const
    {
        return s && r && L4_Schedule(s->id, ~0u, ~0u, ~0u, ~0u, nullptr) == L4_SCHEDRESULT_SENDING &&
               L4_Schedule(r->id, ~0u, ~0u, ~0u, ~0u, nullptr) == L4_SCHEDRESULT_RECEIVING;
    }
};

Word do_control(Word id, Word control, Word) { return __L4_Exregs(L4_ThreadId_t{.raw = id}, control, 0, 0, 0); }

/// ExchangeRegisters by a thread of the sender's or the receiver's space, whose answer waits for main.
void control_by(Agent *mate, const Agent *dest, Word control)
{
    begin(mate, do_control, dest->id.raw, control);
    pause(3000);
}

void abort_side(bool sender_aborts, bool in_sender)
{
    Agent *s = agent(Kind::other), *r = agent(Kind::other);
    if (!s || !r) return;
    Agent *mate = agent_beside(sender_aborts ? s : r);
    if (!mate) return;
    ask(mate, do_nothing);
    const Stuck stuck(in_sender, s, r);
    CHECK(stuck.under_way());
    Agent *dest = sender_aborts ? s : r;
    // Its other phase is not under way: nothing happens.
    control_by(mate, dest, sender_aborts ? L4_EXREGS_RECV : L4_EXREGS_SEND);
    CHECK(stuck.under_way());
    CHECK_EQUAL(L4_Schedule(mate->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_PENDING_SEND);
    CHECK(L4_IpcSucceeded(L4_Receive_Timeout(mate->id, second)));
    Word old;
    L4_StoreMR(1, &old);
    CHECK_EQUAL(old, sender_aborts ? L4_EXREGS_SEND : L4_EXREGS_RECV);
    control_by(mate, dest, sender_aborts ? L4_EXREGS_SEND : L4_EXREGS_RECV);
    finish(mate);
    wait(s, r);
    CHECK(strings::failed(aborted, aborted, page_size));
    CHECK(target_as_expected());
    // Both are as good as new.
    prepare(all);
    expect(0, 0, all);
    transfer(s, r);
    CHECK(arrived());
    CHECK(target_as_expected());
    remove(mate), remove(s), remove(r);
}
void aborted_by_sender() { abort_side(true, true), abort_side(true, false); }
void aborted_by_receiver() { abort_side(false, true), abort_side(false, false); }

/// A halted thread's transfer goes on; afterwards it runs no instruction.
void halted_in_the_middle()
{
    for (int i = 0; i < 4; i++) {
        Agent *s = agent(Kind::other), *r = agent(Kind::other);
        if (!s || !r) return;
        Agent *halts = i & 1 ? s : r, *other = i & 1 ? r : s;
        Agent *mate = agent_beside(halts);
        if (!mate) return;
        ask(mate, do_nothing);
        const Stuck stuck(i & 2, s, r);
        control_by(mate, halts, L4_EXREGS_SETHALT | L4_EXREGS_HALT);
        CHECK(stuck.under_way());
        expect(0, 0, all);
        finish(mate);
        CHECK(finish(other).done);
        CHECK(target_as_expected());
        CHECK(!finish(halts, true).done);
        control_by(mate, halts, L4_EXREGS_SETHALT);
        wait(s, r);
        CHECK(arrived());
        finish(mate);
        remove(mate), remove(s), remove(r);
    }
}

/// The end of one thread aborts the transfer for the other.
void deleted_in_the_middle()
{
    for (int i = 0; i < 4; i++) {
        const Stuck stuck(i & 2);
        CHECK(stuck.under_way());
        Agent *goes = i & 1 ? stuck.s : stuck.r, *stays = i & 1 ? stuck.r : stuck.s;
        remove(goes);
        CHECK(finish(stays).done);
        CHECK_EQUAL(i & 1 ? message.got_error : message.sent_error, page_size << 4 | aborted << 1 | (i & 1));
        CHECK(target_as_expected());
        remove(stays);
    }
}

/// So does a new version of its id.
void renamed_in_the_middle()
{
    const Stuck stuck(true);
    CHECK(stuck.under_way());
    const L4_ThreadId_t renamed = L4_GlobalId(L4_ThreadNo(stuck.s->id), L4_Version(stuck.s->id) ^ 0x2000);
    CHECK(L4_ThreadControl(renamed, stuck.s->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    stuck.s->id = renamed;
    wait(stuck.s, stuck.r);
    CHECK(strings::failed(aborted, aborted, page_size));
}

/// Pages that go away while a transfer waits are found missing, wherever it goes on: also those already used.
void unmapped_in_the_middle()
{
    for (int i = 0; i < 2; i++) {
        const Stuck stuck(i);
        CHECK(stuck.under_way());
        L4_Flush(L4_FpageLog2(reinterpret_cast<Word>(arena), 16) + L4_NoAccess);
        for (Word page = 0; page < arena_pages; page++) L4_Unmap(page_at(arena_page(page), L4_FullyAccessible));
        expect(0, 0, all);
        wait(stuck.s, stuck.r);
        CHECK(arrived());
        CHECK(target_as_expected());
        remove(stuck.s), remove(stuck.r);
    }
}

/// A space that becomes large or small meanwhile, also in a slot that the other one has left.
void tags_change_in_the_middle()
{
    for (int i = 0; i < 4; i++) {
        const Stuck stuck(i & 2);
        CHECK(stuck.under_way());
        Agent *changes = i & 1 ? stuck.s : stuck.r, *other = i & 1 ? stuck.r : stuck.s;
        const Word slot = small_number(changes);
        if (slot) {
            make_large(changes);
            CHECK_EQUAL(small_number(changes), 0);
            CHECK(make_small(other, 3));
        } else {
            CHECK(make_small(changes, 2) || !small_spaces());
        }
        expect(0, 0, all);
        wait(stuck.s, stuck.r);
        CHECK(arrived());
        CHECK(target_as_expected());
        remove(stuck.s), remove(stuck.r);
    }
}

void priorities_change_in_the_middle()
{
    const Stuck stuck(true);
    CHECK(stuck.under_way());
    L4_Set_Priority(stuck.s->id, 200);
    L4_Set_Priority(stuck.r->id, 20);
    expect(0, 0, all);
    wait(stuck.s, stuck.r);
    CHECK(arrived());
    CHECK(target_as_expected());
}

Word do_plain_send(Word to, Word timeout, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 0x33 << 16});
    const L4_MsgTag_t tag =
        L4_Send_Timeout(L4_ThreadId_t{.raw = to}, L4_Time_t{.raw = static_cast<L4_Word16_t>(timeout)});
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// No other thread reaches the two meanwhile.
void partners_are_locked()
{
    Agent *third = agent(Kind::other);
    if (!third) return;
    for (int i = 0; i < 2; i++) {
        const Stuck stuck(i);
        CHECK(stuck.under_way());
        const Agent *both[] = {stuck.s, stuck.r};
        for (const Agent *locked : both) {
            begin(third, do_plain_send, locked->id.raw, L4_ZeroTime.raw);
            CHECK(L4_IpcSucceeded(L4_Receive_Timeout(third->id, second)));
            Word error;
            L4_StoreMR(1, &error);
            CHECK_EQUAL(error, 2);
        }
        expect(0, 0, all);
        wait(stuck.s, stuck.r);
        CHECK(arrived());
        CHECK(target_as_expected());
        remove(stuck.s), remove(stuck.r);
    }
}

/// What stands in the registers of a sender or receiver may change while its transfer waits. The kernel has read what
/// it goes by; what it reads later it believes no more than the first.
Word do_scribble(Word utcb, Word, Word seed)
{
    Random random(seed);
    auto *words = reinterpret_cast<volatile Word *>(utcb);
    for (int i = 1; i < 64; i++) words[i] = random.next();
    for (int i = 0; i < 33; i++) words[-16 - i] = random.next();
    return 0;
}
void registers_change_in_the_middle()
{
    for (Word i = 0; i < 16; i++) {
        Agent *s = agent(Kind::other), *r = agent(Kind::other);
        if (!s || !r) return;
        Agent *by_s = agent_beside(s), *by_r = agent_beside(r);
        if (!by_s || !by_r) return;
        ask(by_s, do_nothing), ask(by_r, do_nothing);
        clear(), fill();
        for (Word n = 0; n < 12; n++) send(source(n * 1000), 900), accept(target(n * 1000), 900);
        message.send_xfer = L4_Timeouts(short_time, L4_Never);
        lose(s, source(page_size), 1);
        lose(r, target(page_size), 1);
        start(s, r);
        pause(1000);
        begin(by_s, do_scribble, s->local.raw, 0, i + 1);
        begin(by_r, do_scribble, r->local.raw, 0, i + 100);
        pause(1000);
        finish(by_s), finish(by_r);
        wait(s, r);
        CHECK(s->out.done && r->out.done);
        remove(by_s), remove(by_r), remove(s), remove(r);
    }
}

} // namespace

const Test string_middle_tests[] = {
    {"string_middle.aborted_by_sender", aborted_by_sender},
    {"string_middle.aborted_by_receiver", aborted_by_receiver},
    {"string_middle.halted", halted_in_the_middle},
    {"string_middle.deleted", deleted_in_the_middle},
    {"string_middle.renamed", renamed_in_the_middle},
    {"string_middle.unmapped", unmapped_in_the_middle},
    {"string_middle.tags_change", tags_change_in_the_middle},
    {"string_middle.priorities_change", priorities_change_in_the_middle},
    {"string_middle.partners_are_locked", partners_are_locked},
    {"string_middle.registers_change", registers_change_in_the_middle},
    {nullptr, nullptr},
};

} // namespace x2test
