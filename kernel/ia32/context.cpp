// SPDX-License-Identifier: BSD-2-Clause
// User registers of threads: what the shared code asks for (core/arch.hpp), and the change of the running thread.
#include "core/arch.hpp"
#include "core/checks.hpp"
#include "core/ipc.hpp"
#include "core/kip.hpp"
#include "core/leave.hpp"
#include "core/trace.hpp"
#include "ia32/coprocessor.hpp"
#include "ia32/cpu.hpp"
#include "ia32/debug_registers.hpp"
#include "ia32/descriptors.hpp"
#include "ia32/hosts.hpp"
#include "ia32/port_bitmap.hpp"
#include "ia32/tls.hpp"
#include "ia32/trap.hpp"
#include "slots/policy.hpp"
#include "slots/port.hpp"

// Behind gs:0 of every user thread: its UTCB address. In a page of its own, for users can read it.
extern "C" alignas(page_size) Word utcb_word[page_size / sizeof(Word)];
Word utcb_word[page_size / sizeof(Word)];

namespace arch {
namespace {

// sysenter's stub has pushed the return address and a selector.
constexpr Word stub_frame = 8;

void standard_frame(Thread& t) {
    t.frame.cs = USER_CODE;
    t.frame.ss = USER_DATA;
    t.frame.eflags = EFLAGS_USER;
}

// Counts as the fast path does.
void count_switch(Space& to, ThreadId from) {
    ++to.arch.switches;
    to.arch.partner = from.raw;
}

}  // namespace

[[gnu::noinline]] void take_back(Thread& t) {
    if (t.fast_veto & held_coprocessor) coprocessor::release();
    if (t.fast_veto & held_ports) port_bitmap::close();
    if (t.fast_veto & held_debug) debug_registers::release();
    t.fast_veto &= ~Word{held_mask};
}

extern "C" Thread* current_thread() { return processor.current(); }

void prepare_user(Thread& t) {
    t.registers = {};
    t.frame = {};
    standard_frame(t);
    if (!processor.leave) t.fast_veto |= veto_always;
}

void destroy_thread(Thread& t) {
    coprocessor::forget(t);
    debug_registers::forget(t);
}

Word bytes_beside(const Thread& t) { return coprocessor::bytes(t) + debug_registers::bytes(t); }

// The stub's return address on the user's stack is out of date: the fast path may not use it.
void set_user_ip(Thread& t, Word ip) {
    t.frame.eip = ip;
    t.fast_entry = false;
}
void set_user_sp(Thread& t, Word sp) {
    t.frame.esp = sp;
    t.fast_entry = false;
}
void set_user_flags(Thread& t, Word flags) {
    check((t.frame.eflags & (EFLAGS_IF | EFLAGS_IOPL | EFLAGS_VM)) == EFLAGS_IF);
    t.fast_entry = false;
    t.frame.eflags = (t.frame.eflags & ~Word{EFLAGS_CHANGEABLE}) | (flags & EFLAGS_CHANGEABLE);
}
Word user_ip(const Thread& t) { return t.frame.eip; }
Word user_sp(const Thread& t) { return t.frame.esp; }
Word user_flags(const Thread& t) { return t.frame.eflags; }

void set_ipc_result(Thread& t, ThreadId from, Word tag) {
    t.utcb->mr[0] = tag;
    t.registers.eax = from.raw;
    t.registers.esi = tag;
    t.registers.ebx = t.utcb->mr[1];
    t.registers.ebp = t.utcb->mr[2];
    t.registers.edi = t.utcb_address;
}

void set_unmap_result(Thread& t) { t.registers.esi = t.utcb->mr[0]; }

void read_registers(const Thread& t, Word* words) {
    const Registers& r = t.registers;
    const Frame& f = t.frame;
    Word all[register_words] = {f.eip, f.eflags, 0, 0, r.edi, r.esi, r.ebp, f.esp, r.ebx, r.edx, r.ecx, r.eax};
    for (Word i = 0; i < register_words; ++i) words[i] = all[i];
}

void write_registers(Thread& t, const Word* words) {
    exception_reply(t, words, register_words);
    set_user_ip(t, words[0]);
}

void exception_message(const Thread& t, Word number, Word error, KernelMessage& m) {
    m.tag = MsgTag::make(label_exception, register_words);
    read_registers(t, m.words);
    m.words[2] = number, m.words[3] = error;
}

void exception_reply(Thread& t, const Word* w, Word count) {
    Registers& r = t.registers;
    Word* to[12] = {
        &t.frame.eip, nullptr, nullptr, nullptr, &r.edi, &r.esi, &r.ebp, &t.frame.esp, &r.ebx, &r.edx, &r.ecx, &r.eax};
    for (Word i = 0; i < count && i < 12; ++i)
        if (to[i]) *to[i] = w[i];
    if (count > 1) set_user_flags(t, w[1]);
}

void leave_fast_frame(Thread& t) {
    if (!cpu::features.sysenter) return;    // the gate left a complete frame
    t.frame.eip = t.fast.eip;
    t.frame.esp = t.fast.esp + stub_frame;
    standard_frame(t);
}

bool offer_fast_frame(Thread& t) {
    check(t.is(State::receiving) && !t.halted);
    check(!t.timeout.queued() && !t.ready_link.queued() && t.senders.empty() == !(t.fast_veto & veto_senders));
    // The fast path loads no breakpoints; nor other segments than the standard ones, but for an answer to a fault.
    if (debug_registers::enabled(t)) return false;
    if (t.receive_role != Role::user) return true;
    check(t.receive_role == Role::user && t.fast_entry);
    if (t.arch.tls.set) return false;
    t.fast = {t.frame.eip, t.frame.esp - stub_frame};
    return true;
}

void change_thread(Thread* before, Thread* next) {
    if (before && before != next) take_back(*before);
    processor.set_current(next);
}

bool enter(Thread& next, const Thread* before) {
    // iret to an address past the segment's limit would fault in the kernel; nor can a segment start there.
    VAddr last = next.frame.eip, limit = next.space->arch.slot.size;
    if (next.arch.tls.set && next.arch.tls.base > last) last = next.arch.tls.base;
    if (limit && last >= limit) {
        preemption_point();     // what came before may have taken long
        slots::outgrow(*next.space, last);
        return false;
    }
    if (next.frame.eip >= paging::user_limit()) {
        faults::raise(next, vector_protection, 0);
        return false;
    }
    // SS may have been the TLS segment, which may have changed or been removed since; on QEMU CS may have been null.
    // iret would fault in the kernel.
    next.frame.cs = USER_CODE;
    next.frame.ss = USER_DATA;
    tls::enter(next);
    debug_registers::enter(next);
    utcb_word[0] = next.utcb_address;
    const ArchSpace& space = next.space->arch;
    Word data_high = space.segment_high ^ desc_code_not_data;
    gdt.entry[USER_CODE >> 3] = {space.segment_low, space.segment_high};
    gdt.entry[USER_DATA >> 3] = {space.segment_low, data_high};
    if (space.host && processor.host != space.host) hosts::enter(*space.host);
    if (before && before->space != next.space) count_switch(*next.space, before->id);
    check(checks::leaves(next));
    return true;
}

}  // namespace arch

extern "C" void fast_entry_ipc(Thread* t) {
    check(checks::runs(*t));
    t->fast_entry = true;
    arch::leave_fast_frame(*t);
    t->utcb->mr[0] = t->registers.esi;
    ipc_registers(*t);
}

extern "C" Thread* leave_kernel() {
    Thread* entered = processor.current();
    if (entered) tls::keep_selectors(*entered);
    Thread* t = leave();
    if (t && t != entered)
        trace::event(trace::Event::switched, t->id, trace::name(t->space), t->space->arch.slot.base, t->frame.eip,
            trace::name(hosts::owner(processor.host)));
    if (!t && entered) trace::event(trace::Event::idle, ThreadId::nil());
    return t;
}
