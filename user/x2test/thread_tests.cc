// SPDX-License-Identifier: BSD-2-Clause
// ThreadControl, row by row of its table of errors (manual 2.4).
#include "harness.h"

#include <cobnut/account.h>

namespace x2test {
namespace {

void *const unchanged = reinterpret_cast<void *>(-1);

/// Result in bit 31, ErrorCode below: for checks in one word.
Word control(L4_ThreadId_t dest, L4_ThreadId_t space, L4_ThreadId_t scheduler, L4_ThreadId_t pager, void *utcb)
{
    if (L4_ThreadControl(dest, space, scheduler, pager, utcb)) return 0x80000000;
    return L4_ErrorCode();
}
constexpr Word success = 0x80000000;

Word erase(L4_ThreadId_t id) { return control(id, L4_nilthread, L4_nilthread, L4_nilthread, unchanged); }
void *own_utcb(Word n) { return reinterpret_cast<void *>((L4_MyLocalId().raw & ~0x1FFFFu) + n * 512); }

Word do_create(Word id, Word, Word)
{
    const L4_ThreadId_t tid{.raw = id};
    return control(tid, tid, L4_Myself(), L4_nilthread, unchanged);
}
void unprivileged()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(ask(a, do_create, unused_id().raw).value, L4_ErrNoPrivilege);
}

void local_destination()
{
    const Word result = control(L4_MyLocalId(), main_id, main_id, main_id, unchanged);
    CHECK(result == L4_ErrInvalidThread || result == L4_ErrInvalidSpace);
}

void malformed_interrupt()
{
    const L4_ThreadId_t line = L4_GlobalId(3, 1);
    CHECK_EQUAL(control(line, main_id, main_id, main_id, unchanged), L4_ErrInvalidThread);
    CHECK_EQUAL(control(line, line, L4_nilthread, unused_id(), unchanged), L4_ErrInvalidThread);
}

void kernel_threads()
{
    const L4_ThreadId_t id = L4_GlobalId(L4_ThreadIdSystemBase(L4_GetKernelInterface()), 1);
    CHECK_EQUAL(control(id, id, main_id, L4_nilthread, unchanged), L4_ErrInvalidThread);
    CHECK_EQUAL(erase(id), L4_ErrInvalidThread);
}

void delete_nobody() { CHECK_EQUAL(erase(unused_id()), success); }
void delete_self() { CHECK_EQUAL(erase(main_id), L4_ErrInvalidThread); }

void utcb_of_active_thread()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    CHECK_EQUAL(control(a->id, a->id, L4_nilthread, L4_nilthread, own_utcb(250)), L4_ErrUtcbArea);
}

/// Where it is already is no change.
void utcb_stays_where_it_is()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(control(a->id, a->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(a->utcb)), success);
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
    CHECK_EQUAL(control(a->id, a->id, L4_nilthread, L4_nilthread, reinterpret_cast<void *>(a->utcb + 512)),
                L4_ErrUtcbArea);
}

void bad_utcb_location()
{
    const L4_ThreadId_t id = unused_id();
    const auto inside = reinterpret_cast<Word>(own_utcb(200));
    CHECK_EQUAL(control(id, main_id, main_id, main_id, unchanged), L4_ErrUtcbArea);
    CHECK_EQUAL(control(id, main_id, main_id, main_id, reinterpret_cast<void *>(inside + 4)), L4_ErrUtcbArea);
    CHECK_EQUAL(control(id, main_id, main_id, main_id, reinterpret_cast<void *>(inside - 0x100000)), L4_ErrUtcbArea);
    CHECK_EQUAL(control(id, main_id, main_id, main_id, reinterpret_cast<void *>(0xF0000000)), L4_ErrUtcbArea);
    CHECK(L4_IpcFailed(L4_Send_Timeout(id, L4_ZeroTime))); // none of them left a thread behind
    CHECK_EQUAL(L4_ErrorCode(), 4);
}

void bad_space()
{
    const L4_ThreadId_t id = unused_id();
    CHECK_EQUAL(control(id, L4_GlobalId(L4_ThreadNo(id) + 1, 1), main_id, L4_nilthread, unchanged), L4_ErrInvalidSpace);
    CHECK_EQUAL(control(id, L4_GlobalId(L4_ThreadNo(main_id), 2), main_id, L4_nilthread, unchanged),
                L4_ErrInvalidSpace);
    CHECK_EQUAL(control(id, L4_anythread, main_id, L4_nilthread, unchanged), L4_ErrInvalidSpace);
}

void no_scheduler()
{
    const L4_ThreadId_t id = unused_id();
    CHECK_EQUAL(control(id, id, L4_nilthread, L4_nilthread, unchanged), L4_ErrInvalidScheduler);
}

void active_in_new_space()
{
    const L4_ThreadId_t id = unused_id();
    CHECK_EQUAL(control(id, id, main_id, main_id, reinterpret_cast<void *>(utcb_area)), L4_ErrInvalidSpace);
}

void activate_in_bare_space()
{
    const L4_ThreadId_t id = unused_id();
    CHECK_EQUAL(control(id, id, main_id, L4_nilthread, unchanged), success);
    const Word result = control(id, id, main_id, main_id, reinterpret_cast<void *>(utcb_area));
    erase(id);
    CHECK(result == L4_ErrInvalidSpace || result == L4_ErrUtcbArea);
}

/// A thread can be made inactive first and activated later, its UTCB given at either time.
void two_steps()
{
    for (int step = 0; step < 2; step++) {
        const bool early = step == 0;
        const L4_ThreadId_t id = unused_id();
        CHECK_EQUAL(control(id, main_id, main_id, L4_nilthread, early ? own_utcb(240) : unchanged), success);
        const Word state = L4_Schedule(id, ~0u, ~0u, ~0u, ~0u, nullptr);
        const Word result = control(id, id, main_id, main_id, early ? unchanged : own_utcb(240));
        const Word after = L4_Schedule(id, ~0u, ~0u, ~0u, ~0u, nullptr);
        erase(id);
        CHECK(state == L4_SCHEDRESULT_DEAD || state == L4_SCHEDRESULT_INACTIVE);
        CHECK_EQUAL(result, success);
        CHECK_EQUAL(after, L4_SCHEDRESULT_WAITING);
    }
}

void new_version()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    ask(a, do_nothing);
    const L4_ThreadId_t old = a->id, next = L4_GlobalId(L4_ThreadNo(old), (L4_Version(old) + 1) | 1);
    CHECK_EQUAL(control(next, old, L4_nilthread, L4_nilthread, unchanged), success);
    a->id = next;
    CHECK(L4_IpcFailed(L4_Send_Timeout(old, L4_ZeroTime)));
    CHECK_EQUAL(L4_ErrorCode(), 4);
    pause(3000); // its IPC was aborted: it comes back to its receive
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_MyGlobalId().raw; }).value, next.raw);
}

Word do_send_to(Word to, Word, Word)
{
    L4_Set_MsgTag(L4_Niltag);
    return L4_IpcFailed(L4_Send(L4_ThreadId_t{.raw = to})) ? L4_ErrorCode() : 0;
}
/// Waits in vain, and then tells main.
Word do_wait_and_tell(Word, Word, Word)
{
    L4_Receive(main_id);
    return do_send_to(main_id.raw, 0, 0);
}
Word do_rename(Word from, Word to, Word)
{
    return control(L4_ThreadId_t{.raw = to}, L4_ThreadId_t{.raw = from}, L4_nilthread, L4_nilthread, unchanged);
}

/// A thread gets its old version again before the senders that wait under it have been told: they are told all the
/// same, as are those that came under the version in between.
void old_version_again()
{
    constexpr Word no_partner = 4;
    Agent *a = agent(Kind::here), *renames = agent(Kind::here);
    Agent *first = agent(Kind::here), *second_one = agent(Kind::here);
    if (!a || !renames || !first || !second_one) return;
    const L4_ThreadId_t old = a->id, next = L4_GlobalId(L4_ThreadNo(old), (L4_Version(old) + 1) | 1);
    CHECK(L4_Set_Priority(a->id, 200) && L4_Set_Priority(renames->id, 90));
    begin(a, do_wait_and_tell);
    begin(first, do_send_to, old.raw);
    pause(2000);
    // Canceled, `a` runs before the call that has renamed it goes on, and main does.
    begin(renames, do_rename, old.raw, next.raw);
    L4_ThreadId_t from;
    CHECK(L4_IpcSucceeded(L4_Wait_Timeout(second, &from)));
    CHECK_EQUAL(from.raw, a->local.raw);
    CHECK_EQUAL(L4_Schedule(first->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_PENDING_SEND);
    begin(second_one, do_send_to, next.raw);
    L4_ThreadSwitch(second_one->id);
    CHECK_EQUAL(L4_Schedule(second_one->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_PENDING_SEND);
    CHECK_EQUAL(control(old, next, L4_nilthread, L4_nilthread, unchanged), success);
    CHECK_EQUAL(finish(first).value, no_partner);
    CHECK_EQUAL(finish(second_one).value, no_partner);
    CHECK_EQUAL(finish(renames).value, success);
}

/// A start message cannot be in the middle of something: it takes no map items at all. The thread waits on, also when
/// it has got another version meanwhile.
void start_takes_no_items()
{
    constexpr Word overflow = 8;
    Agent *a = create(L4_nilthread, Kind::other);
    if (!a) return;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 4u << 6 | 2});
    L4_LoadMR(1, 0), L4_LoadMR(2, 0);
    const L4_Fpage_t all = L4_CompleteAddressSpace + L4_FullyAccessible;
    for (int i = 0; i < 2; i++) L4_LoadMR(3 + 2 * i, L4_MapItem(all, 0).raw[0]), L4_LoadMR(4 + 2 * i, all.raw);
    CHECK(L4_IpcFailed(L4_Send_Timeout(a->id, L4_ZeroTime)));
    CHECK_EQUAL(L4_ErrorCode() & 0xF, overflow);
    const L4_ThreadId_t next = L4_GlobalId(L4_ThreadNo(a->id), (L4_Version(a->id) + 1) | 1);
    CHECK_EQUAL(control(next, a->id, L4_nilthread, L4_nilthread, unchanged), success);
    a->id = next;
    pause(2000);
    CHECK_EQUAL(L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
    CHECK_EQUAL(a->out.faults, 0);
}

/// Nor strings.
void start_takes_no_strings()
{
    constexpr Word overflow = 8;
    Agent *a = create(L4_nilthread, Kind::other);
    if (!a) return;
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6 | 2});
    L4_LoadMR(1, 0), L4_LoadMR(2, 0);
    L4_LoadMR(3, page_size << 10), L4_LoadMR(4, arena_page(0));
    CHECK(L4_IpcFailed(L4_Send_Timeout(a->id, L4_ZeroTime)));
    CHECK_EQUAL(L4_ErrorCode() & 0xF, overflow);
    CHECK_EQUAL(L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_WAITING);
}

/// A thread can only move to a space whose UTCB area contains its UTCB.
void migrate_without_utcb()
{
    Agent *a = agent(Kind::here), *b = agent(Kind::other);
    if (!a || !b) return;
    L4_Stop(a->id);
    const Word result = control(a->id, b->id, L4_nilthread, L4_nilthread, unchanged);
    CHECK(result == L4_ErrUtcbArea || result == L4_ErrInvalidSpace);
}

/// A new scheduler takes over at once.
Word do_set_priority(Word id, Word priority, Word)
{
    return L4_Set_Priority(L4_ThreadId_t{.raw = id}, priority) ? 0 : L4_ErrorCode();
}
void new_scheduler()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK_EQUAL(ask(a, do_set_priority, b->id.raw, 50).value, L4_ErrNoPrivilege);
    CHECK_EQUAL(control(b->id, b->id, a->id, L4_nilthread, unchanged), success);
    CHECK_EQUAL(ask(a, do_set_priority, b->id.raw, 50).value, 0);
    CHECK_EQUAL(ask(a, do_set_priority, b->id.raw, 101).value, L4_ErrInvalidParam); // above its own
}

/// Number, UTCB and space of a deleted thread can be used again at once, many times.
void create_and_delete()
{
    for (int i = 0; i < 100; i++) {
        Agent *a = agent(i % 2 ? Kind::other : Kind::here);
        if (!a) return;
        CHECK_EQUAL(ask(a, do_nothing).value, 0);
        remove(a);
    }
}

/// Nothing is left over in the UTCB of a new thread (the library's own word would be wrong, too).
void fresh_registers()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_XferTimeouts(); }).value, 0);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_Pager().raw; }).value, main_id.raw);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_MyGlobalId().raw; }).value, a->id.raw);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_UserDefinedHandle(); }).value, 0);
}

/// A second thread in an agent's space shares its memory.
void mates_share_memory()
{
    Agent *a = agent(Kind::other);
    Agent *b = a ? agent_beside(a) : nullptr;
    if (!b) return;
    arena_word(0) = 0x4242;
    give_page(a, 0, free_area, L4_FullyAccessible);
    const Outcome &out = ask(b, do_read, free_area);
    CHECK_EQUAL(out.faults, 0);
    CHECK_EQUAL(out.value, 0x4242);
    remove(a);
    CHECK_EQUAL(ask(b, do_read, free_area).value, 0x4242); // the space lives as long as a thread is in it
}

/// Deleting the running partner of a sender in wait does not leave the sender hanging for ever.
void delete_while_sending()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    begin(a, [](Word to, Word, Word) {
        L4_Set_MsgTag(L4_Niltag);
        return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, short_time)) ? L4_ErrorCode() : 0;
    }, main_id.raw);
    pause(2000);
    remove(a); // the queued sender must leave main's queue
    L4_ThreadId_t from;
    CHECK(L4_IpcFailed(L4_Wait_Timeout(short_time, &from)));
    CHECK_EQUAL(L4_ErrorCode(), 3);
}

constexpr Word free_word = free_area;
/// A thread moves to another space with its UTCB; the last one to leave a space ends it.
void migrates()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other), *mate = b ? agent_beside(b) : nullptr;
    if (!a || !mate) return;
    arena_word(0) = 0x316A;
    give_page(b, 0, free_word, L4_FullyAccessible);
    CHECK(ask(a, do_read, free_word).faults != 0);
    scratch_reset();
    CHECK_EQUAL(control(a->id, b->id, L4_nilthread, L4_nilthread, unchanged), success);
    const Outcome &out = ask(a, do_read, free_word);
    CHECK_EQUAL(out.faults, 0);
    CHECK_EQUAL(out.value, 0x316A);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_MyLocalId().raw; }).value, a->local.raw);
    // It is a thread of that space by its local id, too, and stays when those leave that were there before.
    CHECK_EQUAL(
        ask(mate, [](Word id, Word, Word) { return L4_GlobalIdOf(L4_ThreadId_t{.raw = id}).raw; }, a->local.raw).value,
        a->id.raw);
    remove(mate), remove(b);
    CHECK_EQUAL(ask(a, do_read, free_word).value, 0x316A);
}

/// A space that may take the page for its UTCB and not the thread takes neither.
void refused_migration_costs_nothing()
{
    constexpr Word most = 64, utcb_page = 2 * page_size;
    Agent *from = agent(Kind::other), *to = agent(Kind::other);
    if (!from || !to) return;
    const L4_ThreadId_t id = unused_id();
    const auto number = [&](Word n) { return L4_GlobalId(L4_ThreadNo(id) + 1 + n, 1); };
    CHECK_EQUAL(control(id, from->id, main_id, main_id, reinterpret_cast<void *>(from->utcb_area + utcb_page)),
                success);
    // Filled up with threads to the last byte but for less than one takes, the account gets room again step by step.
    CHECK(cobnut::limit_kernel_memory(to->id, cobnut::kernel_memory_used(to->id) + 2));
    Word count = 0, moved = 0;
    while (count < most && control(number(count), to->id, main_id, L4_nilthread, unchanged) == success) count++;
    bool costs = false;
    for (Word n = 0; n < count; n++) {
        const unsigned used = cobnut::kernel_memory_used(to->id);
        moved = moved == success ? moved : control(id, to->id, L4_nilthread, L4_nilthread, unchanged);
        costs = costs || (moved == L4_ErrNoMem && cobnut::kernel_memory_used(to->id) != used);
        erase(number(n));
    }
    erase(id);
    CHECK(count < most);
    CHECK_EQUAL(moved, success);
    CHECK(!costs);
}

/// Moved in the middle of something: its IPC ends with an error, a page fault is raised anew in the new space.
void migrates_while_busy()
{
    Agent *a = agent(Kind::large), *b = agent(Kind::small), *c = agent(Kind::large);
    if (!a || !b || !c) return;
    arena_word(0) = 0x316B;
    give_page(b, 0, free_word, L4_FullyAccessible);
    begin(a, do_read, free_word); // faults; no pager answers
    pause(3000);
    CHECK_EQUAL(control(a->id, b->id, L4_nilthread, L4_nilthread, unchanged), success);
    CHECK_EQUAL(finish(a).value, 0x316B);
    CHECK_EQUAL(a->out.faults, 0);
    begin(a, [](Word, Word, Word) { return L4_Receive(L4_MyGlobalId()).raw; });
    pause(3000);
    CHECK_EQUAL(control(a->id, c->id, L4_nilthread, L4_nilthread, unchanged), success);
    CHECK(finish(a).value & 0x8000);
    CHECK_EQUAL(a->out.error, 7); // cancelled while receiving
    begin(a, [](Word, Word, Word) -> Word {
        for (;;) {}
    });
    pause(3000);
    CHECK_EQUAL(control(a->id, b->id, L4_nilthread, L4_nilthread, unchanged), success);
    pause(3000);
    CHECK_EQUAL(L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_RUNNING);
    CHECK_EQUAL(ask(c, do_nothing).value, 0);
}

/// Not oneself, not to where its UTCB's place is taken, not to a space without areas.
void cannot_migrate()
{
    Agent *a = agent(Kind::other), *b = agent(Kind::other);
    if (!a || !b) return;
    CHECK_EQUAL(control(main_id, a->id, L4_nilthread, L4_nilthread, unchanged), L4_ErrInvalidSpace);
    const L4_ThreadId_t id = unused_id();
    CHECK_EQUAL(control(id, id, main_id, L4_nilthread, unchanged), success);
    const Word bare = control(a->id, id, L4_nilthread, L4_nilthread, unchanged);
    CHECK_EQUAL(erase(id), success);
    CHECK_EQUAL(bare, L4_ErrInvalidSpace);
    const L4_ThreadId_t taken = L4_GlobalId(L4_ThreadNo(id) + 1, 1);
    CHECK_EQUAL(control(taken, b->id, main_id, main_id, reinterpret_cast<void *>(a->utcb)), success);
    const Word refused = control(a->id, b->id, L4_nilthread, L4_nilthread, unchanged);
    CHECK_EQUAL(erase(taken), success);
    CHECK_EQUAL(refused, L4_ErrUtcbArea);
    CHECK_EQUAL(ask(a, do_nothing).value, 0);
}

/// What ThreadControl is not told to change stays: scheduler, pager, UTCB, id.
void nil_changes_nothing()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    ask(a, do_nothing);
    CHECK_EQUAL(control(a->id, a->id, L4_nilthread, L4_nilthread, unchanged), success);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_Pager().raw; }).value, main_id.raw);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_MyGlobalId().raw; }).value, a->id.raw);
    CHECK(L4_Set_Priority(a->id, 99) != 0); // main is its scheduler still
}

void new_pager()
{
    Agent *a = agent(Kind::other);
    if (!a) return;
    ask(a, do_nothing);
    const L4_ThreadId_t other = L4_GlobalId(L4_ThreadNo(main_id) - 2, 1);
    CHECK_EQUAL(control(a->id, a->id, L4_nilthread, other, unchanged), success);
    CHECK_EQUAL(ask(a, [](Word, Word, Word) { return L4_Pager().raw; }).value, other.raw);
}

/// Threads of the space of an initial server are privileged, whatever made them so.
void mates_are_privileged()
{
    Agent *a = agent(Kind::here);
    if (!a) return;
    const Word id = unused_id().raw;
    CHECK_EQUAL(ask(a, do_create, id).value, success);
    CHECK_EQUAL(erase(L4_ThreadId_t{.raw = id}), success);
}

/// A scheduler has to exist when its thread starts, not before.
void bad_scheduler()
{
    const L4_ThreadId_t id = unused_id(), nobody = L4_GlobalId(L4_ThreadNo(main_id), 2);
    CHECK_EQUAL(control(id, main_id, nobody, main_id, own_utcb(200)), L4_ErrInvalidScheduler);
    CHECK_EQUAL(control(id, main_id, nobody, L4_nilthread, own_utcb(200)), success);
    CHECK_EQUAL(control(id, id, nobody, main_id, unchanged), L4_ErrInvalidScheduler);
    CHECK_EQUAL(erase(id), success);
    Agent *a = agent(Kind::other);
    if (!a) return;
    CHECK_EQUAL(control(a->id, a->id, unused_id(), L4_nilthread, unchanged), L4_ErrInvalidScheduler);
}

} // namespace

const Test thread_tests[] = {
    {"thread.unprivileged", unprivileged},
    {"thread.local_destination", local_destination},
    {"thread.malformed_interrupt", malformed_interrupt},
    {"thread.kernel_threads", kernel_threads},
    {"thread.delete_nobody", delete_nobody},
    {"thread.delete_self", delete_self},
    {"thread.utcb_of_active_thread", utcb_of_active_thread},
    {"thread.utcb_stays_where_it_is", utcb_stays_where_it_is},
    {"thread.bad_utcb_location", bad_utcb_location},
    {"thread.bad_space", bad_space},
    {"thread.no_scheduler", no_scheduler},
    {"thread.active_in_new_space", active_in_new_space},
    {"thread.activate_in_bare_space", activate_in_bare_space},
    {"thread.two_steps", two_steps},
    {"thread.new_version", new_version},
    {"thread.old_version_again", old_version_again},
    {"thread.start_takes_no_items", start_takes_no_items},
    {"thread.start_takes_no_strings", start_takes_no_strings},
    {"thread.migrate_without_utcb", migrate_without_utcb},
    {"thread.new_scheduler", new_scheduler},
    {"thread.create_and_delete", create_and_delete},
    {"thread.fresh_registers", fresh_registers},
    {"thread.mates_share_memory", mates_share_memory},
    {"thread.delete_while_sending", delete_while_sending},
    {"thread.migrates", migrates},
    {"thread.refused_migration_costs_nothing", refused_migration_costs_nothing},
    {"thread.migrates_while_busy", migrates_while_busy},
    {"thread.cannot_migrate", cannot_migrate},
    {"thread.nil_changes_nothing", nil_changes_nothing},
    {"thread.new_pager", new_pager},
    {"thread.mates_are_privileged", mates_are_privileged},
    {"thread.bad_scheduler", bad_scheduler},
    {nullptr, nullptr},
};

} // namespace x2test
