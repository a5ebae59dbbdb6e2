// SPDX-License-Identifier: BSD-2-Clause
// How many instructions the clock's interrupt waits at worst, while an agent keeps the kernel at something long. With the
// option latency=1 only: where the time-stamp counter counts instructions.
#include "../forest.h"

#include <cobnut/format.h>
#include <cobnut/program.h>

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
    Rhythm()
    {
        sleep_to_next_tick();
        const Ticks first = now();
        for (unsigned i = 0; i < count; i++) sleep_to_next_tick();
        start_ = now();
        all_ = start_ - first;
    }
    /// By how much later than on an idle machine the next tick wakes this thread.
    Ticks next_delay() const
    {
        const Ticks early = 500; // a wake may be a few instructions sooner
        const Ticks ticks = divide((now() + early - start_) * count, all_) + 1;
        const Ticks expected = start_ + divide(ticks * all_, count);
        sleep_to_next_tick();
        const Ticks at = now();
        return at > expected ? at - expected : 0;
    }

private:
    static constexpr unsigned count = 64;
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

/// The worst delay while the agent runs, which must not be done before the third tick.
void measure(const char *what, Agent *a, const Rhythm &rhythm)
{
    Ticks worst = 0;
    unsigned ticks = 0;
    for (; ticks < 10000; ticks++) {
        const Ticks delay = rhythm.next_delay();
        if (delay > worst) worst = delay;
        const Word state = L4_Schedule(a->id, ~0u, ~0u, ~0u, ~0u, nullptr);
        if (state != L4_SCHEDRESULT_RUNNING && state != L4_SCHEDRESULT_SENDING) break;
        if (state == L4_SCHEDRESULT_SENDING && L4_IpcSucceeded(L4_Receive_Timeout(a->id, L4_ZeroTime))) break;
    }
    cobnut::print("latency: %s %u\n", what, static_cast<Word>(worst));
    CHECK(ticks >= 3);
    CHECK(worst < limit);
}

void unmap_tree()
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    const Rhythm rhythm;
    begin(forest.root, do_flush, region(first_log2).raw, 0);
    measure("unmap_tree", forest.root, rhythm);
}

void unmap_range()
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    const Rhythm rhythm;
    begin(forest.left, do_flush, (L4_CompleteAddressSpace + L4_FullyAccessible).raw, 0);
    measure("unmap_range", forest.left, rhythm);
}

/// Pages that lie far behind those that they are derived from: all others came in between.
void unmap_far()
{
    constexpr Word copies = 64, copies_log2 = first_log2 + 6;
    Agent *elder = agent(Kind::large);
    if (!wish.latency || !elder) return;
    const Forest forest(elder, copies);
    if (!forest.complete()) return;
    const Rhythm rhythm;
    begin(elder, do_flush, region(copies_log2).raw, 0x40);
    measure("unmap_far", elder, rhythm);
}

void map_range()
{
    if (!wish.latency) return;
    const Forest forest;
    if (!forest.complete()) return;
    const Rhythm rhythm;
    begin(forest.root, do_take_all, forest.left->id.raw);
    begin(forest.left, do_give_all, forest.root->id.raw);
    measure("map_range", forest.left, rhythm);
}

void delete_space()
{
    if (!wish.latency) return;
    const Forest forest;
    Agent *deleter = agent(Kind::here);
    if (!forest.complete() || !deleter) return;
    const Rhythm rhythm;
    begin(deleter, do_delete, forest.left->id.raw);
    measure("delete_space", deleter, rhythm);
}

} // namespace

const Test latency_tests[] = {
    {"latency.unmap_tree", unmap_tree},
    {"latency.unmap_range", unmap_range},
    {"latency.unmap_far", unmap_far},
    {"latency.map_range", map_range},
    {"latency.delete_space", delete_space},
    {nullptr, nullptr},
};

} // namespace x2test
