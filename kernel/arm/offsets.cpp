// SPDX-License-Identifier: BSD-2-Clause
// Structure offsets for the assembler: compiled to assembly, from which the build takes the lines between the marks
// (kernel/CMakeLists.txt), so that no offset is written by hand.
#include "arm/cpu.hpp"
#include "core/space.hpp"
#include "core/thread.hpp"
#include "core/utcb.hpp"

#define OFFSET(name, value) asm volatile("\n@@ " #name " %c0 @@" : : "i"(value))

static_assert(offsetof(Thread, frame) == offsetof(Thread, registers) + sizeof(Registers), "one base register for both");
static_assert(offsetof(Processor, ready_top) == 4, "arm/boot.S");
static_assert(offsetof(Space, arch) == 0 && offsetof(ArchSpace, dacr) == 0 && offsetof(ArchSpace, pid) == 4,
    "arm/fastpath.S");
static_assert(UTCB_NUMBER == page_mask - (Utcb::size - 1), "arm/fastpath.S");

void offsets() {
    OFFSET(THREAD_REGISTERS, offsetof(Thread, registers));
    OFFSET(THREAD_R11, offsetof(Thread, registers) + offsetof(Registers, r) + 11 * sizeof(Word));
    OFFSET(THREAD_R12, offsetof(Thread, registers) + offsetof(Registers, r) + 12 * sizeof(Word));
    OFFSET(THREAD_LR, offsetof(Thread, registers) + offsetof(Registers, lr));
    OFFSET(THREAD_ID, offsetof(Thread, id));
    OFFSET(THREAD_STATE, offsetof(Thread, state_word));
    OFFSET(STATE_READY, static_cast<Word>(State::ready));
    OFFSET(THREAD_SPACE, offsetof(Thread, space));
    OFFSET(THREAD_UTCB_ADDRESS, offsetof(Thread, utcb_address));
    OFFSET(THREAD_PRIORITY, offsetof(Thread, priority));
    OFFSET(THREAD_FAST_VETO, offsetof(Thread, fast_veto));
    OFFSET(PROCESSOR_READY_TOP, offsetof(Processor, ready_top));
    OFFSET(PROCESSOR_RAN, offsetof(Processor, ran));
    OFFSET(SPACE_DOMAIN, offsetof(Space, arch) + offsetof(ArchSpace, domain));
    OFFSET(REGISTERS_PC, sizeof(Registers) + offsetof(Frame, pc));
    OFFSET(REGISTERS_CPSR, sizeof(Registers) + offsetof(Frame, cpsr));
    OFFSET(PROCESSOR_CURRENT, offsetof(Processor, current));
    OFFSET(PROCESSOR_SAVED_PC, offsetof(Processor, saved_pc));
    OFFSET(PROCESSOR_SAVED_PSR, offsetof(Processor, saved_psr));
    OFFSET(PROCESSOR_COPYING, offsetof(Processor, copying));
}
