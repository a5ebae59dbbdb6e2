// SPDX-License-Identifier: BSD-2-Clause
// What takes the kernel long lets others run meanwhile (docs/preemption.md), and comes to the same end whatever they
// do.
//
// Main runs above all agents and is woken by the clock: while an agent is in a long system call, main counts how often.
#include "forest.h"

#include <cobnut/audit.h>

namespace x2test {
namespace {

constexpr Word kernel_patience = 1000; ///< wakes
constinit volatile Word landed = 0;

cobnut::Audit books() { return cobnut::audit(); }

bool runs(const Agent *a) { return L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr) == L4_SCHEDRESULT_RUNNING; }

/// How often main is woken while the agent is busy with a system call.
Word wakes_during(Agent *a)
{
    Word woken = 0;
    for (; woken < kernel_patience; woken++) {
        pause(1000);
        if (!runs(a)) break;
    }
    return woken;
}

Word do_land(Word, Word, Word);
Word do_stop(Word id, Word, Word) { return L4_Stop(L4_ThreadId_t{.raw = id}).raw; }
Word do_send_to_landing(Word id, Word stack, Word)
{
    L4_Start_SpIp(L4_ThreadId_t{.raw = id}, stack, reinterpret_cast<Word>(do_land));
    return 0;
}
Word do_land(Word, Word, Word)
{
    landed = 1;
    for (;;) L4_Sleep(L4_Never);
}

void unmap_is_preempted()
{
    const Forest forest;
    if (!forest.complete()) return;
    ask(forest.left, do_write, base + 5 * page_size, 1);
    const Word before = books().objects;
    begin(forest.root, do_flush, region(first_log2).raw, 0);
    const Word woken = wakes_during(forest.root);
    const L4_Fpage_t status = {.raw = finish(forest.root).value};
    CHECK(woken >= 2);
    CHECK(L4_WasReferenced(status) && L4_WasWritten(status));
    CHECK_EQUAL(before - books().objects, many_pages);
    CHECK_EQUAL(books().faults, 0);
    CHECK(forest.gone());
    // reported once
    CHECK_EQUAL(L4_Rights(L4_Fpage_t{.raw = ask(forest.root, do_flush, region(first_log2, 0).raw, 0).value}), 0);
}

/// Many fpages, one page each, and the empty rest of the space.
void unmap_of_a_range_is_preempted()
{
    const Forest forest;
    if (!forest.complete()) return;
    const Word before = books().objects;
    begin(forest.left, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0);
    CHECK(wakes_during(forest.left) >= 2);
    finish(forest.left);
    CHECK_EQUAL(books().faults, 0);
    CHECK(before - books().objects >= many_pages - 2 * 16);
    CHECK(faults_on_read(forest.right, base) && !faults_on_read(forest.left, base));
}

/// The caller is deleted in the middle of it. What it has removed stays removed, the rest stays.
void unmapper_is_deleted()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.root);
    if (!mate) return;
    const Word before = books().objects;
    begin(mate, do_flush, region(first_log2).raw, 0);
    pause(2000);
    remove(mate);
    const cobnut::Audit middle = books();
    CHECK_EQUAL(middle.faults, 0);
    CHECK(before - middle.objects > 100 && before - middle.objects < many_pages);
    CHECK(!faults_on_read(forest.root, base));
    ask(forest.root, do_flush, region(first_log2).raw, 0);
    CHECK(forest.gone());
    CHECK_EQUAL(books().faults, 0);
}

/// Halted, it comes to its end; sent elsewhere, it goes there after its end.
void unmapper_is_redirected()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.root), *other = agent_beside(forest.root);
    if (!mate || !other) return;
    CHECK(L4_Set_Priority(other->id, 200));
    const Word before = books().objects;
    landed = 0;
    begin(mate, do_flush, region(first_log2).raw, 0);
    pause(2000);
    ask(other, do_stop, mate->id.raw);
    ask(other, do_send_to_landing, mate->id.raw, stack_of(mate));
    CHECK(!landed);
    ask(other, do_stop, mate->id.raw);
    for (int i = 0; i < 100 && before - books().objects < many_pages; i++) pause(10000);
    CHECK_EQUAL(before - books().objects, many_pages);
    CHECK(!landed);
    ask(other, do_send_to_landing, mate->id.raw, stack_of(mate));
    pause(2000);
    CHECK(landed);
    CHECK_EQUAL(books().faults, 0);
    CHECK(forest.gone());
}

/// In another space it unmaps nothing.
void unmapper_migrates()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.left);
    if (!mate) return;
    begin(mate, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0x40);
    pause(2000);
    const Word before = books().objects;
    CHECK(runs(mate));
    CHECK(L4_ThreadControl(mate->id, forest.root->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    pause(60000);
    CHECK_EQUAL(books().objects, before);
    CHECK_EQUAL(books().faults, 0);
    CHECK(!faults_on_read(forest.root, base));
}

/// Halted in the middle of it, it stays halted there.
void halted_unmapper_migrates()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.left), *other = agent_beside(forest.left);
    if (!mate || !other) return;
    CHECK(L4_Set_Priority(other->id, 200));
    begin(mate, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0x40);
    pause(2000);
    CHECK(runs(mate));
    ask(other, do_stop, mate->id.raw);
    CHECK(L4_ThreadControl(mate->id, forest.root->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(-1)));
    CHECK_EQUAL(books().faults, 0);
    pause(2000);
    CHECK_EQUAL(L4_Schedule(mate->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_INACTIVE);
}

constexpr Word tables_at_least = 32; ///< pages of kernel memory for the pages that `left` has

void deletion_is_preempted()
{
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    const cobnut::Audit before = books();
    begin(deleter, do_delete, forest.left->id.raw);
    pause(1000);
    CHECK_EQUAL(books().faults, 0);
    CHECK(books().objects < before.objects && before.objects - books().objects < many_pages);
    CHECK_EQUAL(L4_Schedule(forest.left->id, ~0u, ~0u, ~0u, ~0u, nullptr), 0); // the thread is gone already
    CHECK(wakes_during(deleter) >= 1); // with the pause, twice
    CHECK_EQUAL(finish(deleter).value, 1);
    const cobnut::Audit after = books();
    CHECK_EQUAL(after.faults, 0);
    CHECK(before.objects - after.objects > many_pages && before.pages - after.pages > tables_at_least);
    CHECK(faults_on_read(forest.right, base) && !faults_on_read(forest.root, base));
}

/// A thread that deletes the deleter has the rest to do.
void deleter_is_deleted()
{
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    const cobnut::Audit before = books();
    begin(deleter, do_delete, forest.left->id.raw);
    pause(2000);
    CHECK(runs(deleter));
    remove(deleter);
    const cobnut::Audit after = books();
    CHECK_EQUAL(after.faults, 0);
    CHECK(before.objects - after.objects > many_pages && before.pages - after.pages > tables_at_least);
}

/// Halted, it comes to its end; others can delete meanwhile.
void deleter_is_halted()
{
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    const cobnut::Audit before = books();
    landed = 0;
    begin(deleter, do_delete, forest.left->id.raw);
    pause(2000);
    L4_Stop(deleter->id);
    remove(forest.right);
    for (int i = 0; i < 100 && before.objects - books().objects < many_pages; i++) pause(10000);
    CHECK(before.objects - books().objects > many_pages);
    L4_Start_SpIp(deleter->id, stack_of(deleter), reinterpret_cast<Word>(do_land));
    pause(20000);
    CHECK(landed);
    CHECK_EQUAL(books().faults, 0);
}

// ------------------------------------------------------------------------------------------------------- large maps
bool is_sending(const Agent *a) { return L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr) == L4_SCHEDRESULT_SENDING; }

/// Waits until it does: what is woken by the clock may come before those that have just been started.
bool comes_to_send(const Agent *a)
{
    for (Word waits = 0; waits < kernel_patience; waits++) {
        if (is_sending(a)) return true;
        pause(1000);
    }
    return false;
}

constexpr Word aborted_send = 14, aborted_receive = 15;

/// `left` maps all that it has to `root`.
void begin_to_map(const Forest &forest)
{
    begin(forest.root, do_take_all, forest.left->id.raw);
    begin(forest.left, do_give_all, forest.root->id.raw);
}

void map_is_preempted()
{
    const Forest forest;
    if (!forest.complete()) return;
    const Word before = books().objects;
    begin_to_map(forest);
    CHECK(comes_to_send(forest.left));
    Word woken = 0;
    for (; woken < kernel_patience; woken++) {
        pause(1000);
        if (!is_sending(forest.left)) break;
        CHECK_EQUAL(L4_Schedule(forest.root->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_RECEIVING);
        if (woken == 0) CHECK_EQUAL(books().faults, 0); // takes long itself
    }
    CHECK(woken >= 2);
    CHECK_EQUAL(finish(forest.left).value, 0);
    CHECK_EQUAL(finish(forest.root).value, 0);
    CHECK_EQUAL(books().objects - before, whole_pages);
    for (Word n = 0; n < whole_pages; n += 997) CHECK(!faults_on_read(forest.root, to_base + n * page_size));
    CHECK_EQUAL(books().faults, 0);
}

/// Either of the two goes away, or its IPC is canceled: the other learns of it, and what has been mapped stays.
void mapping_is_aborted()
{
    for (int how = 0; how < (wish.limits ? 2 : 4); how++) { // Bochs takes its time
        const Forest forest;
        if (!forest.complete()) return;
        Agent *one = how & 1 ? forest.left : forest.root, *other = how & 1 ? forest.root : forest.left;
        Agent *mate = agent_beside(one);
        if (!mate) return;
        const Word before = books().objects;
        begin_to_map(forest);
        pause(2000);
        CHECK(is_sending(forest.left));
        if (how & 2) {
            CHECK(L4_Set_Priority(mate->id, 200));
            ask(mate, do_stop, one->id.raw);
            ask(mate, do_send_to_landing, one->id.raw, stack_of(one));
        } else {
            remove(one);
        }
        CHECK_EQUAL(finish(other).value, other == forest.left ? aborted_send : aborted_receive);
        CHECK(books().objects - before < whole_pages && books().objects - before > 100);
        CHECK_EQUAL(books().faults, 0);
        remove(mate);
        if (how & 2) remove(one);
        remove(other);
        remove(forest.right);
        CHECK_EQUAL(books().faults, 0);
    }
}

/// A pager's answer: all that it has.
Word do_answer_fault(Word of, Word, Word)
{
    const L4_ThreadId_t faulting = {.raw = of};
    if (L4_IpcFailed(L4_Receive_Timeout(faulting, second))) return ~0u;
    load_all(to_base);
    return L4_IpcFailed(L4_Send_Timeout(faulting, second)) ? L4_ErrorCode() : 0;
}

Word do_fault(Word pager, Word address, Word)
{
    L4_Set_Pager(L4_ThreadId_t{.raw = pager});
    const Word found = *reinterpret_cast<volatile Word *>(address);
    L4_Set_Pager(main_id);
    return found;
}

void page_fault_answer_is_preempted()
{
    const Forest forest;
    if (!forest.complete()) return;
    arena_word(3) = 0x33330003;
    begin(forest.left, do_answer_fault, forest.root->id.raw);
    begin(forest.root, do_fault, forest.left->id.raw, to_base + 3 * page_size);
    CHECK(comes_to_send(forest.left));
    Word woken = 0;
    for (; woken < kernel_patience; woken++) {
        pause(1000);
        if (!is_sending(forest.left)) break;
        if (woken == 0) CHECK_EQUAL(books().faults, 0); // takes long itself
    }
    CHECK(woken >= 2);
    CHECK_EQUAL(finish(forest.left).value, 0);
    CHECK_EQUAL(finish(forest.root).value, 0x33330003);
    CHECK_EQUAL(books().faults, 0);
}

/// The pager's IPC is canceled in the middle of its answer: the fault waits for another answer, and gets it.
void page_fault_answer_is_aborted()
{
    const Forest forest;
    if (!forest.complete()) return;
    Agent *mate = agent_beside(forest.left);
    if (!mate) return;
    arena_word(3) = 0x33330004;
    CHECK(L4_Set_Priority(mate->id, 200));
    begin(forest.left, do_answer_fault, forest.root->id.raw);
    begin(forest.root, do_fault, forest.left->id.raw, to_base + (whole_pages - 13) * page_size);
    pause(2000);
    CHECK(is_sending(forest.left));
    ask(mate, do_stop, forest.left->id.raw);
    ask(mate, do_send_to_landing, forest.left->id.raw, stack_of(forest.left));
    CHECK_EQUAL(L4_Schedule(forest.root->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
    CHECK_EQUAL(books().faults, 0);
    remove(forest.left); // a pager that is gone: halted
    pause(1000);
    CHECK_EQUAL(L4_Schedule(forest.root->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_INACTIVE);
    CHECK_EQUAL(books().faults, 0);
}

/// The same answer to a fault in the middle of a string, which then goes on.
Word do_send_string(Word to, Word pager, Word address)
{
    L4_Set_XferTimeouts(0);
    L4_Set_Pager(L4_ThreadId_t{.raw = pager});
    L4_Msg_t message;
    L4_MsgClear(&message);
    L4_MsgAppendSimpleStringItem(&message, L4_StringItem(page_size, reinterpret_cast<void *>(address)));
    L4_MsgLoad(&message);
    const L4_MsgTag_t tag = L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second);
    const Word error = L4_ErrorCode();
    L4_Set_Pager(main_id);
    return L4_IpcFailed(tag) ? error : 0;
}

Word do_receive_string(Word from, Word address, Word)
{
    L4_Set_XferTimeouts(0);
    L4_MsgBuffer_t buffers;
    L4_MsgBufferClear(&buffers);
    L4_MsgBufferAppendSimpleRcvString(&buffers, L4_StringItem(page_size, reinterpret_cast<void *>(address)));
    L4_AcceptStrings(L4_StringItemsAcceptor, &buffers);
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    const Word error = L4_ErrorCode();
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? error : 0;
}

void fault_of_a_string_is_answered()
{
    for (int how = wish.limits; how < 2; how++) { // Bochs takes its time
        const bool aborted = how == 1;
        const Forest forest;
        Agent *receiver = agent(Kind::other);
        if (!forest.complete() || !receiver) return;
        arena_word(2) = 0x22220002;
        arena_word(9) = 0;
        begin(forest.left, do_answer_fault, forest.root->id.raw);
        begin(receiver, do_receive_string, forest.root->id.raw, arena_page(9));
        begin(forest.root, do_send_string, receiver->id.raw, forest.left->id.raw, to_base + 2 * page_size);
        pause(2000);
        CHECK(is_sending(forest.left) && is_sending(forest.root));
        CHECK_EQUAL(books().faults, 0);
        if (aborted) remove(receiver);
        CHECK_EQUAL(finish(forest.left).value, aborted ? aborted_send : 0);
        CHECK_EQUAL(finish(forest.root).value, aborted ? aborted_send : 0);
        if (!aborted) {
            CHECK_EQUAL(finish(receiver).value, 0);
            CHECK_EQUAL(arena_word(9), 0x22220002);
            remove(receiver);
        }
        remove(forest.left), remove(forest.right), remove(forest.root);
        CHECK_EQUAL(books().faults, 0);
    }
}

// -------------------------------------------------------------------------------------------------- chains of senders
constexpr unsigned chain_length = 8;

/// Sends to `to`, then receives from any thread; the sum of both words if that was in one IPC.
Word do_pass_on(Word to, Word value, Word)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, value);
    L4_ThreadId_t from;
    const L4_MsgTag_t tag = L4_Ipc(L4_ThreadId_t{.raw = to}, L4_anythread, L4_Timeouts(second, second), &from);
    Word got;
    L4_StoreMR(1, &got);
    return L4_IpcFailed(tag) ? ~0u : got;
}

bool send_word(const Agent *to, Word value)
{
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 1});
    L4_LoadMR(1, value);
    return L4_IpcSucceeded(L4_Send_Timeout(to->id, second));
}

Word do_take_word(Word from, Word, Word)
{
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    Word got;
    L4_StoreMR(1, &got);
    return L4_IpcFailed(tag) ? ~0u : got;
}

/// Each waits to send to the one before it, and receives from the one behind it afterwards.
void chain_moves_on()
{
    Agent *chain[chain_length];
    for (Agent *&one : chain)
        if (!(one = agent(Kind::other))) return;
    for (unsigned i = 1; i < chain_length; i++) begin(chain[i], do_pass_on, chain[i - 1]->id.raw, 100 + i);
    pause(2000);
    begin(chain[0], do_take_word, chain[1]->id.raw);
    CHECK_EQUAL(finish(chain[0]).value, 101);
    for (unsigned i = 1; i + 1 < chain_length; i++) CHECK_EQUAL(finish(chain[i]).value, 101 + i);
    Agent *last = chain[chain_length - 1];
    CHECK(send_word(last, 7));
    CHECK_EQUAL(finish(last).value, 7);
    CHECK_EQUAL(books().faults, 0);
}

/// A chain whose second one is to receive when it runs next: until then its IPC can be canceled, it or its sender can
/// be deleted, and it can be halted.
void chain_is_cut()
{
    enum { canceled, deleted, sender_deleted, halted, ways };
    constexpr Word cancel_receive = 2, receive_canceled = 7, no_partner = 4;
    for (int way = 0; way < ways; way++) {
        Agent *first = agent(Kind::here), *other = agent(Kind::here);
        if (!first || !other) return;
        begin(first, do_pass_on, main_id.raw, 1);
        begin(other, do_pass_on, first->id.raw, 2);
        pause(2000);
        CHECK(L4_IpcSucceeded(L4_Receive_Timeout(first->id, L4_ZeroTime)));
        Word state = 0;
        const bool cancels = way == canceled;
        L4_ExchangeRegisters(first->id, cancels ? cancel_receive : 0, 0, 0, 0, 0, L4_nilthread, &state, nullptr,
                             nullptr, nullptr, nullptr, nullptr);
        CHECK_EQUAL(state, cancel_receive); // it counts as receiving
        if (way == deleted) remove(first);
        if (way == sender_deleted) remove(other);
        if (way == halted) L4_Stop(first->id);
        CHECK_EQUAL(books().faults, 0);
        if (way == canceled) CHECK_EQUAL(finish(first).error, receive_canceled);
        if (way == deleted) CHECK_EQUAL(finish(other).error, no_partner);
        if (way == sender_deleted) CHECK(send_word(first, 3));
        if (way == halted) {
            pause(2000);
            L4_Start(first->id);
        }
        if (way == sender_deleted || way == halted) CHECK_EQUAL(finish(first).value, way == halted ? 2 : 3);
        if (way != deleted) remove(first);
        if (way != sender_deleted) remove(other);
        CHECK_EQUAL(books().faults, 0);
    }
}

} // namespace

const Test long_tests[] = {
    {"long.unmap_is_preempted", unmap_is_preempted},
    {"long.unmap_of_a_range_is_preempted", unmap_of_a_range_is_preempted},
    {"long.unmapper_is_deleted", unmapper_is_deleted},
    {"long.unmapper_is_redirected", unmapper_is_redirected},
    {"long.unmapper_migrates", unmapper_migrates},
    {"long.halted_unmapper_migrates", halted_unmapper_migrates},
    {"long.deletion_is_preempted", deletion_is_preempted},
    {"long.deleter_is_deleted", deleter_is_deleted},
    {"long.deleter_is_halted", deleter_is_halted},
    {"long.map_is_preempted", map_is_preempted},
    {"long.mapping_is_aborted", mapping_is_aborted},
    {"long.page_fault_answer_is_preempted", page_fault_answer_is_preempted},
    {"long.page_fault_answer_is_aborted", page_fault_answer_is_aborted},
    {"long.fault_of_a_string_is_answered", fault_of_a_string_is_answered},
    {"long.chain_moves_on", chain_moves_on},
    {"long.chain_is_cut", chain_is_cut},
    {nullptr, nullptr},
};

} // namespace x2test
