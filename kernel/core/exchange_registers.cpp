// SPDX-License-Identifier: BSD-2-Clause
// ExchangeRegisters: threads of one space read and change each other's state (manual 2.3, sheet 4.1); of a controlled
// space's threads (docs/controlled-spaces.md) only its redirector does.
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/ipc.hpp"
#include "core/schedule.hpp"
#include "core/string.hpp"
#include "core/system_calls.hpp"

namespace system_calls {
namespace {

enum Control : Word {
    halt = 1u << 0,
    cancel_receive = 1u << 1,
    cancel_send = 1u << 2,
    set_sp = 1u << 3,
    set_ip = 1u << 4,
    set_flags = 1u << 5,
    set_handle = 1u << 6,
    set_pager = 1u << 7,
    halt_means = 1u << 8,
    // bit 9 asks for the old values, which are always told
    read_all = 1u << 10,
    write_all = 1u << 11,
};

void halt_or_resume(Thread& t, bool stop) {
    if (stop && !t.halted) {
        t.halted = true;
        if (t.is(State::ready) && t.ready_link.queued() && !t.in_kernel()) schedule::make_unready(t, State::ready);
    } else if (!stop && t.halted) {
        t.halted = false;
        if (t.is(State::ready)) schedule::make_ready(t);
    }
}

}  // namespace

ThreadId exchange_registers(Thread& caller, ThreadId dest, Exchange& v) {
    Thread* t = threads::find(dest, caller);
    if (!t || !t->active() || t->is_interrupt()) return {fail(caller, Error::invalid_thread)};
    bool permitted = t->space->controlled ? t->space->controlled_by(caller) : t->space == caller.space;
    if (!permitted) return {fail(caller, Error::invalid_thread)};
    check(t->utcb);
    t->close();
    Exchange in = v;
    v = {
        .control = (t->halted ? halt : 0u) | (ipc::receiving(*t) ? cancel_receive : 0u) |
                   (ipc::sending(*t) ? cancel_send : 0u),
        .sp = arch::user_sp(*t),
        .ip = arch::user_ip(*t),
        .flags = arch::user_flags(*t),
        .user_handle = t->utcb->user_handle(),
        .pager = t->utcb->pager(),
    };
    Word* words = caller.utcb->mr + 1;
    Word before[arch::register_words];
    arch::read_registers(*t, before);
    if (in.control & write_all) arch::write_registers(*t, words);
    if (in.control & read_all) memcpy(words, before, sizeof before);
    if (in.control & set_sp) arch::set_user_sp(*t, in.sp);
    if (in.control & set_ip) arch::set_user_ip(*t, in.ip);
    if (in.control & set_flags) arch::set_user_flags(*t, in.flags);
    if (in.control & set_pager) t->utcb->pager() = in.pager;
    if (in.control & set_handle) t->utcb->user_handle() = in.user_handle;
    ipc::cancel(*t, in.control & cancel_send, in.control & cancel_receive);
    if (in.control & halt_means) halt_or_resume(*t, in.control & halt);
    return dest.is_local() ? t->id : ThreadId{t->utcb_address};
}

}  // namespace system_calls
