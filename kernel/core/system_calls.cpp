// SPDX-License-Identifier: BSD-2-Clause
// ThreadSwitch, Schedule, Unmap, SpaceControl, ProcessorControl, MemoryControl.
#include "core/system_calls.hpp"

#include "core/aftermath.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/mapping.hpp"
#include "core/memory.hpp"
#include "core/schedule.hpp"
#include "core/space.hpp"

namespace system_calls {
namespace {

// Manual 3.5.
Word thread_state(const Thread& t) {
    if (t.transfer) return ipc::sending(t) ? 5 : 7;
    switch (t.state()) {
    case State::inactive: return 2;
    case State::sending: return 4;
    case State::receiving:
    case State::open:
    case State::reflected:
    case State::faulted: return 6;
    case State::ready: return t.halted ? 2 : 3;
    case State::transferring: break;
    }
    return 1;
}

Time half(Word control, unsigned shift) { return {static_cast<std::uint16_t>(control >> shift)}; }

// Areas may be set until a thread is active; afterwards the parameters are ignored (manual 4.3). They stay when no
// thread is left, for pages may have been mapped to the space by then.
Error set_areas(Space& space, Fpage kip_area, Fpage utcb_area) {
    if (space.areas_fixed) return Error::none;
    auto usable = [](Fpage f) { return !f.is_nil() && f.last() < paging::user_limit(); };
    if (!usable(utcb_area)) return Error::utcb_area;
    if (!usable(kip_area)) return Error::kip_area;
    if (kip_area.base() <= utcb_area.last() && utcb_area.base() <= kip_area.last()) return Error::kip_area;
    utcb_area = arch::place_utcb_area(space, utcb_area);
    if (utcb_area.is_nil()) return Error::utcb_area;
    // The one thing that can still fail comes before the first change.
    if (!paging::ensure_table(space, kip_area.base())) return Error::no_memory;
    if (space.initialised()) {
        // Moved before first use: so far the kernel has mapped nothing there but the interface page.
        if (space.kip_area == kip_area && space.utcb_area == utcb_area) return Error::none;
        paging::clear(space, space.kip_area.base());
    }
    arch::map_kernel_page(space, kip_area.base(), arch::kip_page(), false);
    space.kip_area = kip_area;
    space.utcb_area = utcb_area;
    return Error::none;
}

}  // namespace

void thread_switch(Thread& caller, ThreadId dest) {
    Thread* to = dest.is_nil() ? nullptr : threads::find(dest, caller);
    schedule::yield(caller, to == &caller ? nullptr : to);
}

Word schedule(Thread& caller, ThreadId dest, Word& time_control, Word processor_control, Word priority,
    Word preemption_control) {
    Thread* t = threads::find(dest, caller);
    if (!t) return fail(caller, Error::invalid_thread);
    // Interrupts have no scheduler of their own that ThreadControl could set.
    bool may = t->scheduler == caller.id || (t->is_interrupt() && caller.space->privileged);
    if (!may) return fail(caller, Error::no_privilege);
    Word own = schedule::own_priority(caller);
    if (priority != unchanged && (priority & 0xff) > own) return fail(caller, Error::invalid_parameter);
    if (time_control != unchanged) {
        Time slice = half(time_control, 16), quantum = half(time_control, 0);
        if (slice.is_point() || slice.is_zero() || quantum.is_point()) return fail(caller, Error::invalid_parameter);
    }
    if (preemption_control != unchanged && (preemption_control >> 16 & 0xff) > own)
        return fail(caller, Error::invalid_parameter);
    if (processor_control != unchanged && (processor_control & 0xffff) != 0)
        return fail(caller, Error::invalid_parameter);

    Word left = static_cast<Word>(t->timeslice.is_never() ? Time::never().raw : Time::from_us(t->timeslice_left).raw)
                    << 16 |
                (t->total_quantum.is_never() ? Time::never().raw : Time::from_us(t->quantum_left).raw);
    if (time_control != unchanged) {
        schedule::set_timeslice(*t, half(time_control, 16));
        schedule::set_total_quantum(*t, half(time_control, 0));
        ipc::quantum_renewed(*t);
    }
    if (priority != unchanged) schedule::set_priority(*t, priority & 0xff);
    if (preemption_control != unchanged) {
        t->preemption_control = preemption_control;
        schedule::rearm_delay(*t);
    }
    time_control = left;
    return thread_state(*t);
}

namespace {

enum UnmapControl : Word { last_fpage = 0x3f, unmap_flush = 0x40, unmap_elsewhere = 0x80 };
constexpr Word set_attributes = 0x100;  // the kernel's own: a MemoryControl

// The space that an Unmap works on; nullptr if its caller does not, or no longer, control that space.
Space* space_of(const Thread& caller) {
    const Unmapping& u = caller.unmapping;
    if (!(u.control & unmap_elsewhere)) return caller.space;
    Thread* named = threads::find(u.whose);
    return named && named->space == u.space && named->space->controlled_by(caller) ? named->space : nullptr;
}

}  // namespace

void unmap(Thread& caller, Word control, ThreadId whose) {
    check(&caller == arch::current_thread() && caller.pending == Continuation::nothing);
    const Thread* named = control & unmap_elsewhere ? threads::find(whose) : nullptr;
    caller.unmapping = {.control = control & ~set_attributes,
        .whose = whose,
        .space = named ? named->space : nullptr,
        .index = 0,
        .fpage = Fpage::nil(),
        .at = 0,
        .status = 0};
    caller.pending = Continuation::unmap;
    if (space_of(caller)) return;
    fail(caller, Error::invalid_space);
    caller.unmapping.space = nullptr;  // nowhere later, either: the caller may be given control of it meanwhile
}

void resume_unmapping(Thread& t) {
    check(&t == arch::current_thread() && t.pending == Continuation::unmap && !t.ready_link.queued());
    check(t.unmapping.fpage.is_nil() || t.unmapping.at >= t.unmapping.fpage.base());
    Unmapping& u = t.unmapping;
    bool flush = u.control & unmap_flush, sets = u.control & set_attributes;
    t.sweep.sets_attribute = sets;
    Space* space = space_of(t);         // as it was, or another thread has ended it since
    if (!space) return end_unmapping(t);
    Word budget = mappings::between_points;         // for all of them: the next one goes on with what is left
    auto point = [&] {
        arch::preemption_point();
        budget = mappings::between_points;
    };
    for (; u.index <= (u.control & last_fpage); ++u.index, u.fpage = Fpage::nil()) {
        if (u.fpage.is_nil()) {
            Word raw = t.utcb->mr[u.index];
            u.fpage = {raw};
            if (sets) {
                u.fpage = u.fpage.with_rights(0);
                t.sweep.attribute = static_cast<std::uint8_t>(u.attributes >> (raw & 3) * 8);
            }
            while (u.fpage.is_io() && !sets && !arch::unmap_ports(*space, u.fpage, flush, budget)) point();
            if (u.fpage.is_nil()) continue;     // I/O fpages, too
            u.at = u.fpage.base();
            u.status = 0;
        }
        while (!mappings::unmap(*space, u.fpage, flush, u.at, u.status, t.sweep, budget)) point();
        if (!sets) t.utcb->mr[u.index] = u.fpage.with_rights(mappings::as_rights(u.status)).raw;
    }
    if (sets) paging::flush_caches();
    end_unmapping(t);
}

void end_unmapping(Thread& t) {
    if (t.pending != Continuation::unmap) return;
    mappings::abandon(t.sweep);
    schedule::end_pending(t, State::ready);
    schedule::make_ready(t);
    if (!(t.unmapping.control & set_attributes)) arch::set_unmap_result(t);
}

namespace {

// SpaceControl's control word where it is about kernel memory (docs/kernel-memory.md) or control of a space
// (docs/controlled-spaces.md): on all processors, and before a space has areas.
constexpr Word own_control = 1u << 28, control_change = 1u << 31, own_limit = 3, own_controlled = 5;
constexpr Word control_on = 1u << 8;

Word account_control(memory::Account& account, Word control) {
    constexpr Word argument = 0xfffff00;
    bool limit = (control & 0xff) == own_limit, change = limit && control & control_change;
    Word bytes = limit ? account.limit : account.used + page_mask;
    if (change) account.limit = (control & argument) << (page_log2 - 8);
    return own_control | (bytes >> (page_log2 - 8) & argument) | (change ? control_change : 0);
}

Word controlled_control(Space& space, Word control) {
    Word old = own_control | (control & control_change) | (space.controlled ? control_on : 0);
    if (control & control_change) space.controlled = control & control_on;
    return old;
}

}  // namespace

void begin_space_control(Thread& caller) {
    check(&caller == arch::current_thread() && caller.pending == Continuation::nothing);
    caller.pending = Continuation::space_control;
    caller.visits = memory::accounts;
}

namespace {

Word control_space(Thread& caller, ThreadId dest, Word& control, Fpage kip_area, Fpage utcb_area, ThreadId redirector) {
    Word wanted = control;
    control = 0;
    if (!caller.space->privileged) return fail(caller, Error::no_privilege);
    Thread* t = dest.is_global() ? threads::find(dest) : nullptr;
    if (!t || t->is_interrupt()) return fail(caller, Error::invalid_space);
    if (wanted & own_control && (wanted & 0xff) >= own_limit) {
        control = (wanted & 0xff) == own_controlled ? controlled_control(*t->space, wanted)
                                                    : account_control(t->space->account, wanted);
        return 1;
    }
    if (!redirector.is_nil() && !redirector.is_any()) {
        Thread* named = threads::find(redirector, caller);
        if (!named || named->is_interrupt()) return fail(caller, Error::invalid_thread);
        redirector = named->id;
    }
    Error error = set_areas(*t->space, kip_area, utcb_area);
    if (error != Error::none) return fail(caller, error);
    control = arch::space_control(*t->space, wanted, caller.visits);
    if (!redirector.is_nil()) {
        bool redirected = t->space->redirected();
        t->space->redirector = redirector;
        if (redirected != t->space->redirected()) aftermath::visit_all(caller);
    }
    return 1;
}

}  // namespace

Word space_control(Thread& caller, ThreadId dest, Word& control, Fpage kip_area, Fpage utcb_area, ThreadId redirector) {
    Word result = control_space(caller, dest, control, kip_area, utcb_area, redirector);
    if (caller.pending == Continuation::space_control) caller.pending = Continuation::nothing;
    return result;
}

Word processor_control(Thread& caller, Word processor, Word internal_khz, Word external_khz, Word millivolts) {
    if (!caller.space->privileged) return fail(caller, Error::no_privilege);
    bool as_it_is = internal_khz == unchanged && external_khz == unchanged && millivolts == unchanged;
    return processor == 0 && as_it_is ? 1 : fail(caller, Error::invalid_parameter);
}

Word memory_control(Thread& caller, Word control, const Word (&attributes)[4]) {
    if (!caller.space->privileged) return fail(caller, Error::no_privilege);
    if (control >= message_registers) return fail(caller, Error::invalid_parameter);
    Word packed = 0, unknown = 0;
    for (Word i = 0; i < 4; ++i) {
        Word attribute = paging::attribute(attributes[i]);
        if (attribute == paging::no_attribute) unknown |= 1u << i;
        else packed |= attribute << i * 8;
    }
    for (Word i = 0; i <= control; ++i) {
        Word fpage = caller.utcb->mr[i];
        if (fpage && unknown >> (fpage & 3) & 1) return fail(caller, Error::invalid_parameter);
    }
    unmap(caller, control, ThreadId::nil());
    caller.unmapping.control |= set_attributes;
    caller.unmapping.attributes = packed;
    return 1;
}

}  // namespace system_calls
