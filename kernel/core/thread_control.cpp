// SPDX-License-Identifier: BSD-2-Clause
// ThreadControl: creation, change and deletion of threads, and with their first and last thread of spaces; association
// of interrupts. The order of the checks is the sheet's (4.2).
#include "core/aftermath.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"
#include "core/system_calls.hpp"

namespace system_calls {
namespace {

constexpr Word default_priority = 100;

Error activate(Thread& t, ThreadId pager) {
    check(!t.active() && !t.ready_link.queued());
    if (!threads::equip(t, pager)) return Error::no_memory;
    ipc::wait_for_start(t);
    return Error::none;
}

// A space without threads. The call returns when all of it is freed.
void destroy(Thread& caller, Space& space) {
    spaces::destroy(space);
    aftermath::bury(caller);
}

// The thread cannot be named any more, and its space is destroyed with its last thread. The call returns when all
// threads that waited for it have got an error.
void end(Thread& caller, Thread& t) {
    Space& space = *t.space;
    aftermath::inherit(caller, t);
    ipc::unwind(t);
    threads::destroy(t);
    aftermath::visit_all(caller);
    if (space.members.empty()) destroy(caller, space);
}

Error remove(Thread& caller, Thread* t) {
    if (!t) return Error::none;
    check(!t->is_interrupt());
    if (t == &caller) return Error::invalid_thread;
    end(caller, *t);
    return Error::none;
}

// A scheduler has to exist when its thread starts (manual 2.4); a thread may be its own.
bool scheduler_exists(ThreadId scheduler, ThreadId dest) { return scheduler == dest || threads::find(scheduler); }

Error create(Thread& caller, ThreadId dest, ThreadId space_id, ThreadId scheduler, ThreadId pager, Word utcb) {
    if (dest.version() % 64 == 0) return Error::invalid_thread;
    if (scheduler.is_nil()) return Error::invalid_scheduler;
    Thread* mate = space_id == dest ? nullptr : threads::find(space_id, caller);
    if (!mate && space_id != dest) return Error::invalid_space;
    bool new_space = !mate;
    VAddr address = utcb + Utcb::id_offset;
    if (!pager.is_nil()) {
        if (new_space || !mate->space->initialised()) return Error::invalid_space;
        if (utcb == unchanged || !spaces::valid_utcb(*mate->space, address)) return Error::utcb_area;
        if (!threads::may_be_at(*mate->space, address)) return Error::utcb_area;
        if (!scheduler_exists(scheduler, dest)) return Error::invalid_scheduler;
    }
    Space* space = new_space ? spaces::create() : mate->space;
    if (!space) return Error::no_memory;
    Thread* t = threads::create(dest, *space);
    if (!t) {
        if (new_space) destroy(caller, *space);
        return Error::no_memory;
    }
    t->scheduler = scheduler;
    t->priority = default_priority;
    schedule::set_timeslice(*t, schedule::default_timeslice);
    if (utcb != unchanged) t->utcb_address = address;
    if (pager.is_nil()) return Error::none;
    Error error = activate(*t, pager);
    if (error != Error::none) remove(caller, t);
    return error;
}

Error modify(Thread& caller, Thread& t, ThreadId dest, ThreadId space_id, ThreadId scheduler, ThreadId pager,
    Word utcb) {
    VAddr address = utcb + Utcb::id_offset;
    if (dest.version() % 64 == 0) return Error::invalid_thread;
    if (t.active() && address == t.utcb_address) utcb = unchanged;
    if (utcb != unchanged) {
        if (t.active()) return Error::utcb_area;
        if (t.space->initialised() && !spaces::valid_utcb(*t.space, address)) return Error::utcb_area;
        if (!threads::may_be_at(*t.space, address)) return Error::utcb_area;
    }
    Thread* mate = threads::find(space_id, caller);
    if (!mate) return Error::invalid_space;
    bool migrates = mate->space != t.space;
    VAddr place = utcb != unchanged ? address : t.utcb_address;
    if (migrates && &t == &caller) return Error::invalid_space;
    bool activates = !pager.is_nil() && !t.active();
    bool needs_utcb = activates || (migrates && t.active());
    if (needs_utcb) {
        if (!mate->space->initialised()) return Error::invalid_space;
        if (!spaces::valid_utcb(*mate->space, place)) return Error::utcb_area;
        if (!threads::may_be_at(*mate->space, place)) return Error::utcb_area;
    }
    if ((t.active() || activates) && !scheduler.is_nil() && !scheduler_exists(scheduler, dest))
        return Error::invalid_scheduler;
    // All that can fail comes before the first change, and all that cannot be undone last.
    if (migrates && !threads::charge(t, *mate->space)) return Error::no_memory;
    Utcb* there = needs_utcb ? spaces::make_utcb(*mate->space, place) : nullptr;
    if (needs_utcb && !there) {
        if (migrates) threads::credit(t, *mate->space);
        return Error::no_memory;
    }

    threads::leave_address(t);
    if (migrates) {
        Space& old = *t.space;
        threads::credit(t, old);
        if (t.active()) {
            // Pending operations belong to the old space; the UTCB migrates, to its new address.
            ipc::end_activity(t);
            system_calls::end_unmapping(t);
            *there = *t.utcb;
            t.utcb = there;
        }
        spaces::leave(t);
        spaces::join(*mate->space, t);
        if (old.members.empty()) destroy(caller, old);
    }
    t.utcb_address = place;
    threads::take_address(t);
    if (dest != t.id) {
        // A new version is a new identity: pending operations of the old one end (manual 2.4).
        ipc::end_activity(t);
        threads::set_id(t, dest);
        aftermath::visit_all(caller);
        aftermath::tell_senders(caller, t);
    }
    if (!scheduler.is_nil()) t.scheduler = scheduler;
    if (activates) return activate(t, pager);
    if (!pager.is_nil()) t.utcb->pager() = pager.raw;
    return Error::none;
}

// Interrupts are attached and detached by the pager field (sheet 6.4).
Error interrupt_control(Thread& caller, ThreadId irq, ThreadId space, ThreadId scheduler, ThreadId handler, Word utcb) {
    Word line = irq.number();
    if (irq.version() != 1 || space != irq || !scheduler.is_nil() || utcb != unchanged) return Error::invalid_thread;
    if (line >= arch::interrupt_lines || !arch::interrupt_available(line)) return Error::invalid_thread;
    Thread* attached = threads::by_number(line);
    if (handler == irq) {
        if (!attached) return Error::none;
        arch::mask_interrupt(line);
        end(caller, *attached);
        return Error::none;
    }
    Thread* t = threads::find(handler, caller);
    if (!t || !t->active()) return Error::invalid_thread;
    // With another handler it is another thread: threads that wait to send to this one get an error.
    Thread* fresh = threads::create(irq, *caller.space);
    if (!fresh) return Error::no_memory;
    if (attached) end(caller, *attached);
    fresh->priority = default_priority;
    fresh->scheduler = t->id;
    ipc::attach(*fresh, t->id);
    arch::unmask_interrupt(line);
    return Error::none;
}

Error control(Thread& caller, ThreadId dest, ThreadId space, ThreadId scheduler, ThreadId pager, Word utcb) {
    if (!caller.space->privileged) return Error::no_privilege;
    if (!dest.is_global() || dest.is_any() || dest.is_any_local()) return Error::invalid_thread;
    if (dest.number() < kip::system_base) return interrupt_control(caller, dest, space, scheduler, pager, utcb);
    if (dest.number() < kip::user_base) return Error::invalid_thread;
    Thread* t = threads::by_number(dest.number());
    if (space.is_nil()) return remove(caller, t);
    // The scheduler and the pager may be named by local ids of the caller's.
    auto as_global = [&](ThreadId id) {
        Thread* named = id.is_local() && !id.is_any_local() ? threads::find(id, caller) : nullptr;
        return named ? named->id : id;
    };
    scheduler = as_global(scheduler), pager = as_global(pager);
    if (scheduler.is_local()) return Error::invalid_scheduler;
    return t ? modify(caller, *t, dest, space, scheduler, pager, utcb)
             : create(caller, dest, space, scheduler, pager, utcb);
}

}  // namespace

Word thread_control(Thread& caller, ThreadId dest, ThreadId space, ThreadId scheduler, ThreadId pager, Word utcb) {
    check(&caller == arch::current_thread() && caller.utcb && caller.pending == Continuation::nothing);
    Error error = control(caller, dest, space, scheduler, pager, utcb);
    return error == Error::none ? 1 : fail(caller, error);
}

}  // namespace system_calls
