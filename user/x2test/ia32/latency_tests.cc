// SPDX-License-Identifier: BSD-2-Clause
// How many instructions the clock's interrupt waits at worst, while an agent keeps the kernel at something long. With
// the option latency=1 only: where the time-stamp counter counts instructions.
#include "../crowd.h"
#include "../forest.h"
#include "tables.h"

#include <cobnut/format.h>
#include <cobnut/lab.h>
#include <cobnut/program.h>
#include <cobnut/tags.h>
#include <initializer_list>

namespace x2test {
namespace {

using Ticks = unsigned long long;

Ticks now()
{
    Ticks t;
    __asm__ volatile("rdtsc" : "=A"(t));
    return t;
}

void sleep_to_next_tick() { pause(1); }

/// The clock of an idle machine: when a thread that waits for it wakes.
class Rhythm {
public:
    /// What the kernel still has to do for earlier tests delays a tick now and then: until two measurements agree.
    Rhythm()
    {
        sleep_to_next_tick();
        start_ = now();
        all_ = 0;
        for (Ticks before = ~0ull; all_ > before + early || before > all_ + early;) {
            const Ticks first = start_;
            for (unsigned i = 0; i < count; i++) sleep_to_next_tick();
            start_ = now();
            before = all_, all_ = start_ - first;
        }
    }
    /// By how much later than on an idle machine the next tick wakes this thread.
    Ticks next_delay() const
    {
        const Ticks ticks = divide((now() + early - start_) * count, all_) + 1;
        const Ticks expected = start_ + divide(ticks * all_, count);
        sleep_to_next_tick();
        const Ticks at = now();
        return at > expected ? at - expected : 0;
    }

private:
    static constexpr unsigned count = 64;
    static constexpr Ticks early = 500; ///< a wake may be a few instructions sooner
    static Ticks divide(Ticks a, Ticks b)
    {
        Ticks result = 0;
        for (int shift = 63; shift >= 0; shift--)
            if (a >> shift >= b) a -= b << shift, result |= 1ull << shift;
        return result;
    }
    Ticks start_, all_;
};

constexpr Word limit = 30000; ///< instructions; without preemption points it is millions

/// The worst delay while an agent runs, which must not be done before the third tick; or the worst of several goes.
class Watch {
public:
    void during(Agent *a)
    {
        while (ticks_ < 10000) {
            const Ticks delay = rhythm_.next_delay();
            ticks_++;
            if (delay > worst_) worst_ = delay;
            const Word state = L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr);
            // to this thread, if it is done
            const bool sends = state == L4_SCHEDRESULT_PENDING_SEND || state == L4_SCHEDRESULT_SENDING;
            if (sends ? L4_IpcSucceeded(L4_Receive_Timeout(a->id, L4_ZeroTime)) : state != L4_SCHEDRESULT_RUNNING)
                break;
        }
    }
    void report(const char *what) const
    {
        cobnut::print("latency: %s %u\n", what, static_cast<Word>(worst_));
        CHECK(ticks_ >= 4);
        CHECK(worst_ < limit);
    }

private:
    const Rhythm rhythm_;
    Ticks worst_ = 0;
    unsigned ticks_ = 0;
};

void unmap_tree()
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    Watch watch;
    begin(forest.root, do_flush, region(first_log2).raw, 0);
    watch.during(forest.root);
    watch.report("unmap_tree");
}

void unmap_range()
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    Watch watch;
    begin(forest.left, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0);
    watch.during(forest.left);
    watch.report("unmap_range");
}

/// Pages that lie far behind those that they are derived from: all others came in between.
void unmap_far()
{
    constexpr Word copies = 1024, copies_log2 = first_log2 + 10;
    Agent *elder = agent(Kind::large);
    if (!wish.latency || !elder) return;
    const Forest forest(elder, copies);
    if (!forest.complete()) return;
    Watch watch;
    begin(elder, do_flush, region(copies_log2).raw, 0x40);
    watch.during(elder);
    watch.report("unmap_far");
}

constexpr Word registers = 64;
constexpr int rounds = 4; ///< of what takes less than a tick

/// Unmap with all message registers, `times` in a row; they all name the same fpage.
Word do_unmap_registers(Word fpage, Word times, Word)
{
    for (Word i = 0; i < times; i++) {
        for (Word n = 0; n < registers; n++) L4_LoadMR(static_cast<int>(n), fpage);
        L4_Unmap(registers - 1);
    }
    return 0;
}

/// What reads the status of pages, or takes writing away: all that is derived from them is walked over and stays.
void sweep(const char *name, Word rights)
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    Watch watch;
    begin(forest.root, do_unmap_registers, region(12, rights).raw, 1);
    watch.during(forest.root);
    watch.report(name);
}
void unmap_status() { sweep("unmap_status", L4_NoAccess); }
void unmap_write() { sweep("unmap_write", L4_Writable); }

/// A page with less below it than the kernel sees to in one go, in all registers.
void unmap_short_registers()
{
    constexpr Word copies = 40, times = 100;
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *b = agent(Kind::large);
    if (!b) return;
    give(a, L4_FpageLog2(arena_page(0), first_log2) + L4_FullyAccessible, 0, region(first_log2, 0));
    for (Word n = 0; n < copies; n++) CHECK(pass(a, b, region(12), 0, L4_FpageLog2(to_base + n * page_size, 12)));
    Watch watch;
    begin(a, do_unmap_registers, region(12, L4_NoAccess).raw, times);
    watch.during(a);
    watch.report("unmap_short_registers");
}

/// Pages far apart: one in each table, the last one there.
void unmap_sparse()
{
    constexpr Word first = 0x40000000, tables = 256;
    if (!wish.latency) return;
    Watch watch;
    for (int round = 0; round < rounds; round++) {
        Agent *a = agent(Kind::large);
        for (Word n = 1; a && n <= tables; n++)
            give_page(a, 0, first + n * table_bytes - page_size, L4_FullyAccessible);
        if (!a) return;
        begin(a, do_flush, (L4_FpageLog2(first, 30) + L4_FullyAccessible).raw, 0);
        watch.during(a);
        remove(a);
    }
    watch.report("unmap_sparse");
}

void map_range()
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    Watch watch;
    begin(forest.root, do_take_all, forest.left->id.raw);
    begin(forest.left, do_give_all, forest.root->id.raw);
    watch.during(forest.left);
    watch.report("map_range");
}

/// A page to each of many places, 4 MB apart, in messages full of map items: the receiver needs a page table for each.
Word do_give_apart(Word to, Word first, Word times)
{
    constexpr Word items = (registers - 1) / 2;
    for (Word i = 0; i < times; i++) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2 * items << 6});
        for (Word n = 0; n < items; n++) {
            const L4_MapItem_t item = L4_MapItem(region(12), first + (i * items + n) * table_bytes);
            L4_LoadMR(static_cast<int>(1 + 2 * n), item.raw[0] | (n + 1 < items));
            L4_LoadMR(static_cast<int>(2 + 2 * n), item.raw[1]);
        }
        if (L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second))) return L4_ErrorCode();
    }
    return 0;
}
Word do_take_apart(Word from, Word times, Word)
{
    L4_MsgTag_t tag = {.raw = 0};
    L4_Accept(L4_MapGrantItems(L4_CompleteAddressSpace));
    for (Word i = 0; i < times && !L4_IpcFailed(tag); i++) tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}
void map_apart()
{
    constexpr Word first = 0x40000000, times = 8;
    if (!wish.latency) return;
    Watch watch;
    for (int round = 0; round < rounds; round++) {
        Agent *a = agent(Kind::large), *b = agent(Kind::large);
        if (!b) return;
        give(a, L4_FpageLog2(arena_page(0), first_log2) + L4_FullyAccessible, 0, region(first_log2, 0));
        begin(b, do_take_apart, a->id.raw, times);
        begin(a, do_give_apart, b->id.raw, first, times);
        watch.during(a);
        CHECK_EQUAL(finish(b).value, 0);
        remove(a);
        remove(b);
    }
    watch.report("map_apart");
}

void delete_space()
{
    if (!wish.latency) return;
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    Watch watch;
    begin(deleter, do_delete, forest.left->id.raw);
    watch.during(deleter);
    watch.report("delete_space");
}

/// Slots are given and taken back: each way through the kernel has interrupts off from its begin to its end. With few
/// tables these are looked through, so that is the longer one.
void change_slot()
{
    if (!wish.latency) return;
    Ticks worst = 0;
    for (const Word tables : {1u, 2u, 60u}) {
        Agent *a = agent(Kind::large);
        const Word first = 16 * mb, end = first + tables * table_bytes;
        if (!give_tables(a, first, end)) return;
        for (int round = 0; round < 3; round++) {
            const Ticks before = now();
            CHECK(cobnut::give_slot(a->id, 8));
            const Ticks between = now();
            for (Word at = first; at < end; at += table_bytes) CHECK_EQUAL(ask(a, do_read, at).faults, 0);
            const Ticks after = now();
            L4_SpaceControl(a->id, L4_SmallSpaceChange | L4_LargeSpace, L4_Nilpage, L4_Nilpage, L4_nilthread, nullptr);
            const Ticks taken = now() - after, longer = taken > between - before ? taken : between - before;
            if (longer > worst) worst = longer;
        }
    }
    cobnut::print("latency: change_slot %u\n", static_cast<Word>(worst));
    CHECK(worst < limit);
}

/// The clock's own work: the rules about tags seek one for a space with hundreds of tables that hold no pages any more,
/// and one page that no slot would reach.
void seek_tag()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::automatic), *b = agent(Kind::automatic);
    if (!b || !give_tables(a, 16 * mb, 2048u * mb)) return;
    L4_Unmap(page_at(arena_page(0), L4_FullyAccessible));
    give_page(a, 0, 300 * mb, L4_FullyAccessible);
    const Rhythm rhythm;
    begin(b, do_increment_words, a->id.raw);
    begin(a, do_call_for_ever, b->id.raw);
    Ticks worst = 0;
    for (int ticks = 0; ticks < 200; ticks++) {
        const Ticks delay = rhythm.next_delay();
        if (delay > worst) worst = delay;
    }
    cobnut::print("latency: seek_tag %u\n", static_cast<Word>(worst));
    CHECK(worst < limit);
}

constexpr Word scattered_ports = 0x8000, most_scattered = 256; ///< a space has no more
L4_Fpage_t scattered() { return L4_IoFpageLog2(scattered_ports, 11); }

/// Ports that do not lie side by side: as many mappings.
bool give_scattered_ports(Agent *a, Word count)
{
    for (Word n = 0; a && n < count; n++) give(a, L4_IoFpageLog2(scattered_ports + 2 * n, 0), 0, scattered());
    return a;
}
Word do_flush_ports(Word, Word, Word)
{
    L4_LoadMR(0, scattered().raw);
    L4_Unmap(0x40);
    return 0;
}
void unmap_ports()
{
    if (!wish.latency) return;
    Watch watch;
    for (int round = 0; round < rounds; round++) {
        Agent *a = agent(Kind::large);
        if (!give_scattered_ports(a, most_scattered)) return;
        begin(a, do_flush_ports);
        watch.during(a);
        remove(a);
    }
    watch.report("unmap_ports");
}

Word do_give_ports(Word to, Word, Word)
{
    const L4_MapItem_t item = L4_MapItem(scattered(), 0);
    L4_Set_MsgTag(L4_MsgTag_t{.raw = 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    return L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second)) ? L4_ErrorCode() : 0;
}
Word do_take_ports(Word from, Word, Word)
{
    L4_Accept(L4_MapGrantItems(scattered()));
    const L4_MsgTag_t tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}
void map_ports()
{
    if (!wish.latency) return;
    Watch watch;
    for (int round = 0; round < rounds; round++) {
        Agent *a = agent(Kind::large), *b = agent(Kind::large);
        if (!b || !give_scattered_ports(a, most_scattered)) return;
        begin(b, do_take_ports, a->id.raw);
        begin(a, do_give_ports, b->id.raw);
        watch.during(a);
        CHECK_EQUAL(finish(b).value, 0);
        remove(a);
        remove(b);
    }
    watch.report("map_ports");
}

constexpr Word times_of_ports = 500;

/// Nothing happens, as often as it can be asked for, to a port that neither has: others have many.
void unmap_port_registers()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *b = agent(Kind::large);
    if (!b || !give_scattered_ports(a, most_scattered)) return;
    Watch watch;
    begin(b, do_unmap_registers, L4_IoFpageLog2(scattered_ports + 1, 0).raw, times_of_ports);
    watch.during(b);
    watch.report("unmap_port_registers");
}

/// A message full of map items that name a port each.
Word do_give_port_items(Word to, Word times, Word)
{
    constexpr Word items = (registers - 1) / 2;
    const L4_Fpage_t port = L4_IoFpageLog2(scattered_ports + 1, 0);
    for (Word i = 0; i < times; i++) {
        L4_Set_MsgTag(L4_MsgTag_t{.raw = 2 * items << 6});
        for (Word n = 0; n < items; n++) {
            const L4_MapItem_t item = L4_MapItem(port, 0);
            L4_LoadMR(static_cast<int>(1 + 2 * n), item.raw[0] | (n + 1 < items));
            L4_LoadMR(static_cast<int>(2 + 2 * n), item.raw[1]);
        }
        if (L4_IpcFailed(L4_Send_Timeout(L4_ThreadId_t{.raw = to}, second))) return L4_ErrorCode();
    }
    return 0;
}
Word do_take_port_items(Word from, Word times, Word)
{
    L4_MsgTag_t tag = {.raw = 0};
    L4_Accept(L4_MapGrantItems(scattered()));
    for (Word i = 0; i < times && !L4_IpcFailed(tag); i++) tag = L4_Receive_Timeout(L4_ThreadId_t{.raw = from}, second);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}
void map_port_items()
{
    if (!wish.latency) return;
    Agent *a = agent(Kind::large), *b = agent(Kind::large), *c = agent(Kind::large);
    if (!c || !give_scattered_ports(a, most_scattered)) return;
    Watch watch;
    begin(c, do_take_port_items, b->id.raw, times_of_ports);
    begin(b, do_give_port_items, c->id.raw, times_of_ports);
    watch.during(b);
    watch.report("map_port_items");
    CHECK_EQUAL(finish(c).value, 0);
}

/// Sends its first pages, or an empty message, and waits for pages of another thread.
Word do_pass_pages(Word to, Word empty, Word)
{
    const L4_MapItem_t item = L4_MapItem(region(first_log2), 0);
    L4_Accept(L4_MapGrantItems(L4_FpageLog2(to_base, first_log2)));
    L4_Set_MsgTag(L4_MsgTag_t{.raw = empty ? 0 : 2u << 6});
    L4_LoadMR(1, item.raw[0]);
    L4_LoadMR(2, item.raw[1]);
    L4_ThreadId_t from;
    const L4_MsgTag_t tag = L4_Ipc(L4_ThreadId_t{.raw = to}, L4_anythread, L4_Timeouts(second, second), &from);
    L4_Accept(L4_UntypedWordsAcceptor);
    return L4_IpcFailed(tag) ? L4_ErrorCode() : 0;
}

/// Each agent of a chain waits to send pages to the one before it: the first one's message sets all of them going.
void chain_of_senders()
{
    constexpr unsigned length = 12;
    if (!wish.latency) return;
    Agent *chain[length];
    for (Agent *&one : chain) {
        if (!(one = agent(Kind::large))) return;
        give(one, L4_FpageLog2(arena_page(0), first_log2) + L4_FullyAccessible, 0, region(first_log2, 0));
    }
    for (unsigned i = 0; i < length; i++)
        begin(chain[i], do_pass_pages, i ? chain[i - 1]->id.raw : main_id.raw, i == 0);
    pause(5000);
    const Ticks before = now();
    const L4_MsgTag_t tag = L4_Receive_Timeout(chain[0]->id, L4_ZeroTime);
    const Ticks took = now() - before;
    CHECK(L4_IpcSucceeded(tag));
    cobnut::print("latency: chain_of_senders %u\n", static_cast<Word>(took));
    CHECK(took < limit);
    for (unsigned i = 0; i + 1 < length; i++) CHECK_EQUAL(finish(chain[i]).value, 0);
}

void set_exception_handler() { L4_Set_ExceptionHandler(main_id); }

/// Threads that are to go on outside of user memory, all at one time. The laboratory counts how long interrupts are
/// off.
void wild_threads()
{
    constexpr Word cancel_and_set_ip = 0x16, outside = ~0u;
    if (!wish.latency) return;
    const Crowd crowd(L4_nilthread, main_id, L4_Never, L4_Never, set_exception_handler);
    if (!crowd.complete()) return;
    for (Word n = 0; n < wish.threads; n++) __L4_Exregs(crowd.id(n), cancel_and_set_ip, 0, outside, 0);
    pause(20000);
    CHECK_EQUAL(L4_Schedule(crowd.id(wish.threads - 1), ~0u, ~0u, ~0u, ~0u, nullptr), L4_SCHEDRESULT_PENDING_SEND);
}

} // namespace

const Test latency_tests[] = {
    {"latency.unmap_tree", unmap_tree},
    {"latency.unmap_range", unmap_range},
    {"latency.unmap_far", unmap_far},
    {"latency.unmap_status", unmap_status},
    {"latency.unmap_write", unmap_write},
    {"latency.unmap_short_registers", unmap_short_registers},
    {"latency.unmap_sparse", unmap_sparse},
    {"latency.map_range", map_range},
    {"latency.map_apart", map_apart},
    {"latency.delete_space", delete_space},
    {"latency.change_slot", change_slot},
    {"latency.seek_tag", seek_tag},
    {"latency.unmap_ports", unmap_ports},
    {"latency.map_ports", map_ports},
    {"latency.unmap_port_registers", unmap_port_registers},
    {"latency.map_port_items", map_port_items},
    {"latency.chain_of_senders", chain_of_senders},
    {"latency.wait_wild", wild_threads},
    {nullptr, nullptr},
};

} // namespace x2test
