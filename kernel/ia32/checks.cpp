// SPDX-License-Identifier: BSD-2-Clause
#include "core/checks.hpp"

#include "core/arch.hpp"
#include "ia32/cpu.hpp"
#include "ia32/descriptors.hpp"
#include "ia32/hosts.hpp"
#include "ia32/segments.hpp"

extern "C" Word utcb_word[];

namespace checks {
namespace {

// The page directory that a space has to run on; nullptr: any.
const Host* host_of(const Space& space) {
    if (!space.arch.slot.small()) return &space.arch.own;
    return space.arch.slots.leader ? &space.arch.slots.leader->arch.own : nullptr;
}

}  // namespace

Word stack_top() { return reinterpret_cast<Word>(&processor); }

bool in_user_mode(const Thread& t) { return (t.frame.eflags & (EFLAGS_IF | EFLAGS_IOPL | EFLAGS_VM)) == EFLAGS_IF; }

bool confined(const Thread& t) {
    segments::Extent reach = segments::reach(*t.space);
    check(t.frame.cs == USER_CODE && t.frame.ss == USER_DATA && t.frame.eip < reach.bytes);
    check(utcb_word[0] == t.utcb_address);
    check(segments::within(gdt.entry[USER_CODE >> 3], reach) && segments::within(gdt.entry[USER_DATA >> 3], reach));
    check(segments::within(gdt.entry[USER_TLS >> 3], reach));
    check(t.space->arch.host == host_of(*t.space));
    check(!t.space->arch.host || processor.host == t.space->arch.host);
    check(cpu::read_cr3() == processor.host->directory && processor.host->clean == hosts::revocations);
    check(cpu::read_cr0() & cpu::cr0_task_switched || t.fast_veto & held_coprocessor);
    check(processor.io_map == io_map_none || t.fast_veto & held_ports);
    check(t.arch.tls.set || (processor.fs == USER_DATA && processor.gs == USER_UTCB));
    return true;
}

}  // namespace checks
