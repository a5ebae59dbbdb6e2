// SPDX-License-Identifier: BSD-2-Clause
#include "core/thread.hpp"

#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/console.hpp"
#include "core/ipc.hpp"
#include "core/memory.hpp"
#include "core/space.hpp"
#include "core/trace.hpp"

namespace threads {
namespace {

memory::Pool pool{sizeof(Thread), thread_alignment, thread_block};

// A circular list: a new thread is inserted just before the one that is visited next, which is its end.
List<Thread, &Thread::all_link> all;
Thread* visited_next;

// Threads out of the table whose senders still have to get an error.
Thread* dying;
Word dying_count;

// Threads that have a UTCB, by space and address. The contents of UTCBs are no help: users can overwrite them.
constexpr Word buckets_log2 = 12;
// As many threads as there are numbers make chains half as long, unless a program picks addresses that collide.
constexpr Word longest_chain = 128;
Thread* by_address[1u << buckets_log2];

[[gnu::noinline]] Thread*& bucket(const Space& space, VAddr utcb_address) {
    constexpr Word mix = 0x85ebca6b, golden = 0x9e3779b1;
    Word of_space = static_cast<Word>(reinterpret_cast<std::uintptr_t>(&space) / thread_alignment);
    return by_address[(of_space * mix + utcb_address / Utcb::size) * golden >> (32 - buckets_log2)];
}

}  // namespace

[[gnu::cold]] void take_address(Thread& t) {
    if (!t.utcb) return;
    Thread*& first = bucket(*t.space, t.utcb_address);
    t.utcb_next = first;
    first = &t;
}

[[gnu::cold]] void leave_address(Thread& t) {
    if (!t.utcb) return;
    Thread** place = &bucket(*t.space, t.utcb_address);
    while (*place != &t) place = &(*place)->utcb_next;
    *place = t.utcb_next;
}

Thread* by_number(Word number) {
    Thread* t = &arch::thread_at(number);
    check(t == &arch::nobody() || t->id.number() == number);
    return t == &arch::nobody() ? nullptr : t;
}

Thread* find(ThreadId id) {
    if (!id.is_global() || id.is_any() || id.is_any_local()) return nullptr;
    Thread* t = by_number(id.number());
    return t && t->id == id ? t : nullptr;
}

Thread* find(ThreadId id, const Thread& caller) {
    if (!id.is_local()) return find(id);
    for (Thread* t = bucket(*caller.space, id.raw); t; t = t->utcb_next)
        if (t->space == caller.space && t->utcb_address == id.raw) return t;
    return nullptr;
}

[[gnu::cold]] bool may_be_at(const Space& space, VAddr utcb_address) {
    Word length = 0;
    for (const Thread* t = bucket(space, utcb_address); t; t = t->utcb_next)
        if ((t->space == &space && t->utcb_address == utcb_address) || ++length == longest_chain) return false;
    return true;
}

[[gnu::cold]] Thread* create(ThreadId id, Space& space) {
    check(id.is_global());
    check(&arch::thread_at(id.number()) == &arch::nobody() || arch::thread_at(id.number()).is_interrupt());
    auto* t = static_cast<Thread*>(pool.allocate(space.account));
    if (!t) return nullptr;
    if (!arch::set_thread_at(id.number(), *t)) {
        pool.free(t, space.account);
        return nullptr;
    }
    t->id = id;
    t->become(State::inactive);
    t->virtual_sender = id;
    all.insert_before(*t, visited_next);
    spaces::join(space, *t);
    trace::event(trace::Event::thread_created, id, trace::name(&space));
    return t;
}

[[gnu::cold]] bool equip(Thread& t, ThreadId pager) {
    check(!t.active() && spaces::valid_utcb(*t.space, t.utcb_address));
    Utcb* utcb = spaces::make_utcb(*t.space, t.utcb_address);
    if (!utcb) return false;
    t.utcb = utcb;
    take_address(t);
    t.space->areas_fixed = true;
    *utcb = {};
    utcb->my_global_id() = t.id.raw;
    utcb->pager() = pager.raw;
    if (t.space->controlled) utcb->exception_handler() = t.space->redirector.raw;
    utcb->flags() = 0xff00;             // no preemption flags, all coprocessors may be used
    arch::prepare_user(t);
    return true;
}

[[gnu::cold]] void destroy(Thread& t) {
    check(&t != arch::current_thread() && !t.active() && !t.transfer && !t.partner);
    check(!t.ready_link.queued() && !t.sender_link.queued() && !t.timeout.queued());
    trace::event(trace::Event::thread_deleted, t.id, trace::name(t.space));
    // An interrupt's thread may have a successor already.
    if (&arch::thread_at(t.id.number()) == &t) arch::set_thread_at(t.id.number(), arch::nobody());
    leave_address(t);
    spaces::leave(t);
    mappings::abandon(t.sweep);
    arch::destroy_thread(t);
    console::forget(t);
    // The kernel pays until it is freed, as its space may be freed before.
    t.space->account.credit(sizeof(Thread));
    memory::kernel.overdraw(sizeof(Thread));
    if (visited_next == &t) visited_next = all.after(t);
    all.remove(t);
    t.id = ThreadId::nil();
    ++t.identity;
    t.utcb_next = dying;
    dying = &t;
    ++dying_count;
}

[[gnu::cold]] bool bury() {
    Thread* t = dying;
    if (!t) return true;
    if (!ipc::reject_senders(*t)) return false;
    check(t->senders.empty() && dying_count && !t->active());
    dying = t->utcb_next;
    --dying_count;
    pool.free(t, memory::kernel);
    return !dying;
}

namespace {
[[gnu::cold, gnu::noinline]] Word bytes_of(const Thread& t) { return sizeof(Thread) + arch::bytes_beside(t); }
}  // namespace

[[gnu::cold]] bool charge(const Thread& t, Space& space) { return space.account.charge(bytes_of(t)); }

[[gnu::cold]] void credit(const Thread& t, Space& space) { space.account.credit(bytes_of(t)); }

bool exists(ThreadId id) { return arch::thread_at(id.number()).id == id; }

[[gnu::cold]] Thread& visit() {
    Thread& t = visited_next ? *visited_next : *all.front();
    visited_next = all.after(t);
    return t;
}

Word in_use() { return pool.in_use() - dying_count; }

void set_id(Thread& t, ThreadId id) {
    check(id.number() == t.id.number() && id.is_global());
    t.id = id;
    ++t.identity;
    if (t.utcb) t.utcb->my_global_id() = id.raw;
}

}  // namespace threads
