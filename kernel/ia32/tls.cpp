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
    s.in_fs = s.set && s.in_fs;
    s.in_gs = s.set && s.in_gs;
    s.base = base, s.set = set;
    s.turned = s.made[1] = s.within[1] = 0;
    return 1;
}

Word gs_without(const Thread& t) { return t.arch.tls.in_fs && t.space->controlled ? 0 : USER_UTCB; }

void enter(Thread& t) {
    TlsSegment& s = t.arch.tls;
    Descriptor d = segments::empty;
    if (s.set) {
        t.fast_veto |= held_tls;
        segments::Extent e = segments::reach(*t.space);
        Descriptor sides[] = {segments::data(e, s.base, false), segments::data(e, s.base, true)};
        d = sides[(s.made[1] & desc_expands_down) != 0];
        const ArchSpace& space = t.space->arch;
        s.made[0] = d.low, s.made[1] = d.high;
        s.toggle[0] = sides[0].low ^ sides[1].low, s.toggle[1] = sides[0].high ^ sides[1].high;
        // The fast path does not load one that is not present.
        s.within[0] = space.segment_low, s.within[1] = d.high ? space.segment_high : 0;
    }
    gdt.entry[USER_TLS >> 3] = d;
    // Nor can the way out.
    processor.fs = d.high && s.in_fs ? USER_TLS : USER_DATA;
    processor.gs = d.high && s.in_gs ? USER_TLS : gs_without(t);
}

void keep_selectors(Thread& t) {
    if (!(t.fast_veto & held_tls) || !t.arch.tls.set) return;
    t.arch.tls.in_fs = cpu::fs_selector() == USER_TLS;
    t.arch.tls.in_gs = cpu::gs_selector() == USER_TLS;
}

[[gnu::cold]] bool turn(Thread& t) {
    const Word* saved = reinterpret_cast<const Word*>(&t.registers);    // with the frame behind them (offsets.cpp)
    Word now = 0;
    for (Word i = 0; i < (sizeof t.registers + sizeof t.frame) / sizeof(Word); ++i) now = now * 5 + saved[i];
    if (t.arch.tls.turned == now) return false;
    t.arch.tls.turned = now;
    t.arch.tls.made[1] ^= desc_expands_down;
    t.arch.tls.within[1] = 0;
    return true;
}

}  // namespace tls
