// SPDX-License-Identifier: BSD-2-Clause
#include "core/thread.hpp"

#include "core/arch.hpp"
#include "core/memory.hpp"
#include "core/space.hpp"
#include "core/trace.hpp"

void Thread::settle() {
    if (!open_to) return;
    awaited = {open_to};
    open_to = 0;
    state = State::receiving;
    receive_role = Role::user;
    arch::settle_fast_frame(*this);
}

namespace threads {
namespace {

memory::Pool pool{sizeof(Thread), thread_alignment, thread_block};

Thread* settled(Thread* t) {
    t->settle();
    return t;
}

}  // namespace

Thread* by_number(Word number) {
    Thread* t = &arch::thread_at(number);
    return t == &arch::nobody() ? nullptr : settled(t);
}

Thread* find(ThreadId id) {
    if (!id.is_global() || id.is_any() || id.is_any_local()) return nullptr;
    Thread* t = by_number(id.number());
    return t && t->id == id ? t : nullptr;
}

Thread* by_utcb(const Space& space, VAddr utcb_address) {
    if (!spaces::valid_utcb(space, utcb_address)) return nullptr;
    auto* page = static_cast<char*>(arch::kernel_page(space, utcb_address & ~page_mask));
    if (!page) return nullptr;
    // Only a hint: the user may have written over it.
    auto* utcb = reinterpret_cast<Utcb*>(page + (utcb_address & page_mask) - Utcb::id_offset);
    Thread* t = find({utcb->my_global_id()});
    if (t && t->space == &space && t->active() && t->utcb_address == utcb_address) return t;
    for (t = space.members.front(); t; t = space.members.after(*t))
        if (t->active() && t->utcb_address == utcb_address) return settled(t);
    return nullptr;
}

Thread* find(ThreadId id, const Thread& caller) {
    return id.is_local() ? by_utcb(*caller.space, id.raw) : find(id);
}

Thread* create(ThreadId id, Space& space) {
    auto* t = static_cast<Thread*>(pool.allocate());
    if (!t) return nullptr;
    if (!arch::set_thread_at(id.number(), *t)) {
        pool.free(t);
        return nullptr;
    }
    t->id = id;
    t->state = State::inactive;
    t->virtual_sender = id;
    spaces::join(space, *t);
    trace::event(trace::Event::thread_created, id, trace::name(&space));
    return t;
}

bool equip(Thread& t, ThreadId pager) {
    Utcb* utcb = spaces::make_utcb(*t.space, t.utcb_address);
    if (!utcb) return false;
    t.utcb = utcb;
    *utcb = {};
    utcb->my_global_id() = t.id.raw;
    utcb->pager() = pager.raw;
    utcb->flags() = 0xff00;             // no preemption flags, all coprocessors may be used
    arch::prepare_user(t);
    return true;
}

void destroy(Thread& t) {
    trace::event(trace::Event::thread_deleted, t.id, trace::name(t.space));
    arch::set_thread_at(t.id.number(), arch::nobody());
    spaces::leave(t);
    arch::destroy_thread(t);
    pool.free(&t);
}

Word in_use() { return pool.in_use(); }

void set_id(Thread& t, ThreadId id) {
    t.id = id;
    if (t.utcb) t.utcb->my_global_id() = id.raw;
}

}  // namespace threads
