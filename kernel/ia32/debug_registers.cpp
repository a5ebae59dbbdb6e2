// SPDX-License-Identifier: BSD-2-Clause
#include "ia32/debug_registers.hpp"

#include "core/check.hpp"
#include "core/memory.hpp"
#include "core/space.hpp"
#include "ia32/cpu.hpp"
#include "ia32/segments.hpp"

struct DebugRegisters {
    Word number[8];
};

namespace debug_registers {
namespace {

constexpr Word breakpoints = 4, status = 6, control = 7;
// Volume 3, 17.2. The bits that are not there read as these.
constexpr Word status_ones = DEBUG_STATUS_ONES, status_bits = 0xe00f;     // BT, BS, BD, B3..0
constexpr Word control_ones = 0x400, control_bits = 0xffff0355;     // LEN, RW, GE, LE, L3..0: neither GD nor G3..0
constexpr Word local(Word i) { return 1u << 2 * i; }
constexpr Word locals = local(0) | local(1) | local(2) | local(3);
// RW: on ports, which takes a bit of CR4 that is off.
constexpr Word kind(Word control, Word i) { return control >> (16 + 4 * i) & 3; }
constexpr Word on_ports = 2;
constexpr Word longest = 8;

memory::Pool pool{sizeof(DebugRegisters)};

void load(Word i, VAddr linear) {
    switch (i) {
    case 0: asm volatile("mov %0, %%dr0" : : "r"(linear)); return;
    case 1: asm volatile("mov %0, %%dr1" : : "r"(linear)); return;
    case 2: asm volatile("mov %0, %%dr2" : : "r"(linear)); return;
    default: asm volatile("mov %0, %%dr3" : : "r"(linear)); return;
    }
}

void load_control(Word value) { asm volatile("mov %0, %%dr7" : : "r"(value | control_ones)); }

}  // namespace

Word* find(Thread& t, Word number) {
    if (number >= breakpoints && number < status) return nullptr;
    if (!t.arch.debug) {
        t.arch.debug = static_cast<DebugRegisters*>(pool.allocate(t.space->account));
        if (!t.arch.debug) return nullptr;
        t.arch.debug->number[status] = status_ones;
        t.arch.debug->number[control] = control_ones;
    }
    return &t.arch.debug->number[number];
}

Word permitted(Word number, Word value) {
    if (number == status) return (value & status_bits) | status_ones;
    if (number == control) return (value & control_bits) | control_ones;
    return value;
}

bool enabled(const Thread& t) { return t.arch.debug && t.arch.debug->number[control] & locals; }

void enter(Thread& t) {
    if (!enabled(t)) return;
    const DebugRegisters& d = *t.arch.debug;
    segments::Extent reach = segments::reach(*t.space);
    Word wanted = d.number[control];
    for (Word i = 0; i < breakpoints; ++i) {
        VAddr address = d.number[i];
        if (address > reach.bytes - longest || kind(wanted, i) == on_ports) wanted &= ~local(i);
        load(i, reach.base + address);
    }
    check(!(wanted & ~(control_bits | control_ones)));
    load_control(wanted);
    t.fast_veto |= held_debug;
}

void release() { load_control(0); }

void keep_status(Thread& t) {
    Word found;
    asm volatile("mov %%dr6, %0" : "=r"(found));
    asm volatile("mov %0, %%dr6" : : "r"(status_ones));
    if (Word* kept = find(t, status)) *kept |= found & status_bits;
}

void forget(Thread& t) {
    if (t.arch.debug) pool.free(t.arch.debug, t.space->account);
}

Word bytes(const Thread& t) { return t.arch.debug ? sizeof(DebugRegisters) : 0; }

}  // namespace debug_registers
