// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/tls.hpp"

#include "core/space.hpp"
#include "core/system_calls.hpp"
#include "ia32/cpu.hpp"
#include "ia32/segments.hpp"

namespace tls {
namespace {

// The thread's pager may set it, too: it controls the thread's memory anyway.
bool permitted(const Thread& caller, Thread& t) {
    if (caller.space == t.space || caller.space->privileged) return true;
    Thread* pager = threads::find({t.utcb->pager()}, t);
    return pager && pager->space == caller.space;
}

}  // namespace

[[gnu::cold]] Word control(Thread& caller, ThreadId dest, VAddr base) {
    Thread* t = threads::find(dest, caller);
    if (!t || !t->active() || t->is_interrupt()) return system_calls::fail(caller, Error::invalid_thread);
    if (!permitted(caller, *t)) return system_calls::fail(caller, Error::no_privilege);
    bool set = base != system_calls::unchanged;
    if (set && base >= paging::user_limit()) return system_calls::fail(caller, Error::invalid_parameter);
    t->close();  // the fast path does not load it
    TlsSegment& s = t->arch.tls;
    s = {.base = base, .turned = 0, .set = set, .in_fs = s.set && s.in_fs, .in_gs = s.set && s.in_gs, .down = false};
    t->arch.tls_within[1] = 0;
    return 1;
}

Word gs_without(const Thread& t) { return t.arch.tls.in_fs && t.space->controlled ? 0 : USER_UTCB; }

void enter(Thread& t) {
    const TlsSegment& s = t.arch.tls;
    Descriptor d = s.set ? segments::data(segments::reach(*t.space), s.base, s.down) : segments::empty;
    gdt.entry[USER_TLS >> 3] = d;
    // The way out cannot load a segment that is not present.
    processor.fs = d.high && s.in_fs ? USER_TLS : USER_DATA;
    processor.gs = d.high && s.in_gs ? USER_TLS : gs_without(t);
    if (!s.set) return;
    t.fast_veto |= held_tls;
    const ArchSpace& space = t.space->arch;
    t.arch.tls_made[0] = d.low, t.arch.tls_made[1] = d.high;
    // Nor does the fast path load one that is not present.
    t.arch.tls_within[0] = space.segment_low, t.arch.tls_within[1] = d.high ? space.segment_high : 0;
}

void keep_selectors(Thread& t) {
    if (!(t.fast_veto & held_tls) || !t.arch.tls.set) return;
    t.arch.tls.in_fs = cpu::fs_selector() == USER_TLS;
    t.arch.tls.in_gs = cpu::gs_selector() == USER_TLS;
}

[[gnu::cold]] bool turn(Thread& t) {
    const Registers& r = t.registers;
    const Word words[] = {t.frame.eip, t.frame.esp, r.eax, r.ecx, r.edx, r.ebx, r.esi, r.edi, r.ebp};
    Word now = 0;
    for (Word word : words) now = now * 5 + word;
    if (t.arch.tls.turned == now) return false;
    t.arch.tls.turned = now;
    t.arch.tls.down = !t.arch.tls.down;
    t.arch.tls_within[1] = 0;
    return true;
}

}  // namespace tls
