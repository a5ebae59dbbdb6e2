// SPDX-License-Identifier: BSD-2-Clause
// User registers of threads: what the shared code asks for (core/arch.hpp), and the change of the running thread.
#include "arm/cpu.hpp"
#include "arm/host.hpp"
#include "arm/trap.hpp"
#include "core/arch.hpp"
#include "core/check.hpp"
#include "core/checks.hpp"
#include "core/ipc.hpp"
#include "core/leave.hpp"

namespace arch {
namespace {

// Users may change the condition flags and the saturation flag.
constexpr Word user_flags_mask = 0xf8000000;

// MR0 to MR4 are in R3 to R7.
void show_message(Thread& t) {
    for (Word i = 0; i < 5; ++i) t.registers.r[3 + i] = t.utcb->mr[i];
}

}  // namespace

extern "C" Thread* current_thread() { return processor.current; }

void prepare_user(Thread& t) {
    t.registers = {};
    t.frame = {0, MODE_USER | MASK_FIQ};
}

void destroy_thread(Thread&) {}
Word bytes_beside(const Thread&) { return 0; }

// LR is no longer where the thread continues: the fast path may not return there.
void set_user_ip(Thread& t, Word ip) {
    go_on_at(t, ip);
    t.fast_entry = false;
}
void set_user_sp(Thread& t, Word sp) { t.registers.sp = sp; }
void set_user_flags(Thread& t, Word flags) {
    t.fast_entry = false;
    t.frame.cpsr = (t.frame.cpsr & ~user_flags_mask) | (flags & user_flags_mask);
}
Word user_ip(const Thread& t) { return t.frame.pc; }
Word user_sp(const Thread& t) { return t.registers.sp; }
Word user_flags(const Thread& t) { return t.frame.cpsr; }

void set_ipc_result(Thread& t, ThreadId from, Word tag) {
    t.utcb->mr[0] = tag;
    t.registers.r[0] = from.raw;
    show_message(t);
}

void set_unmap_result(Thread& t) { show_message(t); }

// R0 to R12, SP, LR, PC as go_on_at() takes it, CPSR.
void read_registers(const Thread& t, Word* words) {
    const Registers& r = t.registers;
    for (Word i = 0; i < 13; ++i) words[i] = r.r[i];
    words[13] = r.sp, words[14] = r.lr, words[16] = t.frame.cpsr;
    words[15] = t.frame.pc | (t.frame.cpsr & STATE_THUMB ? 1 : 0);
}

void write_registers(Thread& t, const Word* words) {
    Registers& r = t.registers;
    for (Word i = 0; i < 13; ++i) r.r[i] = words[i];
    r.sp = words[13], r.lr = words[14];
    set_user_ip(t, words[15]);
    set_user_flags(t, words[16]);
}

// docs/x2-arm.md: a system call of a foreign system shows all of its registers, anything else what it was.
void exception_message(const Thread& t, Word number, Word error, KernelMessage& m) {
    const Registers& r = t.registers;
    if (number == exception_system_call) {
        m.tag = MsgTag::make(label_exception, 13);
        m.words[0] = t.frame.pc;
        for (Word i = 0; i < 8; ++i) m.words[1 + i] = r.r[i];
        m.words[9] = r.sp, m.words[10] = r.lr, m.words[11] = error, m.words[12] = t.frame.cpsr;
        return;
    }
    m.tag = MsgTag::make(label_exception, 6);
    Word words[6] = {t.frame.pc, r.sp, t.frame.cpsr, number, error, t.utcb_address};
    for (Word i = 0; i < 6; ++i) m.words[i] = words[i];
}

// The answer has the form of the message; by its length one can tell which.
void exception_reply(Thread& t, const Word* w, Word count) {
    Registers& r = t.registers;
    if (count >= 1) set_user_ip(t, w[0]);
    if (count == 13) {
        for (Word i = 0; i < 8; ++i) r.r[i] = w[1 + i];
        r.sp = w[9], r.lr = w[10];
        set_user_flags(t, w[12]);
    } else {
        if (count >= 2) r.sp = w[1];
        if (count >= 3) set_user_flags(t, w[2]);
    }
}

// The fast path leaves R11, SP and LR in the frame, which is where a thread goes on after an IPC.
void leave_fast_frame(Thread& t) { go_on_at(t, t.registers.lr); }
bool offer_fast_frame(Thread& t) {
    if (t.receive_role != Role::user) return false;    // that way the fast path carries no answers
    check(t.is(State::receiving) && t.receive_role == Role::user && t.fast_entry && !t.halted);
    check(!t.timeout.queued() && !t.ready_link.queued() && t.senders.empty() == !(t.fast_veto & veto_senders));
    return true;
}

void change_thread(Thread*, Thread* next) { processor.current = next; }

bool enter(Thread& next, const Thread*) {
    // The cost of making room for a domain must not add to what the kernel has done so far.
    if (!next.space->arch.domain) preemption_point();
    *reinterpret_cast<volatile Word*>(UTCB_WORD_PAGE) = next.utcb_address;
    enter_host(*next.space, processor.left);
    check(checks::leaves(next));
    return true;
}

// This processor has no ports.
mappings::Mapped transfer_ports(Space&, Fpage, Space&, Fpage, bool, mappings::Progress&, Word&) {
    return mappings::Mapped::all;
}
bool unmap_ports(Space&, Fpage, bool, Word&) { return true; }

}  // namespace arch

extern "C" Thread* leave_kernel() { return leave(); }
